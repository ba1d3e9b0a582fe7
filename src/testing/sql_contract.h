// The contract of ports/sql.h as tests: every adapter runs the same ones.
//
//     #include "testing/sql_contract.h"
//     INSTANTIATE_TEST_SUITE_P(Sqlite, SqlContract, ::testing::Values(SqlContractCase{...}));
//
// Include it in one file of a test program. After an error inside a transaction the tests roll back
// (to the savepoint) before they go on, because PostgreSQL insists on it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/time.h"
#include "ports/sql.h"

namespace baton::testing {

// An empty database of its own for each test.
class SqlUnderTest {
public:
    virtual ~SqlUnderTest() = default;
    [[nodiscard]] virtual SqlDatabase& database() = 0;
    virtual void reopen() = 0;  // as the next process would; no connection is open
};

struct SqlContractCase {
    std::string name;
    std::function<std::unique_ptr<SqlUnderTest>()> make;
    Duration busy_deadline_max = std::chrono::seconds(5);
};

inline void PrintTo(const SqlContractCase& each, std::ostream* out) {
    *out << each.name;
}

inline std::string contract_schema(SqlDialect dialect) {
    std::string schema = R"(
        CREATE TABLE kept ($key id PRIMARY KEY, $int i, $real r, $text t) $end;
        CREATE TABLE parent ($key id PRIMARY KEY, $name name NOT NULL UNIQUE,
                             $int size NOT NULL CHECK (size >= 0)) $end;
        CREATE TABLE child ($key id PRIMARY KEY, $int parent NOT NULL,
                            FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE RESTRICT) $end;
    )";
    const bool sqlite = dialect == SqlDialect::sqlite;
    const bool mariadb = dialect == SqlDialect::mariadb;
    // "$type column" becomes "column TYPE".
    const std::vector<std::pair<std::string, std::string>> types = {
        {"$key", sqlite ? "INTEGER" : "BIGINT"},
        {"$int", sqlite ? "INTEGER" : "BIGINT"},
        {"$real", sqlite ? "REAL" : "DOUBLE PRECISION"},
        {"$text", mariadb ? "LONGTEXT" : "TEXT"},
        {"$name", mariadb ? "VARCHAR(200)" : "TEXT"}};
    for (const auto& [mark, type] : types) {
        for (auto at = schema.find(mark); at != std::string::npos; at = schema.find(mark)) {
            const auto column = at + mark.size() + 1;
            const auto end = schema.find_first_of(" ,)", column);
            schema = schema.substr(0, at) + schema.substr(column, end - column) + " " + type +
                     schema.substr(end);
        }
    }
    const std::string end = sqlite ? "STRICT" : mariadb ? "ENGINE=InnoDB CHARSET=utf8mb4" : "";
    for (auto at = schema.find("$end"); at != std::string::npos; at = schema.find("$end")) {
        schema.replace(at, 4, end);
    }
    return schema;
}

inline SqlValue integer(std::int64_t value) {
    return value;
}

class SqlContract : public ::testing::TestWithParam<SqlContractCase> {
protected:
    void SetUp() override {
        under_test_ = GetParam().make();
        const auto sql = connect(Access::write);
        const auto created = sql->run_script(contract_schema(sql->dialect()));
        ASSERT_TRUE(created) << to_string(created.error());
    }

    std::unique_ptr<Sql> connect(Access access) {
        auto sql = under_test_->database().connect(access);
        EXPECT_TRUE(sql) << to_string(sql.error());
        return *std::move(sql);
    }
    SqlUnderTest& under_test() { return *under_test_; }

