#include "adapters/sqlite/sqlite.h"

#include <filesystem>
#include <mutex>
#include <utility>

#include <sqlite3.h>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/errors.h"

namespace baton {

namespace {

using sqlite::Connection;
using sqlite::Handle;
using sqlite::Settings;

class Database final : public SqliteDatabase {
public:
    explicit Database(Settings settings) : settings_(std::move(settings)) {}

    Result<std::unique_ptr<Sql>> connect(Access access) override {
        const int flags = access == Access::write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
        TRY_ASSIGN(db, sqlite::open_handle(settings_, flags));
        if (access == Access::write) TRY(sqlite::enter_wal_mode(db.get(), settings_));
        return std::unique_ptr<Sql>(std::make_unique<Connection>(std::move(db), settings_, access));
    }

    Result<Done> backup_to(const std::string&) override {
        return Error{.code = ErrorCode::not_supported, .message = "no backup yet"};
    }

    Result<Done> checkpoint() override { return Done{}; }

private:
    Settings settings_;
};

}  // namespace

Result<std::unique_ptr<SqliteDatabase>> open_sqlite(const SqliteOptions& options) {
    Settings settings{.path = std::filesystem::absolute(options.path).string(),
                      .busy_deadline = options.busy_deadline,
                      .cache_bytes = options.cache_bytes};
    const bool fresh = !std::filesystem::exists(settings.path);
    if (fresh) {
        TRY_ASSIGN(db, sqlite::open_handle(settings, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
        TRY(sqlite::enter_wal_mode(db.get(), settings));
        Connection connection(std::move(db), settings, Access::write);
        if (options.initialise) TRY(options.initialise(connection));
    }
    return std::unique_ptr<SqliteDatabase>(std::make_unique<Database>(std::move(settings)));
}

}  // namespace baton
