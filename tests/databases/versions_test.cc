// Catalogs of older versions on database servers, and texts that end with blanks.
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "catalog/lease.h"
#include "catalog/schema.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

class VersionsTest : public ::testing::TestWithParam<ServerKind> {
protected:
    void SetUp() override {
        database_ =
            *open_server_database(GetParam(), DatabaseServer::shared(GetParam()).new_database());
        sql_ = *database_->connect(Access::write);
    }
    std::string value(std::string_view query) {
        const auto rows = sql_->query(query);
        EXPECT_TRUE(rows) << to_string(rows.error());
        if (!rows || rows->empty()) return "nothing";
        const auto* text = std::get_if<std::string>(&(*rows)[0][0]);
        return text != nullptr ? *text : std::to_string(std::get<std::int64_t>((*rows)[0][0]));
    }
    void run(std::string_view statement) {
        const auto done = sql_->execute(statement);
        EXPECT_TRUE(done) << to_string(done.error());
    }
    // A catalog of version 2, with a reference as a padding collation lets it be written.
    void make_second_version() {
        const auto made = catalog::migrate_up_to(*sql_, 2);
        ASSERT_TRUE(made) << to_string(made.error());
        run("INSERT INTO worker VALUES ('W', 'EMBEDDED', NULL, NULL, NULL, 'ACTIVE', 0, 0, NULL, "
            "'', '2026', 1)");
        run("INSERT INTO logical_source VALUES ('S', '[\"A INT8\"]', 1)");
        const std::string worker = GetParam() == ServerKind::mariadb ? "W " : "W";
        run("INSERT INTO physical_source VALUES (1, 'S', '" + worker +
            "', 'Generator', '{}', '{}', '{}', '{}', 'f', 1)");
        run("INSERT INTO lease VALUES ('nightly', 'a', 3, 7, 'ACTIVE', 5)");
        run("INSERT INTO fence VALUES ('nightly', 3)");
        run("UPDATE lease SET epoch = 9 WHERE lock_key = 'leader'");
    }

    std::unique_ptr<SqlDatabase> database_;
    std::unique_ptr<Sql> sql_;
};

TEST_P(VersionsTest, LocksOfClientsMoveToTablesOfTheirOwn) {
    make_second_version();
    const auto migrated = catalog::migrate(*sql_);
    ASSERT_TRUE(migrated) << to_string(migrated.error());
    EXPECT_EQ(value("SELECT COUNT(*) FROM lease"), "1");
    EXPECT_EQ(value("SELECT epoch FROM lease"), "9");
    EXPECT_EQ(value("SELECT COUNT(*) FROM fence"), "1");
    EXPECT_EQ(value("SELECT CONCAT(lock_key, owner, epoch, expires_at, taken_at) FROM lock_lease"),
              "nightlya375");
    EXPECT_EQ(value("SELECT epoch FROM lock_fence"), "3");
    EXPECT_EQ(value("SELECT COUNT(*) FROM baton_locks"), "2");
    EXPECT_EQ(value("SELECT worker FROM physical_source"), "W");
}

// Coordinators that are started together on an empty database, on a busy machine.
TEST_P(VersionsTest, TheSecondWaitsWhileTheFirstMakesTheTables) {
    const std::string url = DatabaseServer::shared(GetParam()).new_database();
    std::promise<void> inside;
    std::promise<void> second_is_done;
    std::jthread first([&, done = second_is_done.get_future()] {
        const auto opened = open_server_database(GetParam(), url, [&](Sql& sql) {
            inside.set_value();
            // Longer than a statement waits for a lock.
            EXPECT_EQ(done.wait_for(std::chrono::seconds(3)), std::future_status::timeout);
            return catalog::migrate(sql);
        });
        EXPECT_TRUE(opened) << to_string(opened.error());
    });
    inside.get_future().wait();
    const auto second = open_server_database(GetParam(), url, catalog::migrate);
    EXPECT_TRUE(second) << to_string(second.error());
    second_is_done.set_value();
}

