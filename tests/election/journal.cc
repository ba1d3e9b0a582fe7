#include "election/journal.h"

#include <algorithm>

#include "base/check.h"
#include "catalog/lease_schema.h"

namespace baton::testing {

void make_journal(Sql& sql) {
    CHECK(catalog::make_lease_tables(sql));
    CHECK(
        sql.run_script("CREATE TABLE counter (n BIGINT); INSERT INTO counter VALUES (0);"
                       "CREATE TABLE journal (n BIGINT PRIMARY KEY, epoch BIGINT);"));
}

Result<Done> append(Sql& sql, Epoch epoch) {
    TRY(sql.execute("UPDATE counter SET n = n + 1"));
    TRY(sql.execute("INSERT INTO journal SELECT n, ? FROM counter",
                    {static_cast<std::int64_t>(epoch.value())}));
    return Done{};
}

JournalFindings read_journal(Sql& sql) {
    JournalFindings findings;
    std::int64_t highest = 0;
    CHECK(sql.run("SELECT epoch FROM journal ORDER BY n", {}, [&](const SqlRow& row) {
        const std::int64_t epoch = std::get<std::int64_t>(row[0]);
        findings.writes += 1;
        if (epoch < highest) findings.stale += 1;
        highest = std::max(highest, epoch);
    }));
    return findings;
}

Result<Done> begin_weakly(Sql& sql) {
    const bool postgres = sql.dialect() == SqlDialect::postgres;
    if (sql.dialect() == SqlDialect::mariadb) {
        TRY(sql.run_script("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
    }
    TRY(sql.begin(Access::write));
    if (postgres) TRY(sql.run_script("SET TRANSACTION ISOLATION LEVEL READ COMMITTED"));
    return Done{};
}

Result<bool> is_fence_of(Sql& sql, const std::string& key, Epoch epoch) {
    TRY_ASSIGN(rows, sql.query("SELECT epoch FROM fence WHERE lock_key = ?", {key}));
    return rows.size() == 1 &&
           std::get<std::int64_t>(rows[0][0]) == static_cast<std::int64_t>(epoch.value());
}

}  // namespace baton::testing
