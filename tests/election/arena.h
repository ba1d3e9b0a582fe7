// The databases on which a lock is fought for.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "base/check.h"
#include "testing/servers/database_server.h"

namespace baton::testing {

struct Arena {
    std::string name;
    std::function<std::shared_ptr<SqlDatabase>()> make;  // an empty database
};

inline void PrintTo(const Arena& arena, std::ostream* out) {
    *out << arena.name;
}

inline std::shared_ptr<SqlDatabase> on_server(ServerKind kind) {
    auto database = open_server_database(kind, DatabaseServer::shared(kind).new_database());
    CHECK(database);
    return *std::move(database);
}

inline Arena sqlite_arena() {
    // Nobody copies the log: SQLite does not bear two that do.
    return {.name = "Sqlite",
            .make = [] { return *sqlite::open_temporary_sqlite({.log_pages_step = 10'000'000}); }};
}
inline Arena postgres_arena() {
    return {.name = "Postgres", .make = [] { return on_server(ServerKind::postgres); }};
}
inline Arena mariadb_arena() {
    return {.name = "Mariadb", .make = [] { return on_server(ServerKind::mariadb); }};
}

inline std::string name_of_arena(const ::testing::TestParamInfo<Arena>& each) {
    return each.param.name;
}
inline std::string name_of_server(const ::testing::TestParamInfo<ServerKind>& each) {
    return each.param == ServerKind::postgres ? "Postgres" : "Mariadb";
}

}  // namespace baton::testing
