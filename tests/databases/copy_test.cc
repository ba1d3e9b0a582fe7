// A catalog is the same wherever it is kept: copied from one database to the next and back, it has
// the same rows, and is sound.
#include "catalog/copy.h"

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "adapters/system/system_clock.h"
#include "catalog/check.h"
#include "catalog/lease.h"
#include "catalog/reader.h"
#include "catalog/schema.h"
#include "catalog/views/views.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

using Database = std::unique_ptr<SqlDatabase>;

Database on_server(ServerKind kind) {
    auto opened =
        open_server_database(kind, DatabaseServer::shared(kind).new_database(), catalog::migrate);
    CHECK(opened);
    return *std::move(opened);
}

Database in_memory() {
    auto opened = sqlite::open_temporary_sqlite({.initialise = catalog::migrate});
    CHECK(opened);
    return *std::move(opened);
}

// Every row of every view.
std::string all_of(SqlDatabase& database) {
    const auto sql = *database.connect(Access::read);
    std::string text;
    for (const kinds::View& view : views::views()) {
        text += std::string(view.name) + "\n";
        const auto rows = sql->query("SELECT * FROM " + std::string(view.table) + " ORDER BY 1, 2");
        EXPECT_TRUE(rows) << to_string(rows.error());
        for (const SqlRow& row : *rows) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                text += shown(row[i], view.columns[i].type) + "|";
            }
            text += "\n";
        }
    }
    return text;
}

void fill(Database& database) {
    const system::SystemClock clock;
    auto opened = coordinator::CoordinatorRuntime::open(std::move(database), clock);
    ASSERT_TRUE(opened) << to_string(opened.error());
    coordinator::Session session(**opened, "tester");
    const coordinator::Execution execution = session.execute(
        "CREATE WORKER 'hub:1' SET ('HUB' AS NAME);"
        "CREATE WORKER 'edge:1' SET ('EDGE' AS NAME, 'HUB' AS DOWNSTREAM);"
        "CREATE LOGICAL SOURCE readings (id UINT64 NOT NULL, value FLOAT64);"
        "CREATE PHYSICAL SOURCE FOR readings TYPE File "
        "SET ('in ü 🎼.csv' AS SOURCE.FILE_PATH, 'EDGE' AS SOURCE.HOST);"
        "CREATE SINK alerts (id UINT64 NOT NULL) TYPE Print SET ('HUB' AS SINK.HOST);"
        "CREATE QUERY hot AS SELECT id FROM readings WHERE value > 1.5 INTO alerts;"
        "DROP SINK nothing");
    ASSERT_TRUE(execution.error);
    EXPECT_EQ(execution.error->code, ErrorCode::unknown_sink) << to_string(*execution.error);
}

std::int64_t copied(SqlDatabase& from, SqlDatabase& to) {
    const auto reader = *from.connect(Access::read);
    const auto writer = *to.connect(Access::write);
    const auto count = catalog::copy_catalog(*reader, *writer);
    EXPECT_TRUE(count) << to_string(count.error());
    const auto problems = catalog::catalog_problems(*writer);
    EXPECT_TRUE(problems && problems->empty());
    return count ? *count : -1;
}

TEST(CopyTest, ACatalogThatGoesAroundComesBackAsItWas) {
    // A coordinator takes its database with it, so the catalog is opened again.
    const std::string url = DatabaseServer::shared(ServerKind::postgres).new_database();
    Database postgres = *open_server_database(ServerKind::postgres, url, catalog::migrate);
    fill(postgres);
    postgres = *open_server_database(ServerKind::postgres, url);
    const Database mariadb = on_server(ServerKind::mariadb);
    const Database sqlite = in_memory();
    const Database again = on_server(ServerKind::postgres);
    const std::int64_t rows = copied(*postgres, *mariadb);
    EXPECT_GT(rows, 20);
    EXPECT_EQ(copied(*mariadb, *sqlite), rows);
    EXPECT_EQ(copied(*sqlite, *again), rows);
    const std::string all = all_of(*postgres);
    EXPECT_EQ(all_of(*mariadb), all);
    EXPECT_EQ(all_of(*sqlite), all);
    EXPECT_EQ(all_of(*again), all);
    // The workers go with the copy.
    const auto id = [](SqlDatabase& database) {
        return *catalog::Reader(**database.connect(Access::read)).catalog_id();
    };
    EXPECT_EQ(id(*postgres).size(), 32U);
    EXPECT_EQ(id(*again), id(*postgres));
    EXPECT_EQ(id(*mariadb), id(*postgres));
    EXPECT_NE(id(*in_memory()), id(*postgres));
}

// A file has no election: its coordinator writes as the next after the last leader on the server.
TEST(CopyTest, ACatalogThatComesFromAServerCanBeWrittenInAFile) {
    const Database server = on_server(ServerKind::postgres);
    {
        const auto sql = *server->connect(Access::write);
        ASSERT_TRUE(sql->execute("UPDATE fence SET epoch = 7 WHERE lock_key = 'leader'"));
        ASSERT_TRUE(sql->execute("UPDATE lease SET epoch = 7 WHERE lock_key = 'leader'"));
    }
    Database file = in_memory();
    (void)copied(*server, *file);
    EXPECT_EQ(*catalog::epoch_of_fence(**file->connect(Access::read), "leader"), Epoch(8));
    fill(file);
}

TEST(CopyTest, NothingIsCopiedOverACatalogThatHoldsSomething) {
    const std::string url = DatabaseServer::shared(ServerKind::mariadb).new_database();
    Database full = *open_server_database(ServerKind::mariadb, url, catalog::migrate);
    fill(full);
    full = *open_server_database(ServerKind::mariadb, url);
    const std::string before = all_of(*full);
    const Database empty = in_memory();
    const auto reader = *empty->connect(Access::read);
    const auto writer = *full->connect(Access::write);
    const auto refused = catalog::copy_catalog(*reader, *writer);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::catalog_in_use);
    EXPECT_EQ(all_of(*full), before);
}

}  // namespace
}  // namespace baton::testing
