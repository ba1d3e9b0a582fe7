// An Error of Baton for a report of SQLite.
//
// Decided from the extended result code and the errno below it, never from the text, with one
// exception: ON DELETE RESTRICT is reported as the code of a trigger.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

struct sqlite3;

namespace baton::sqlite {

struct Attempt {
    std::string_view what;      // "run a statement on"
    const std::string& path;    // of the catalog
    std::string_view sql = {};  // mentioned only when it is to blame
};

// The last failure of the connection.
[[nodiscard]] Error error_of(sqlite3* db, const Attempt& attempt);

// The last failure of the connection, when it was a COMMIT, or a write that commits by itself, and
// SQLite has ended the transaction because of it.
//
// A failure of I/O or memory is unknown_outcome then, unless the last frame is known to be short.
// In WAL mode a commit writes frames, the last of which makes the transaction valid, then syncs,
// then publishes them in the shared index. A write that ran out of space left that frame short:
// nothing happened. After any later failure (sync, growth of the index) the frames are whole in the
// log. No connection sees them and the next transaction writes over them, but a crash before that
// brings them back as committed.
[[nodiscard]] Error commit_error_of(sqlite3* db, const Attempt& attempt);

}  // namespace baton::sqlite
