#include "adapters/postgres/postgres.h"

#include "adapters/postgres/wire.h"
#include "adapters/server_sql/connection.h"

namespace baton::postgres {

namespace {

class PostgresDatabase final : public SqlDatabase {
public:
    explicit PostgresDatabase(PostgresOptions options) : options_(std::move(options)) {}

    [[nodiscard]] Result<std::unique_ptr<Sql>> connect(Access access) override {
        auto wire = std::make_unique<postgres::PostgresWire>(options_, access);
        TRY(wire->connect());
        return std::unique_ptr<Sql>(
            std::make_unique<server_sql::Connection>(std::move(wire), access));
    }
    [[nodiscard]] Result<Done> backup_to(const std::string&) override {
        return Error{.code = ErrorCode::not_supported,
                     .message = "a catalog in PostgreSQL is backed up with PostgreSQL's tools",
                     .hint = "use pg_dump, or `baton catalog migrate` to a file"};
    }

private:
    const PostgresOptions options_;
};

// One process at a time makes or changes the tables.
Result<Done> initialise(SqlDatabase& database, const PostgresOptions& options) {
    if (!options.initialise) return Done{};
    constexpr const char* kKey = "4711427194113614";  // any number that nobody else uses
    TRY_ASSIGN(sql, database.connect(Access::write));
    // The first of several coordinators takes its time on a busy machine; the others are patient.
    TRY(sql->execute("SET lock_timeout = '25s'"));
    TRY(sql->query("SELECT pg_advisory_lock(" + std::string(kKey) + ")::text"));
    auto done = options.initialise(*sql);
    TRY(sql->query("SELECT pg_advisory_unlock(" + std::string(kKey) + ")"));
    return done;
}

}  // namespace

Result<std::unique_ptr<SqlDatabase>> open_postgres(const PostgresOptions& options) {
    if (!options.url.starts_with("postgres://") && !options.url.starts_with("postgresql://")) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "the address of a PostgreSQL catalog begins with postgres://",
                     .hint = "postgres://user:password@host:5432/database"};
    }
    auto database = std::make_unique<PostgresDatabase>(options);
    TRY_ASSIGN(first, database->connect(Access::read));
    first.reset();
    TRY(initialise(*database, options));
    return std::unique_ptr<SqlDatabase>(std::move(database));
}

}  // namespace baton::postgres
