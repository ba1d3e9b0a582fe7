#include "adapters/sqlite/copy.h"

#include <atomic>

#include <sqlite3.h>
#include <unistd.h>

#include "adapters/sqlite/errors.h"
#include "adapters/sqlite/files.h"
#include "adapters/sqlite/verify.h"
#include "base/text.h"

namespace baton::sqlite {

namespace {

constexpr int kPagesPerStep = 1024;

// Two copies to one path, even by two processes, never share a draft.
std::string draft_name(const std::string& path) {
    static std::atomic<unsigned> count = 0;
    return path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

Result<Done> refuse_taken(const std::string& path) {
    for (const char* suffix : {"", "-wal", "-journal"}) {  // a stale log would be applied to it
        if (!exists(path + suffix)) continue;
        return Error{.code = ErrorCode::write_rejected,
                     .message = "cannot write a backup to " + baton::in_quotes(path) + ": " +
                                baton::in_quotes(path + suffix) + " exists",
                     .hint = "choose a new name or remove it first"};
    }
    return Done{};
}

Error not_written(sqlite3* target, const Attempt& attempt) {
    Error error = error_of(target, attempt);
    if (error.code == ErrorCode::catalog_full) {
        error.hint = "free space on the disk of the backup, then try again";
    }
    return error;
}

// `source` is in a read transaction and stays in it, so no writer can make the copy start again.
Result<Done> copy_pages(sqlite3* source, sqlite3* target, const Attempt& attempt) {
    sqlite3_backup* backup = sqlite3_backup_init(target, "main", source, "main");
    if (backup == nullptr) return not_written(target, attempt);
    int code = SQLITE_OK;
    while (code == SQLITE_OK) code = sqlite3_backup_step(backup, kPagesPerStep);
    const int finished = sqlite3_backup_finish(backup);
    if (code == SQLITE_DONE && finished == SQLITE_OK) return Done{};
    return not_written(target, attempt);
}

}  // namespace

Result<Done> copy_database(const Settings& source, const std::string& path) {
    const std::string target = absolute(path);
    TRY(refuse_taken(target));
    TRY_ASSIGN(from, open_handle(source, SQLITE_OPEN_READONLY));
    TRY(configure(from.get(), source));
    TRY(execute(from.get(), source, "BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1"));

    TRY_ASSIGN(draft, Draft::create(draft_name(target)));
    {
        const std::string what = "write to backup " + baton::in_quotes(target) + " of";
        const Attempt attempt{.what = what, .path = source.path};
        const Settings settings{.path = draft.path(), .durable = false};
        TRY_ASSIGN(to, open_handle(settings, SQLITE_OPEN_READWRITE));
        TRY(configure(to.get(), settings));
        TRY(copy_pages(from.get(), to.get(), attempt));
        const char* leave_log = "PRAGMA journal_mode=DELETE";
        if (sqlite3_exec(to.get(), leave_log, nullptr, nullptr, nullptr) != SQLITE_OK) {
            return not_written(to.get(), attempt);
        }
        TRY(verify_pages(to.get(), source));  // the copy of a damaged page is a damaged page
        TRY(verify_length(to.get(), source));
    }
    return draft.publish_as(target);
}

}  // namespace baton::sqlite
