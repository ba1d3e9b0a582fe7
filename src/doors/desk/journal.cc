#include "doors/desk/journal.h"

#include "base/check.h"
#include "sql/parser.h"

namespace baton::desk {

namespace {

std::string text_of(const SqlRow& row, std::size_t column) {
    return shown(row.at(column), kinds::ViewType::text);
}

LogLevel level_of(kinds::Entity entity, const std::string& state) {
    const bool failed = state == "FAILED";
    if (entity == kinds::Entity::fragment) return failed ? LogLevel::warn : LogLevel::debug;
    if (entity == kinds::Entity::partition) return LogLevel::debug;
    if (failed) return LogLevel::error;
    return state == "UNREACHABLE" ? LogLevel::warn : LogLevel::info;
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(coordinator::CoordinatorRuntime& coordinator,
                                               Log& log) {
    std::unique_ptr<Journal> journal(new Journal(coordinator, log));
    TRY(
        journal->watch("SELECT name, state, reason, incarnation, draining, leaving FROM "
                       "baton.workers",
                       kinds::Entity::worker));
    TRY(journal->watch("SELECT id, name, state, reason, run, desired FROM baton.queries",
                       kinds::Entity::query));
    TRY(journal->watch("SELECT id, query, worker, state, reason, run FROM baton.fragments",
                       kinds::Entity::fragment));
    TRY(journal->watch("SELECT list, number, state, owner, epoch, next FROM baton.partitions",
                       kinds::Entity::partition));
    journal->thread_ = std::thread([raw = journal.get()] { raw->run(); });
    return journal;
}

Result<Done> Journal::watch(const std::string& statement, kinds::Entity entity) {
    TRY_ASSIGN(parsed, sql::parse_one(statement));
    TRY_ASSIGN(query, views::ViewQuery::from(std::get<sql::SelectOnce>(parsed.node).query));
    TRY_ASSIGN(watch,
               coordinator_.watch(query, coordinator_.feed().last(), [this] { news_.ring(); }));
    watched_.push_back({.entity = entity, .watch = std::move(watch)});
    return Done{};
}

Journal::~Journal() {
    closing_ = true;
    news_.ring();
    if (thread_.joinable()) thread_.join();
}

void Journal::run() {
    while (true) {
        news_.wait();
        const bool last = closing_;
        write_news();
        if (last) return;
    }
}

void Journal::write_news() {
    for (const Watched& watched : watched_) {
        while (write_some(watched)) continue;
    }
}

bool Journal::write_some(const Watched& watched) {
    const auto events = watched.watch->poll();
    if (!events) {
        log_.error("the changes of the catalog cannot be read",
                   {{"reason", to_string(events.error())}});
        return false;
    }
    for (const coordinator::WatchEvent& event : *events) {
        if (const auto* change = std::get_if<coordinator::WatchChange>(&event)) {
            write(watched.entity, *change);
        } else {
            log_.warn("too much happened at once: some changes are not in this log");
        }
    }
    return !events->empty();
}

// What the columns of a statement of open() are called in the log.
struct Journal::Words {
    std::string_view what;
    std::size_t state = 0;  // its column
    std::vector<std::pair<std::string_view, std::size_t>> fields;
};

const Journal::Words& Journal::words_of(kinds::Entity entity) {
    static const Words kWorker{
        "worker",
        1,
        {{"worker", 0}, {"incarnation", 3}, {"reason", 2}, {"draining", 4}, {"leaving", 5}}};
    static const Words kQuery{
        "query", 2, {{"query", 0}, {"name", 1}, {"run", 4}, {"desired", 5}, {"reason", 3}}};
    static const Words kFragment{
        "fragment", 3, {{"fragment", 0}, {"query", 1}, {"worker", 2}, {"run", 5}, {"reason", 4}}};
    static const Words kPartition{
        "partition", 2, {{"list", 0}, {"partition", 1}, {"owner", 3}, {"epoch", 4}, {"next", 5}}};
    if (entity == kinds::Entity::partition) return kPartition;
    if (entity == kinds::Entity::worker) return kWorker;
    return entity == kinds::Entity::query ? kQuery : kFragment;
}

void Journal::write(kinds::Entity entity, const coordinator::WatchChange& change) {
    const Words& words = words_of(entity);
    const std::string state =
        change.op == ChangeOp::drop ? "gone" : text_of(change.row, words.state);
    std::vector<LogField> fields;
    for (const auto& [key, column] : words.fields) {
        const bool flag = key == "draining" || key == "leaving";
        std::string value = text_of(change.row, column);
        if (flag) value = value == "1" ? "true" : "";
        if (!value.empty()) fields.push_back({key, std::move(value)});
    }
    fields.push_back({"revision", to_string(change.revision)});
    log_.write(level_of(entity, state), std::string(words.what) + " is " + state, fields);
}

}  // namespace baton::desk
