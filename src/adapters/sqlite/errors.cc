#include "adapters/sqlite/errors.h"

#include <cerrno>
#include <cstring>

#include <sqlite3.h>

#include "base/text.h"

namespace baton::sqlite {

namespace {

using enum ErrorCode;

struct Failure {
    int code;           // extended
    int system_number;  // errno, for failures of I/O
    std::string text;
};

bool means_no_space(int number) {
    return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

// SQLite notes the errno of a failed statement, but not that of a failed commit. The two files,
// which a commit writes to, remember theirs.
int system_number_of(sqlite3* db) {
    int number = sqlite3_system_errno(db);
    for (const int which : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
        sqlite3_file* file = nullptr;
        sqlite3_file_control(db, "main", which, &file);
        if (file == nullptr || file->pMethods == nullptr) continue;
        int last = 0;
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &last);
        if (number == 0 || means_no_space(last)) number = last;
    }
    return number;
}

Failure failure_of(sqlite3* db) {
    Failure failure{.code = sqlite3_extended_errcode(db), .system_number = 0, .text = {}};
    failure.text = sqlite3_errmsg(db);
    const int primary = failure.code & 0xff;
    if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN) {
        failure.system_number = system_number_of(db);
        failure.text += " (code " + std::to_string(failure.code);
        if (failure.system_number != 0) {
            failure.text += std::string(", ") + std::strerror(failure.system_number);
        }
        failure.text += ")";
    }
    return failure;
}

bool lacks_space(const Failure& failure) {
    if ((failure.code & 0xff) == SQLITE_FULL) return true;
    return (failure.code & 0xff) == SQLITE_IOERR && means_no_space(failure.system_number);
}

struct Verdict {
    ErrorCode code;
    std::string_view hint;
};

constexpr std::string_view kRestore =
    "stop the coordinator, keep the file for inspection and restore the last backup with `baton "
    "restore`";
constexpr std::string_view kFreeSpace = "free space on the disk of the catalog, then try again";
constexpr std::string_view kBusy = "another connection holds it: try again";
constexpr std::string_view kReport = "this is a defect of Baton: please report it";

Verdict judge_constraint(const Failure& failure) {
    switch (failure.code) {
        case SQLITE_CONSTRAINT_UNIQUE:
        case SQLITE_CONSTRAINT_PRIMARYKEY:
        case SQLITE_CONSTRAINT_ROWID:
            return {unique_violation, {}};
        case SQLITE_CONSTRAINT_FOREIGNKEY:
            return {foreign_key_violation, {}};
        case SQLITE_CONSTRAINT_TRIGGER:  // ON DELETE RESTRICT is a trigger inside SQLite
            if (failure.text == "FOREIGN KEY constraint failed") return {foreign_key_violation, {}};
            return {write_rejected, {}};
        default:
            return {write_rejected, {}};
    }
}

Verdict judge_io(const Failure& failure) {
    switch (failure.code) {
        case SQLITE_IOERR_SHORT_READ:
        case SQLITE_IOERR_CORRUPTFS:
        case SQLITE_IOERR_DATA:
            return {catalog_corrupt, kRestore};
        default:
            return {catalog_unavailable, "check the disk of the catalog"};
    }
}

Verdict judge_read_only(const Failure& failure) {
    switch (failure.code) {
        case SQLITE_READONLY_DBMOVED:
            return {catalog_unavailable,
                    "the file was moved or deleted while in use: put it back and restart the "
                    "coordinator"};
        case SQLITE_READONLY:
            return {write_rejected, "the connection only reads"};
        default:
            return {catalog_unavailable, "check the permissions of the file and its directory"};
    }
}

Verdict judge(const Failure& failure) {
    if (lacks_space(failure)) return {catalog_full, kFreeSpace};
    switch (failure.code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:
            return {catalog_unavailable, kBusy};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {catalog_corrupt, kRestore};
        case SQLITE_IOERR:
            return judge_io(failure);
        case SQLITE_CONSTRAINT:
            return judge_constraint(failure);
        case SQLITE_READONLY:
            return judge_read_only(failure);
        case SQLITE_TOOBIG:
        case SQLITE_MISMATCH:
            return {write_rejected, {}};
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
            return {catalog_unavailable, "check the path and the permissions of the catalog"};
        case SQLITE_NOMEM:
            return {catalog_unavailable, "the machine is out of memory"};
        case SQLITE_INTERRUPT:
            return {catalog_unavailable, "it was interrupted: try again"};
        default:
            return {defect, kReport};
    }
}

Error told(const Verdict& verdict, const Failure& failure, const Attempt& attempt) {
    Error error{.code = verdict.code};
    error.message = "cannot " + std::string(attempt.what) + " catalog " + in_quotes(attempt.path) +
                    ": " + failure.text;
    if (verdict.code == defect && !attempt.sql.empty()) {
        error.message += " in `" + std::string(attempt.sql) + "`";
    }
    error.hint = verdict.hint;
    return error;
}

}  // namespace

Error error_of(sqlite3* db, const Attempt& attempt) {
    const Failure failure = failure_of(db);
    return told(judge(failure), failure, attempt);
}

Error commit_error_of(sqlite3* db, const Attempt& attempt) {
    const Failure failure = failure_of(db);
    const int primary = failure.code & 0xff;
    const bool frame_is_short = failure.code == SQLITE_IOERR_WRITE && lacks_space(failure);
    if ((primary != SQLITE_IOERR && primary != SQLITE_NOMEM) || frame_is_short) {
        return told(judge(failure), failure, attempt);
    }
    return told({unknown_outcome,
                 "it may come back after a crash: read the catalog before trying again, and check "
                 "its disk"},
                failure, attempt);
}

}  // namespace baton::sqlite
