#include "front/journal.h"

#include "base/check.h"
#include "sql/parser.h"

namespace baton::front {

namespace {

std::string text_of(const SqlRow& row, std::size_t column) {
    return shown(row.at(column), ViewType::text);
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(CoordinatorRuntime& coordinator, Log& log) {
    std::unique_ptr<Journal> journal(new Journal(coordinator, log));
    TRY(
        journal->watch("SELECT name, state, reason, incarnation, draining, leaving FROM "
                       "baton.workers",
                       Entity::worker));
    TRY(journal->watch("SELECT id, name, state, reason, run, desired FROM baton.queries",
                       Entity::query));
    TRY(journal->watch("SELECT id, query, worker, state, reason, run FROM baton.fragments",
                       Entity::fragment));
    journal->thread_ = std::thread([raw = journal.get()] { raw->run(); });
    return journal;
}

Result<Done> Journal::watch(const std::string& statement, Entity entity) {
    TRY_ASSIGN(parsed, sql::parse_one(statement));
    TRY_ASSIGN(query, ViewQuery::from(std::get<sql::SelectOnce>(parsed.node).query));
    TRY_ASSIGN(watch, coordinator_.watch(query, coordinator_.feed().last(), [this] {
        {
            const std::lock_guard lock(mutex_);
            news_ = true;
        }
        woken_.notify_one();
    }));
    watched_.push_back({.entity = entity, .watch = std::move(watch)});
    return Done{};
}

Journal::~Journal() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    woken_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void Journal::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        woken_.wait(lock, [&] { return news_ || closing_; });
        const bool last = closing_;
        news_ = false;
        lock.unlock();
        write_news();
        if (last) return;
        lock.lock();
    }
}

void Journal::write_news() {
    for (const Watched& watched : watched_) {
        while (true) {
            const auto events = watched.watch->poll();
            if (!events) {
                log_.error("the changes of the catalog cannot be read",
                           {{"reason", to_string(events.error())}});
                break;
            }
            if (events->empty()) break;
            for (const WatchEvent& event : *events) {
                if (const auto* change = std::get_if<WatchChange>(&event)) {
                    write(watched.entity, *change);
                } else {
                    log_.warn("too much happened at once: some changes are not in this log");
                }
            }
        }
    }
}

void Journal::write(Entity entity, const WatchChange& change) {
    const SqlRow& row = change.row;
    const bool dropped = change.op == ChangeOp::drop;
    const std::string state = dropped                    ? "gone"
                              : entity == Entity::worker ? text_of(row, 1)
                              : entity == Entity::query  ? text_of(row, 2)
                                                         : text_of(row, 3);
    std::vector<LogField> fields;
    const auto field = [&](std::string_view key, std::size_t column) {
        std::string value = text_of(row, column);
        if (!value.empty()) fields.push_back({key, std::move(value)});
    };
    LogLevel level = LogLevel::info;
    std::string what;
    if (entity == Entity::worker) {
        what = "worker is ";
        field("worker", 0);
        field("incarnation", 3);
        field("reason", 2);
        if (text_of(row, 4) == "1") fields.push_back({"draining", "true"});
        if (text_of(row, 5) == "1") fields.push_back({"leaving", "true"});
        if (state == "UNREACHABLE") level = LogLevel::warn;
    } else if (entity == Entity::query) {
        what = "query is ";
        field("query", 0);
        field("name", 1);
        field("run", 4);
        field("desired", 5);
        field("reason", 3);
        if (state == "FAILED") level = LogLevel::error;
    } else {
        what = "fragment is ";
        field("fragment", 0);
        field("query", 1);
        field("worker", 2);
        field("run", 5);
        field("reason", 4);
        level = state == "FAILED" ? LogLevel::warn : LogLevel::debug;
    }
    fields.push_back({"revision", to_string(change.revision)});
    log_.write(level, what + state, fields);
}

}  // namespace baton::front
