#include "adapters/sqlite/log.h"

#include <algorithm>

#include <sqlite3.h>

namespace baton::sqlite {

namespace {

constexpr auto kFirstWait = std::chrono::milliseconds(10);

int timeout(std::chrono::milliseconds time) {
    return static_cast<int>(time.count());
}

}  // namespace

void Log::watch(sqlite3* db, std::chrono::milliseconds busy_deadline, int step) {
    step_ = step;
    next_ = step;
    busy_deadline_ = busy_deadline;
    wait_ = kFirstWait;
    sqlite3_wal_hook(db, on_commit, this);
}

int Log::on_commit(void* log, sqlite3* db, const char*, int pages) {
    static_cast<Log*>(log)->copy(db, pages);
    return SQLITE_OK;  // the commit is durable, whatever became of the copy
}

void Log::copy(sqlite3* db, int pages) {
    if (pages < last_) {  // the log was started again
        next_ = step_;
        wait_ = kFirstWait;
    }
    last_ = pages;
    if (pages < next_) return;
    next_ = pages + step_;
    if (pages < kLogPagesWanted) {
        sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
        return;
    }
    sqlite3_busy_timeout(db, timeout(wait_));
    sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
    sqlite3_busy_timeout(db, timeout(busy_deadline_));
    wait_ = std::min(2 * wait_, kWaitMax);
}

}  // namespace baton::sqlite
