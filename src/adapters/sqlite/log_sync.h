// LogSync makes durable what a writer has put into the write-ahead log.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ports/sql.h"

namespace baton::sqlite {

// `path` is that of the database; its log must exist. SQLite holds its locks on other files, so a
// descriptor of the log may be closed at any time.
[[nodiscard]] Result<std::unique_ptr<SqlSync>> open_log_sync(const std::string& path);

}  // namespace baton::sqlite