    static std::int64_t number(Sql& sql, std::string_view text) {
        const auto rows = sql.query(text);
        EXPECT_TRUE(rows) << to_string(rows.error());
        return std::get<std::int64_t>((*rows)[0][0]);
    }
    static Result<std::int64_t> add_parent(Sql& sql, std::int64_t id, std::string name,
                                           std::int64_t size = 0) {
        return sql.execute("INSERT INTO parent (id, name, size) VALUES (?, ?, ?)",
                           {id, std::move(name), size});
    }
    template <class T>
    static ErrorCode code_of(const Result<T>& result) {
        EXPECT_FALSE(result);
        return result ? ErrorCode::conflict : result.error().code;
    }
    // Runs it under a savepoint that is rolled back, so that the transaction stays usable.
    static ErrorCode error_of(Sql& sql, std::string_view text,
                              std::initializer_list<SqlValue> parameters = {}) {
        EXPECT_TRUE(sql.set_savepoint());
        const ErrorCode code = code_of(sql.execute(text, parameters));
        EXPECT_TRUE(sql.roll_back_to_savepoint());
        return code;
    }

private:
    std::unique_ptr<SqlUnderTest> under_test_;
};

// A program that has no instance is one that tests something else.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SqlContract);

TEST_P(SqlContract, GivesBackWhatWasStored) {
    const auto sql = connect(Access::write);
    using Limits = std::numeric_limits<double>;
    const std::vector<SqlRow> rows = {
        {integer(1), std::monostate{}, std::monostate{}, std::monostate{}},
        {integer(2), integer(std::numeric_limits<std::int64_t>::min()), 0.1, std::string()},
        {integer(3), integer(std::numeric_limits<std::int64_t>::max()), Limits::max(),
         std::string("it's \"quoted\" \\ and; -- ? not SQL\n\t")},
        {integer(4), integer(0), Limits::min(), std::string("Zürich, 東京, 🎼, e\u0301")},
        {integer(5), integer(-1), -1e-300, std::string(1 << 20, 'x')},
        {integer(6), integer(1) /* a whole number stays a real one */, 3.0, std::string("0012")}};
    for (const SqlRow& row : rows) {
        const auto stored =
            sql->run("INSERT INTO kept (id, i, r, t) VALUES (?, ?, ?, ?)", row, nullptr);
        ASSERT_TRUE(stored) << to_string(stored.error());
    }
    const auto found = sql->query("SELECT id, i, r, t FROM kept ORDER BY id");
    ASSERT_TRUE(found) << to_string(found.error());
    EXPECT_EQ(*found, rows);
}

TEST_P(SqlContract, RefusesValuesThatNotEveryDatabaseCanKeep) {
    const auto sql = connect(Access::write);
    ASSERT_TRUE(sql->begin(Access::write));
    using Limits = std::numeric_limits<double>;
    for (const auto& bad : {std::string("a\0b", 3), std::string("\xff"), std::string("\xc3"),
                            std::string("\xc0\x80"), std::string("\xed\xa0\x80")}) {
        EXPECT_EQ(error_of(*sql, "INSERT INTO kept (id, t) VALUES (1, ?)", {bad}),
                  ErrorCode::write_rejected);
    }
    for (const double bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
        EXPECT_EQ(error_of(*sql, "INSERT INTO kept (id, r) VALUES (1, ?)", {bad}),
                  ErrorCode::write_rejected);
    }
    ASSERT_TRUE(sql->commit());
    EXPECT_EQ(number(*sql, "SELECT count(*) FROM kept"), 0);
}

TEST_P(SqlContract, CountsTheRowsAStatementChanged) {
    const auto sql = connect(Access::write);
    EXPECT_EQ(*sql->execute("INSERT INTO kept (id) VALUES (1), (2), (3)"), 3);
    EXPECT_EQ(*sql->execute("SELECT id FROM kept"), 0);
    EXPECT_EQ(*sql->execute("UPDATE kept SET i = 7 WHERE id > ?", {integer(1)}), 2);
    EXPECT_EQ(*sql->execute("UPDATE kept SET i = 8 WHERE id > ?", {integer(9)}), 0);
    EXPECT_EQ(*sql->execute("DELETE FROM kept WHERE i = ?", {integer(7)}), 2);
    EXPECT_EQ(*sql->execute("DELETE FROM kept WHERE i = ?", {integer(7)}), 0);
}

