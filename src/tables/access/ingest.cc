#include "tables/access/ingest.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "core/tables/commit_plan.h"

namespace baton::tables {

namespace {

constexpr std::string_view kConstants = "baton_rows";

std::size_t bytes_of(const Addition& addition) {
    constexpr std::size_t kOfValue = 40;
    std::size_t bytes = 0;
    const auto* rows = std::get_if<std::vector<ConstantRow>>(&addition.rows);
    for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
        for (const Constant& constant : (*rows)[i]) {
            const auto* text = std::get_if<std::string>(&constant);
            bytes += kOfValue + (text == nullptr ? 0 : text->size());
        }
    }
    return bytes;
}

Error closes() {
    return Error{.code = ErrorCode::cancelled,
                 .message = "the coordinator shuts down: no row was added",
                 .hint = "try again in a moment"};
}

Error is_cancelled() {
    return Error{.code = ErrorCode::cancelled,
                 .message = "the INSERT was cancelled: no row was added"};
}

// The constants of an addition as rows of the table.
Result<std::vector<SqlRow>> rows_of(const Addition& addition, const SqlColumns& columns) {
    TRY_ASSIGN(places, places_of(addition.columns, columns));
    std::vector<SqlRow> rows;
    for (const ConstantRow& constants : std::get<std::vector<ConstantRow>>(addition.rows)) {
        if (constants.size() != places.size()) {
            return Error{.code = ErrorCode::arity,
                         .message = "a row has " + std::to_string(constants.size()) +
                                    " values for " + std::to_string(places.size()) +
                                    " columns of table " + in_quotes(addition.table.name)};
        }
        SqlRow row(columns.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            TRY_ASSIGN(value, fit(columns[places[i]], constants[i]));
            row[places[i]] = std::move(value);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

Ingest::Ingest(TableAccess& access, const IngestOptions& options)
    : access_(access), options_(options), lane_(options.threads, options.waiting_max) {}

Ingest::~Ingest() {
    closing_ = true;
    lane_.close();
}

std::shared_ptr<AddedLater> Ingest::add(Addition addition) {
    auto answer = std::make_shared<AddedLater>();
    const std::string place = place_of(addition.table);
    const std::size_t bytes = bytes_of(addition);
    {
        const std::lock_guard lock(mutex_);
        if (waiting_ >= options_.waiting_max || bytes_ + bytes > options_.bytes_waiting_max) {
            answer->give(Error{.code = ErrorCode::slow_down,
                               .message = "too many rows wait to be added: no row was added",
                               .hint = "try again in a moment"});
            return answer;
        }
        waiting_ += 1;
        bytes_ += bytes;
        Queue& queue = queues_[place];
        queue.waiting.push_back(
            {.addition = std::move(addition), .bytes = bytes, .answer = answer});
        if (std::exchange(queue.busy, true)) return answer;
    }
    if (!lane_.post({}, [this, place](bool may) { serve(place, may); })) serve(place, false);
    return answer;
}

void Ingest::serve(const std::string& place, bool may) {
    for (;;) {
        Together together;
        {
            const std::lock_guard lock(mutex_);
            Queue& queue = queues_[place];
            together = take_together(queue);
            if (together.empty()) {
                queues_.erase(place);
                return;
            }
        }
        if (may && !closing_) {
            carry_out(std::move(together));
        } else {
            for (const Waiting& one : together) one.answer->give(closes());
        }
    }
}

// Constants go together; a key or a question has an object of its own.
Ingest::Together Ingest::take_together(Queue& queue) {
    Together together;
    std::size_t bytes = 0;
    const auto alone = [](const Waiting& one) {
        return one.addition.key || std::holds_alternative<QuestionTask>(one.addition.rows);
    };
    while (!queue.waiting.empty() && bytes < options_.bytes_together) {
        if (!together.empty() && alone(queue.waiting.front())) break;
        together.push_back(std::move(queue.waiting.front()));
        queue.waiting.pop_front();
        bytes += together.back().bytes;
        waiting_ -= 1;
        bytes_ -= together.back().bytes;
        if (alone(together.back())) break;
    }
    return together;
}

void Ingest::carry_out(Together together) {
    const auto refuse_all = [&](const Error& error) {
        for (const Waiting& one : together) one.answer->give(error);
    };
    const auto table = access_.open(together.front().addition.table);
    if (!table) return refuse_all(table.error());
    SharedSnapshot snapshot = (*table)->log->known();
    if (snapshot == nullptr) {
        auto newest = (*table)->log->newest({});
        if (!newest) return refuse_all(newest.error());
        snapshot = *std::move(newest);
    }
    const Layout& layout = snapshot->layout();
    auto* task = std::get_if<QuestionTask>(&together.front().addition.rows);
    if (task == nullptr) return add_constants(**table, layout, std::move(together));
    const Waiting& one = together.front();
    const auto places = places_of(one.addition.columns, layout.columns);
    if (!places) return refuse_all(places.error());
    SqlColumns columns;
    for (const std::size_t place : *places) columns.push_back(layout.columns[place]);
    one.answer->give(add_rows(**table, layout,
                              {.task = std::move(*task),
                               .columns = std::move(columns),
                               .given_up = one.addition.given_up},
                              one.addition.table, one.addition.key));
}

// Those that were gathered end together when none of them is wanted.
std::function<bool()> Ingest::all_given_up(const Together& together) {
    std::vector<std::function<bool()>> each;
    for (const Waiting& one : together) {
        if (!one.addition.given_up) return {};
        each.push_back(one.addition.given_up);
    }
    return [each = std::move(each)] {
        return std::all_of(each.begin(), each.end(),
                           [](const auto& given_up) { return given_up(); });
    };
}

void Ingest::add_constants(const OpenTable& table, const Layout& layout, Together together) {
    const auto rows = std::make_shared<std::vector<SqlRow>>();
    std::vector<std::size_t> counts;
    Together fitting;
    for (Waiting& one : together) {
        if (one.addition.given_up && one.addition.given_up()) {
            one.answer->give(is_cancelled());
            continue;
        }
        auto more = rows_of(one.addition, layout.columns);
        if (!more) {
            one.answer->give(more.error());
            continue;
        }
        counts.push_back(more->size());
        std::move(more->begin(), more->end(), std::back_inserter(*rows));
        fitting.push_back(std::move(one));
    }
    if (fitting.empty()) return;
    const auto tree = access_.parts().engine->parse("SELECT * FROM " + std::string(kConstants));
    CHECK(tree.has_value());
    QuestionTask task{.tree = *tree,
                      .relations = {{.name = std::string(kConstants),
                                     .columns = handed_over(layout.columns),
                                     .content = RelationRows{.rows = rows}}}};
    auto added = add_rows(
        table, layout,
        {.task = std::move(task), .columns = layout.columns, .given_up = all_given_up(fitting)},
        fitting.front().addition.table, fitting.front().addition.key);
    const bool misfit = !added && added.error().reaction() == Reaction::invalid;
    if (misfit && fitting.size() > 1) {
        // One of them does not fit: each finds out by itself.
        for (Waiting& one : fitting) {
            Together alone;
            alone.push_back(std::move(one));
            add_constants(table, layout, std::move(alone));
        }
        return;
    }
    for (std::size_t i = 0; i < fitting.size(); ++i) {
        if (added && !added->before) added->rows = counts[i];
        fitting[i].answer->give(added);
    }
}

Result<Added> Ingest::add_rows(const OpenTable& table, const Layout& layout, RowsToWrite rows,
                               const Table& of, const std::optional<std::string>& key) {
    const std::function<bool()> given_up = rows.given_up;
    TRY_ASSIGN(objects, write_objects(access_, table, layout, std::move(rows)));
    if (given_up && given_up()) {
        remove_objects(table, objects);
        return is_cancelled();
    }
    Added added;
    for (const TableObject& object : objects) added.rows += object.rows.value_or(0);
    CommitRequest request{.add = objects, .layout = layout};
    if (!objects.empty()) request.written_since = objects.front().modified;
    if (key) {
        request.transaction = Transaction{.application = once(*key), .version = 1};
    }
    if (objects.empty() && !request.transaction) return added;
    auto committed = table.log->commit(request, {});
    const bool unused =
        !committed ? committed.error().code != ErrorCode::unknown_outcome : committed->before;
    if (unused) remove_objects(table, objects);
    if (!committed) return committed.error();
    if (options_.on_commit) options_.on_commit(of);
    added.version = committed->version;
    added.before = committed->before;
    if (added.before) added.rows = 0;
    return added;
}

}  // namespace baton::tables