// On MariaDB each step is kept by itself: an attempt that ended anywhere is taken up again.
TEST_P(VersionsTest, AMigrationThatWasDoneAndNotRecordedIsDoneAgain) {
    if (GetParam() != ServerKind::mariadb) return;  // it is one transaction there
    make_second_version();
    ASSERT_TRUE(catalog::migrate(*sql_));
    const std::string references =
        "SELECT COUNT(*) FROM information_schema.referential_constraints WHERE constraint_schema = "
        "DATABASE()";
    EXPECT_EQ(value(references), "14");
    run("UPDATE meta SET schema_version = 2 WHERE id = 1");
    const auto again = catalog::migrate(*sql_);
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(value(references), "14");
    EXPECT_EQ(value("SELECT COUNT(*) FROM lock_lease"), "1");
    EXPECT_EQ(value("SELECT COUNT(*) FROM lease"), "1");
}

TEST_P(VersionsTest, ABlankAtTheEndMakesAnotherText) {
    make_second_version();
    ASSERT_TRUE(catalog::migrate(*sql_));
    EXPECT_EQ(value("SELECT COUNT(*) FROM worker WHERE name = 'W '"), "0");
    EXPECT_EQ(value("SELECT COUNT(*) FROM lease WHERE lock_key = 'leader '"), "0");
    run("INSERT INTO logical_source VALUES ('S ', '[]', 1)");
    EXPECT_EQ(value("SELECT COUNT(*) FROM logical_source"), "2");
    EXPECT_FALSE(sql_->execute("INSERT INTO network_link VALUES ('W', 'W ', 1)"));
    EXPECT_FALSE(sql_->execute("DELETE FROM worker WHERE name = 'W'"));
    if (GetParam() != ServerKind::mariadb) return;
    EXPECT_EQ(value("SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = "
                    "DATABASE() AND collation_name IS NOT NULL AND table_name NOT LIKE 'baton%' "
                    "AND collation_name NOT LIKE '%nopad%'"),
              "0")
        << "a table pads: "
        << value(
               "SELECT MIN(table_name) FROM information_schema.columns WHERE "
               "table_schema = DATABASE() AND collation_name IS NOT NULL AND "
               "collation_name NOT LIKE '%nopad%'");
}

// Whatever the name of a lock, who leads is not touched.
TEST_P(VersionsTest, NoLockOfAClientIsTheLeaders) {
    ASSERT_TRUE(catalog::migrate(*sql_));
    catalog::Leases coordinators(*sql_);
    ASSERT_TRUE(coordinators.acquire("leader", "one", std::chrono::seconds(60)));
    catalog::Leases clients(*sql_, catalog::LockSpace::clients);
    for (const std::string name : {"leader", "leader ", "LEADER", " leader", "leader\t"}) {
        EXPECT_FALSE(*clients.set_status(name, LockStatus::inactive)) << name;
        EXPECT_FALSE(*clients.remove(name)) << name;
        const auto taken = clients.acquire(name, "thief", std::chrono::seconds(60));
        ASSERT_TRUE(taken) << to_string(taken.error());
        EXPECT_TRUE(std::holds_alternative<catalog::lease::Taken>(*taken)) << name;
    }
    const auto held = coordinators.watch("leader");
    ASSERT_TRUE(held && *held);
    EXPECT_EQ((*held)->owner, "one");
    EXPECT_EQ((*held)->status, LockStatus::active);
    EXPECT_TRUE(*coordinators.renew("leader", "one", (*held)->epoch, std::chrono::seconds(60)));
    EXPECT_TRUE(catalog::hold_fence(*sql_, "leader", (*held)->epoch));
}

INSTANTIATE_TEST_SUITE_P(Servers, VersionsTest,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& one) {
                             return one.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::testing