TEST_P(SqlContract, TellsWhichKindOfConstraintRefused) {
    const auto sql = connect(Access::write);
    ASSERT_TRUE(sql->begin(Access::write));
    ASSERT_TRUE(add_parent(*sql, 1, "one"));
    ASSERT_TRUE(sql->execute("INSERT INTO child (id, parent) VALUES (1, 1)"));

    const auto parent = "INSERT INTO parent (id, name, size) VALUES (?, ?, ?)";
    const std::string two = "two";
    using enum ErrorCode;
    EXPECT_EQ(error_of(*sql, parent, {integer(1), two, integer(0)}), unique_violation);
    EXPECT_EQ(error_of(*sql, parent, {integer(2), std::string("one"), integer(0)}),
              unique_violation);
    EXPECT_EQ(error_of(*sql, parent, {integer(2), two, integer(-1)}), write_rejected);
    EXPECT_EQ(error_of(*sql, parent, {integer(2), std::monostate{}, integer(0)}), write_rejected);
    EXPECT_EQ(error_of(*sql, "INSERT INTO child (id, parent) VALUES (2, 7)"),
              foreign_key_violation);
    EXPECT_EQ(error_of(*sql, "DELETE FROM parent WHERE id = 1"), foreign_key_violation);
    ASSERT_TRUE(sql->commit());
    EXPECT_EQ(number(*sql, "SELECT count(*) FROM parent"), 1);
    EXPECT_EQ(number(*sql, "SELECT count(*) FROM child"), 1);
}

TEST_P(SqlContract, CallsSqlItCannotUnderstandADefect) {
    const auto sql = connect(Access::write);
    for (const std::string_view text :
         {"SELEC 1", "SELECT 1 FROM nowhere", "SELECT nothing FROM parent", ""}) {
        EXPECT_EQ(code_of(sql->execute(text)), ErrorCode::defect) << text;
    }
    EXPECT_EQ(code_of(sql->execute("SELECT 1; SELECT 2")), ErrorCode::defect);
    EXPECT_EQ(code_of(sql->execute("SELECT id FROM parent WHERE id = ?")), ErrorCode::defect);
    const auto unknown = sql->execute("SELECT 1 FROM nowhere");
    EXPECT_NE(unknown.error().message.find("SELECT 1 FROM nowhere"), std::string::npos);
}

TEST_P(SqlContract, RollsBackToTheLastSavepointOnly) {
    const auto sql = connect(Access::write);
    ASSERT_TRUE(sql->begin(Access::write));
    ASSERT_TRUE(add_parent(*sql, 1, "before"));
    ASSERT_TRUE(sql->set_savepoint());
    ASSERT_TRUE(add_parent(*sql, 2, "outer"));
    ASSERT_TRUE(sql->set_savepoint());
    ASSERT_TRUE(add_parent(*sql, 3, "inner"));
    ASSERT_TRUE(sql->roll_back_to_savepoint());
    ASSERT_TRUE(sql->set_savepoint());
    ASSERT_TRUE(add_parent(*sql, 4, "inner again"));
    ASSERT_TRUE(sql->release_savepoint());
    EXPECT_EQ(number(*sql, "SELECT count(*) FROM parent"), 3);
    ASSERT_TRUE(sql->roll_back_to_savepoint());
    ASSERT_TRUE(add_parent(*sql, 5, "after"));
    ASSERT_TRUE(sql->commit());

    const auto names = sql->query("SELECT name FROM parent ORDER BY id");
    EXPECT_EQ(*names, (std::vector<SqlRow>{{std::string("before")}, {std::string("after")}}));
}

TEST_P(SqlContract, StaysUsableAfterAnErrorThatWasRolledBackToASavepoint) {
    const auto sql = connect(Access::write);
    ASSERT_TRUE(sql->begin(Access::write));
    for (std::int64_t i = 0; i < 100; ++i) {  // as requests of one group commit
        ASSERT_TRUE(sql->set_savepoint());
        const auto added = add_parent(*sql, i, i % 2 == 0 ? std::to_string(i) : "0");
        ASSERT_EQ(added.has_value(), i % 2 == 0);
        ASSERT_TRUE(added ? sql->release_savepoint() : sql->roll_back_to_savepoint());
    }
    ASSERT_TRUE(sql->commit());
    EXPECT_EQ(number(*sql, "SELECT count(*) FROM parent"), 50);
}

