#include "library/baton.h"

#include <utility>

#include "adapters/sqlite/data_directory.h"
#include "adapters/sqlite/sqlite.h"
#include "adapters/system/system_clock.h"
#include "base/overload.h"
#include "base/text.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"
#include "sql/parser.h"
#include "worker/node/embedded_worker.h"

namespace baton::embedded {

namespace {

std::optional<std::string> text_of(const SqlValue& value) {
    return std::visit(
        Overload{
            [](std::monostate) -> std::optional<std::string> { return std::nullopt; },
            [](const std::string& text) -> std::optional<std::string> { return text; },
            [](const auto& number) -> std::optional<std::string> { return std::to_string(number); },
        },
        value);
}

Row row_of(const SqlRow& values) {
    Row row;
    row.reserve(values.size());
    for (const SqlValue& value : values) row.push_back(text_of(value));
    return row;
}

// Of streams: truth values are true and false, numbers as short as they can be.
Row row_of(const SqlRow& values, const std::vector<views::TableColumn>& columns) {
    Row row;
    row.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool null = std::holds_alternative<std::monostate>(values[i]);
        row.push_back(null ? std::nullopt : std::optional(shown(values[i], columns[i].type)));
    }
    return row;
}

std::vector<std::string> names_of(const std::vector<views::TableColumn>& columns) {
    std::vector<std::string> names;
    for (const views::TableColumn& column : columns) names.push_back(column.name);
    return names;
}

Answer answer_of(const coordinator::StatementResult& result) {
    Answer answer;
    answer.statement = result.tag;
    if (const auto* change = std::get_if<catalog::Answer>(&result.value)) {
        answer.name = change->name;
        answer.id = change->id;
        answer.changed =
            change->did == catalog::Did::created || change->did == catalog::Did::dropped ||
            change->did == catalog::Did::accepted || change->did == catalog::Did::changed;
    }
    if (const auto* table = std::get_if<views::Table>(&result.value)) {
        answer.columns = names_of(table->columns);
        for (const SqlRow& row : table->rows) answer.rows.push_back(row_of(row));
    }
    return answer;
}

Event event_of(const coordinator::WatchEvent& event) {
    if (const auto* snapshot = std::get_if<coordinator::WatchSnapshot>(&event)) {
        Event told{
            .kind = Event::Kind::snapshot, .revision = snapshot->revision.value(), .rows = {}};
        for (const SqlRow& row : snapshot->table.rows) told.rows.push_back(row_of(row));
        return told;
    }
    const auto& change = std::get<coordinator::WatchChange>(event);
    const auto kind = change.op == ChangeOp::create   ? Event::Kind::created
                      : change.op == ChangeOp::update ? Event::Kind::updated
                                                      : Event::Kind::dropped;
    return {.kind = kind, .revision = change.revision.value(), .rows = {row_of(change.row)}};
}

}  // namespace

// ---- subscription -------------------------------------------------------------------------------

struct Subscription::Inside {
    std::unique_ptr<coordinator::Watch> watch;
};

