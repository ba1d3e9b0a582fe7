// Log keeps the write-ahead log of a writer from growing for ever.
//
// After a commit that leaves many pages in the log it copies them into the file. That is enough
// while there are moments without readers: the next commit then starts the log again. Where readers
// always overlap there is no such moment, and the log would grow as long as the load lasts. So from
// `kLogPagesWanted` on a commit also waits, briefly, for the readers that are in its way; new ones
// meanwhile read from the file alone. The wait is longer after each failure, up to `kWaitMax`, and
// each attempt comes only after the log has grown by another `kLogPagesStep`.
//
// So: readers that end within `kWaitMax` keep the log below about twice kLogPagesWanted. A reader
// that stays longer lets it grow meanwhile; the file shrinks again afterwards.
#pragma once

#include <chrono>

struct sqlite3;

namespace baton::sqlite {

inline constexpr int kLogPagesStep = 2000;    // of 4 KiB
inline constexpr int kLogPagesWanted = 8000;  // 32 MiB
inline constexpr auto kWaitMax = std::chrono::milliseconds(200);

class Log {
public:
    // Watches the commits of `db`, which must be in WAL mode and be closed before this ends.
    void watch(sqlite3* db, std::chrono::milliseconds busy_deadline, int step = kLogPagesStep);

private:
    static int on_commit(void* log, sqlite3* db, const char* database, int pages);
    void copy(sqlite3* db, int pages);

    std::chrono::milliseconds busy_deadline_{0};  // of the connection, to be restored
    std::chrono::milliseconds wait_{0};           // for readers, in the next attempt
    int step_ = kLogPagesStep;
    int next_ = kLogPagesStep;  // pages in the log at the next attempt
    int last_ = 0;              // pages in the log after the last commit
};

}  // namespace baton::sqlite