TEST_P(SqlContract, ForgetsWhatWasRolledBack) {
    const auto sql = connect(Access::write);
    sql->rollback();  // no effect outside a transaction
    ASSERT_TRUE(sql->begin(Access::write));
    ASSERT_TRUE(add_parent(*sql, 1, "one"));
    ASSERT_TRUE(sql->set_savepoint());
    sql->rollback();
    EXPECT_EQ(number(*sql, "SELECT count(*) FROM parent"), 0);
    ASSERT_TRUE(sql->begin(Access::write));  // and the savepoint is gone with it
    ASSERT_TRUE(sql->commit());
}

TEST_P(SqlContract, ForgetsATransactionWhoseConnectionIsClosed) {
    {
        const auto sql = connect(Access::write);
        ASSERT_TRUE(sql->begin(Access::write));
        ASSERT_TRUE(add_parent(*sql, 1, "one"));
    }
    EXPECT_EQ(number(*connect(Access::read), "SELECT count(*) FROM parent"), 0);
}

TEST_P(SqlContract, KeepsWhatWasCommittedWhenOpenedAgain) {
    {
        const auto sql = connect(Access::write);
        ASSERT_TRUE(sql->begin(Access::write));
        ASSERT_TRUE(add_parent(*sql, 1, "one"));
        ASSERT_TRUE(sql->commit());
        ASSERT_TRUE(add_parent(*sql, 2, "outside a transaction"));
        ASSERT_TRUE(sql->begin(Access::write));
        ASSERT_TRUE(add_parent(*sql, 3, "not committed"));
    }
    under_test().reopen();
    EXPECT_EQ(number(*connect(Access::write), "SELECT count(*) FROM parent"), 2);
}

TEST_P(SqlContract, ShowsAReaderTheStateAsOfBegin) {
    const auto writer = connect(Access::write);
    const auto reader = connect(Access::read);
    ASSERT_TRUE(add_parent(*writer, 1, "one"));
    ASSERT_TRUE(reader->begin(Access::read));
    ASSERT_TRUE(add_parent(*writer, 2, "two"));  // before the reader's first statement
    EXPECT_EQ(number(*reader, "SELECT count(*) FROM parent"), 1);
    ASSERT_TRUE(writer->execute("DELETE FROM parent"));
    EXPECT_EQ(number(*reader, "SELECT count(*) FROM parent"), 1);
    ASSERT_TRUE(reader->commit());
    EXPECT_EQ(number(*reader, "SELECT count(*) FROM parent"), 0);
}

TEST_P(SqlContract, LetsReadersAndTheWriterGoOnBesideEachOther) {
    const auto writer = connect(Access::write);
    const auto reader = connect(Access::read);
    ASSERT_TRUE(reader->begin(Access::read));
    ASSERT_TRUE(writer->begin(Access::write));
    ASSERT_TRUE(add_parent(*writer, 1, "one"));
    const auto late = connect(Access::read);  // begins and reads while a write is under way
    ASSERT_TRUE(late->begin(Access::read));
    EXPECT_EQ(number(*late, "SELECT count(*) FROM parent"), 0);
    const auto committed = writer->commit();
    ASSERT_TRUE(committed) << to_string(committed.error());
    EXPECT_EQ(number(*reader, "SELECT count(*) FROM parent"), 0);
    EXPECT_EQ(number(*late, "SELECT count(*) FROM parent"), 0);
}

