// A catalog of an older version, as an operator brings it.
#include <filesystem>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "catalog/schema.h"
#include "hostile/daemon.h"

namespace baton::hostile {
namespace {

void make_catalog_of(std::int64_t version, const std::string& directory) {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    sqlite::SqliteOptions options;
    options.path = directory + "/catalog.db";
    options.create = true;
    options.initialise = [version](Sql& sql) { return catalog::migrate_up_to(sql, version); };
    const auto made = sqlite::open_sqlite(options);
    ASSERT_TRUE(made) << to_string(made.error());
}

TEST(HostileUpgrade, ADaemonBringsAnOlderCatalogUpToDate) {
    Daemon daemon;
    for (std::int64_t version = 1; version < catalog::schema_version(); ++version) {
        daemon.restart([&] { make_catalog_of(version, daemon.data()); });
        EXPECT_TRUE(daemon.takes_a_write());
    }
}

TEST(HostileUpgrade, SoDoesAShell) {
    const testing::TemporaryDirectory directory;
    make_catalog_of(2, directory / "d");
    const cli::Ended shown = cli::run(
        {BATON_PROGRAMS "/baton", "shell", "--data", directory / "d", "-c", "SHOW QUERIES"});
    EXPECT_EQ(shown.status, 0) << shown.errors;
}

// A backup that was made just before the upgrade.
TEST(HostileUpgrade, ABackupOfAnOlderVersionIsRestored) {
    Daemon daemon;
    make_catalog_of(2, daemon.path("older"));
    daemon.restart([&] {
        const cli::Ended restored =
            cli::run({BATON_PROGRAMS "/baton", "restore", daemon.path("older/catalog.db"), "--data",
                      daemon.data(), "--force"});
        EXPECT_EQ(restored.status, 0) << restored.errors;
    });
    EXPECT_TRUE(daemon.takes_a_write());
}

}  // namespace
}  // namespace baton::hostile