Subscription::Subscription(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Subscription::Subscription(Subscription&&) noexcept = default;
Subscription::~Subscription() = default;

std::vector<std::string> Subscription::columns() const {
    return names_of(inside_->watch->columns());
}

Result<std::vector<Event>> Subscription::next(std::chrono::milliseconds patience) {
    TRY_ASSIGN(news, inside_->watch->next(patience));
    std::vector<Event> events;
    for (const coordinator::WatchEvent& event : news) events.push_back(event_of(event));
    return events;
}

void Subscription::interrupt() {
    inside_->watch->interrupt();
}

// ---- rows of streams ----------------------------------------------------------------------------

struct RowStream::Inside {
    std::unique_ptr<coordinator::RowStream> feed;
    std::vector<std::string> columns;
};

RowStream::RowStream(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
RowStream::RowStream(RowStream&&) noexcept = default;
RowStream::~RowStream() = default;

const std::vector<std::string>& RowStream::columns() const {
    return inside_->columns;
}

Result<RowStream::Rows> RowStream::next(std::chrono::milliseconds patience) {
    TRY_ASSIGN(fed, inside_->feed->next(patience));
    Rows rows{.rows = {}, .ended = fed.ended};
    rows.rows.reserve(fed.rows.size());
    for (const SqlRow& row : fed.rows) rows.rows.push_back(row_of(row, inside_->feed->columns()));
    return rows;
}

void RowStream::interrupt() {
    inside_->feed->interrupt();
}

// ---- conversation -------------------------------------------------------------------------------

struct Conversation::Inside {
    coordinator::Session session;
};

Conversation::Conversation(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

Answers Conversation::execute(std::string_view sql, const Wait& wait) {
    coordinator::Execution execution = inside_->session.execute(sql, wait);
    Answers answers;
    for (const coordinator::StatementResult& result : execution.results) {
        if (std::holds_alternative<std::unique_ptr<coordinator::Watch>>(result.value)) {
            answers.error = Error{.code = ErrorCode::not_supported,
                                  .message = "a WATCH has no end, so it cannot be executed",
                                  .hint = "use Coordinator::watch"};
            return answers;
        }
        if (std::holds_alternative<std::unique_ptr<coordinator::RowStream>>(result.value)) {
            answers.error = Error{.code = ErrorCode::not_supported,
                                  .message =
                                      "the rows of streams need not end, so they cannot be "
                                      "executed",
                                  .hint = "use Coordinator::stream, or add INTO sink"};
            return answers;
        }
        answers.done.push_back(answer_of(result));
    }
    answers.error = std::move(execution.error);
    return answers;
}

// ---- coordinator --------------------------------------------------------------------------------

struct Coordinator::Inside {
    std::string principal;
    system::SystemClock clock;
    std::unique_ptr<worker::EmbeddedWorker> worker;  // ends after the coordinator
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator;
};

Coordinator::Coordinator(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Coordinator::~Coordinator() = default;

Result<std::unique_ptr<Coordinator>> Coordinator::open(const Options& options) {
    auto inside = std::make_unique<Inside>();
    inside->principal = options.principal;
    TRY_ASSIGN(opened_file,
               sqlite::open_catalog_in(options.data, options.create, catalog::migrate));
    coordinator::CoordinatorOptions how;
    how.scratch = sqlite::temporary_sqlites(catalog::migrate);
    how.transport = options.transport;
    how.results = options.results;
    if (options.transport == nullptr && options.worker) {
        worker::EmbeddedWorkerOptions with;
        with.permits.files = {.directories = options.files, .never = {options.data}};
        with.permits.targets.connect_to = options.connect_to;
        TRY_ASSIGN(worker, worker::EmbeddedWorker::start(inside->clock, with));
        inside->worker = std::move(worker);
        how.transport = &inside->worker->transport();
        how.results = &inside->worker->results();
    }
    TRY_ASSIGN(opened, coordinator::CoordinatorRuntime::open(std::move(opened_file.database),
                                                             inside->clock, how));
    inside->coordinator = std::move(opened);
    return std::unique_ptr<Coordinator>(new Coordinator(std::move(inside)));
}

Answers Coordinator::execute(std::string_view sql, const Wait& wait) {
    return converse().execute(sql, wait);
}

Conversation Coordinator::converse() {
    return Conversation(std::unique_ptr<Conversation::Inside>(
        new Conversation::Inside{.session = {*inside_->coordinator, inside_->principal}}));
}

Result<Subscription> Coordinator::watch(std::string_view sql) {
    coordinator::Session session(*inside_->coordinator, inside_->principal);
    TRY_ASSIGN(statement, sql::parse_one(sql));
    if (!std::holds_alternative<sql::Watch>(statement.node)) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "only WATCH can be watched",
                     .hint = "put WATCH before the SHOW or SELECT"};
    }
    coordinator::Execution execution = session.execute(sql);
    if (execution.error) return *std::move(execution.error);
    auto inside = std::make_unique<Subscription::Inside>();
    inside->watch =
        std::move(std::get<std::unique_ptr<coordinator::Watch>>(execution.results.front().value));
    return Subscription(std::move(inside));
}

Result<RowStream> Coordinator::stream(std::string_view sql) {
    coordinator::Session session(*inside_->coordinator, inside_->principal);
    TRY_ASSIGN(statement, sql::parse_one(sql));
    const auto* select = std::get_if<sql::SelectOnce>(&statement.node);
    if (select == nullptr || views::asks_views(select->query)) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "only a SELECT over streams, without INTO, can be streamed",
                     .hint = "use Coordinator::execute for everything else"};
    }
    coordinator::Execution execution = session.execute(sql);
    if (execution.error) return *std::move(execution.error);
    auto inside = std::make_unique<RowStream::Inside>();
    inside->feed = std::move(
        std::get<std::unique_ptr<coordinator::RowStream>>(execution.results.front().value));
    inside->columns = names_of(inside->feed->columns());
    return RowStream(std::move(inside));
}

void Coordinator::close() {
    inside_->coordinator.reset();
    inside_->worker.reset();
}

}  // namespace baton::embedded
