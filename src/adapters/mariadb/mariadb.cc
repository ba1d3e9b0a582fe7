#include "adapters/mariadb/mariadb.h"

#include "adapters/mariadb/wire.h"
#include "adapters/server_sql/connection.h"

namespace baton::mariadb {

namespace {

class MariadbDatabase final : public SqlDatabase {
public:
    MariadbDatabase(MariadbOptions options, mariadb::Place place)
        : options_(std::move(options)), place_(std::move(place)) {}

    [[nodiscard]] Result<std::unique_ptr<Sql>> connect(Access access) override {
        auto wire = std::make_unique<mariadb::MariadbWire>(options_, place_, access);
        TRY(wire->connect());
        return std::unique_ptr<Sql>(
            std::make_unique<server_sql::Connection>(std::move(wire), access));
    }
    [[nodiscard]] Result<Done> backup_to(const std::string&) override {
        return Error{.code = ErrorCode::not_supported,
                     .message = "a catalog in MariaDB is backed up with MariaDB's tools",
                     .hint = "use mariadb-dump, or `baton catalog migrate` to a file"};
    }

private:
    const MariadbOptions options_;
    const mariadb::Place place_;
};

// One process at a time makes or changes the tables.
Result<Done> initialise(SqlDatabase& database, const MariadbOptions& options,
                        const mariadb::Place& place) {
    if (!options.initialise) return Done{};
    const std::string lock = "baton." + place.database;
    TRY_ASSIGN(sql, database.connect(Access::write));
    TRY_ASSIGN(taken, sql->query("SELECT GET_LOCK(?, 25)", {lock}));
    if (taken.size() != 1 || taken[0][0] != SqlValue(std::int64_t{1})) {
        return Error{.code = ErrorCode::catalog_unavailable,
                     .message = "another process is changing the tables of " + place.name(),
                     .hint = "try again when it is done"};
    }
    auto done = options.initialise(*sql);
    TRY(sql->query("SELECT RELEASE_LOCK(?)", {lock}));
    return done;
}

}  // namespace

Result<std::unique_ptr<SqlDatabase>> open_mariadb(const MariadbOptions& options) {
    TRY_ASSIGN(place, mariadb::place_of(options.url));
    auto database = std::make_unique<MariadbDatabase>(options, place);
    TRY_ASSIGN(first, database->connect(Access::read));
    first.reset();
    TRY(initialise(*database, options, place));
    return std::unique_ptr<SqlDatabase>(std::move(database));
}

}  // namespace baton::mariadb
