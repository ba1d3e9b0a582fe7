// The DuckDB that scripts/setup installed links, starts, and is of the version of its headers.
#include <cstdint>
#include <string>

#include <duckdb.h>
#include <gtest/gtest.h>

namespace {

class DuckDb : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(duckdb_open(nullptr, &database_), DuckDBSuccess);
        ASSERT_EQ(duckdb_connect(database_, &connection_), DuckDBSuccess);
    }

    void TearDown() override {
        duckdb_disconnect(&connection_);
        duckdb_close(&database_);
    }

    // The one value of a query that gives one row of one column.
    std::string value_of(const char* sql) {
        duckdb_result result{};
        const auto outcome = duckdb_query(connection_, sql, &result);
        EXPECT_EQ(outcome, DuckDBSuccess) << duckdb_result_error(&result);
        char* text = duckdb_value_varchar(&result, 0, 0);
        std::string value = text == nullptr ? "NULL" : text;
        duckdb_free(text);
        duckdb_destroy_result(&result);
        return value;
    }

private:
    duckdb_database database_ = nullptr;
    duckdb_connection connection_ = nullptr;
};

TEST_F(DuckDb, IsOfTheVersionOfItsHeaders) {
    EXPECT_STREQ(duckdb_library_version(), DUCKDB_HEADER_VERSION);
    EXPECT_EQ(value_of("SELECT source_id FROM pragma_version()"), DUCKDB_HEADER_SOURCE_ID);
}

TEST_F(DuckDb, AnswersAQuery) {
    EXPECT_EQ(value_of("SELECT 42"), "42");
}

}  // namespace