TEST_P(SqlContract, TellsASecondWriterWithinItsDeadline) {
    const auto first = connect(Access::write);
    const auto second = connect(Access::write);
    ASSERT_TRUE(add_parent(*first, 1, "one"));
    ASSERT_TRUE(first->begin(Access::write));
    ASSERT_TRUE(first->execute("UPDATE parent SET size = 1"));

    const auto started = std::chrono::steady_clock::now();
    const auto attempt = [&]() -> Result<std::int64_t> {
        TRY(second->begin(Access::write));
        return second->execute("UPDATE parent SET size = 2");
    }();
    const auto waited = std::chrono::steady_clock::now() - started;
    EXPECT_EQ(code_of(attempt), ErrorCode::catalog_unavailable);
    EXPECT_LT(waited, GetParam().busy_deadline_max);
    second->rollback();

    ASSERT_TRUE(first->commit());
    ASSERT_TRUE(second->begin(Access::write));
    EXPECT_EQ(*second->execute("UPDATE parent SET size = 2"), 1);
    ASSERT_TRUE(second->commit());
}

TEST_P(SqlContract, RefusesWritesOnWhatOnlyReads) {
    const auto reader = connect(Access::read);
    EXPECT_EQ(code_of(add_parent(*reader, 1, "one")), ErrorCode::write_rejected);
    EXPECT_EQ(code_of(reader->begin(Access::write)), ErrorCode::write_rejected);
    EXPECT_EQ(code_of(reader->run_script("DROP TABLE child;")), ErrorCode::write_rejected);

    const auto writer = connect(Access::write);
    ASSERT_TRUE(writer->begin(Access::read));
    EXPECT_EQ(code_of(add_parent(*writer, 1, "one")), ErrorCode::write_rejected);
    writer->rollback();
    EXPECT_TRUE(add_parent(*writer, 1, "one"));
}

TEST_P(SqlContract, StreamsManyRowsInOrder) {
    constexpr std::int64_t kRows = 10'000;
    const auto sql = connect(Access::write);
    ASSERT_TRUE(sql->begin(Access::write));
    for (std::int64_t i = 0; i < kRows; ++i) {
        ASSERT_TRUE(sql->execute("INSERT INTO kept (id, i, t) VALUES (?, ?, ?)",
                                 {i, i * i, "row " + std::to_string(i)}));
    }
    ASSERT_TRUE(sql->commit());
    std::int64_t seen = 0;
    const auto streamed =
        sql->run("SELECT id, i, t FROM kept ORDER BY id", {}, [&](const SqlRow& row) {
            ASSERT_EQ(row, (SqlRow{seen, seen * seen, "row " + std::to_string(seen)}));
            seen += 1;
        });
    ASSERT_TRUE(streamed) << to_string(streamed.error());
    EXPECT_EQ(seen, kRows);
}

TEST_P(SqlContract, ShowsEachThreadWholeTransactionsOnly) {
    {
        const auto sql = connect(Access::write);
        ASSERT_TRUE(sql->execute("INSERT INTO kept (id, i) VALUES (1, 500), (2, 500)"));
    }
    std::atomic<bool> finished = false;
    std::atomic<int> torn = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            const auto sql = connect(Access::read);
            do {
                const bool begun = sql->begin(Access::read).has_value();
                std::int64_t sum = 0;
                for (std::int64_t id = 1; id <= 2; ++id) {
                    const auto rows = sql->query("SELECT i FROM kept WHERE id = ?", {id});
                    if (rows) sum += std::get<std::int64_t>((*rows)[0][0]);
                }
                if (!begun || sum != 1000 || !sql->commit()) torn += 1;
            } while (!finished);
        });
    }
    const auto sql = connect(Access::write);
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(sql->begin(Access::write));
        ASSERT_TRUE(sql->execute("UPDATE kept SET i = i - 1 WHERE id = 1"));
        ASSERT_TRUE(sql->execute("UPDATE kept SET i = i + 1 WHERE id = 2"));
        ASSERT_TRUE(sql->commit());
    }
    finished = true;
    for (auto& reader : readers) reader.join();
    EXPECT_EQ(torn, 0);
}

}  // namespace baton::testing
