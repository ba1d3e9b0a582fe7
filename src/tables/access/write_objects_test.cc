#include "tables/access/write_objects.h"

#include <atomic>
#include <filesystem>
#include <set>

#include "tables/access/access_test.h"

namespace baton::tables {
namespace {

class WriteObjectsTest : public AccessTest {
protected:
    Process& make(const Table& table) {
        one_ = process();
        const auto made = one_.access->create(table, {});
        EXPECT_TRUE(made) << to_string(made.error());
        return one_;
    }
    Result<Added> fill(const Table& table, const std::string& text) {
        return answer_of(one_.ingest->add(question(table, text)));
    }
    std::set<std::optional<std::string>> values(const Table& table, const std::string& column) {
        std::set<std::optional<std::string>> values;
        for (const TableObject& object : objects(one_, table)) {
            values.insert(object.partition.at(column));
        }
        return values;
    }

    Process one_;
};

TEST_F(WriteObjectsTest, EachPartitionHasItsObject) {
    const Table t =
        table({column("n", "BIGINT"), column("day", "DATE"), column("s", "VARCHAR")}, "DAY, s");
    make(t);
    const auto added = fill(t,
                            "SELECT i, DATE '2026-01-01' + (i % 2)::INT, "
                            "CASE WHEN i % 3 = 0 THEN NULL ELSE 'x' END FROM range(60) r(i)");
    ASSERT_TRUE(added) << to_string(added.error());
    EXPECT_EQ(added->rows, 60U);
    EXPECT_EQ(objects(one_, t).size(), 4U);
    EXPECT_EQ(values(t, "day"), (std::set<std::optional<std::string>>{"2026-01-01", "2026-01-02"}));
    EXPECT_EQ(values(t, "s"), (std::set<std::optional<std::string>>{std::nullopt, "x"}));
    EXPECT_EQ(ask(one_, t, "SELECT day, s, count(*), sum(n) FROM t GROUP BY ALL ORDER BY ALL"),
              "2026-01-01|x|20|600\n2026-01-01|NULL|10|270\n"
              "2026-01-02|x|20|600\n2026-01-02|NULL|10|300\n");
}

TEST_F(WriteObjectsTest, OddTextsComeBackAsTheyWere) {
    const Table t = table({column("s", "VARCHAR"), column("n", "BIGINT")}, "s");
    make(t);
    const std::vector<std::string> odd = {"a/b",       "../up",
                                          "a=b",       "100%",
                                          "\"q\"",     "it's",
                                          " space ",   "\xc3\xa4\xe2\x82\xac",
                                          "NULL",      "__HIVE_DEFAULT_PARTITION__",
                                          "tab\there", "$1",
                                          "\\",        std::string(300, 'l')};
    std::vector<ConstantRow> all;
    for (const std::string& text : odd) all.push_back({Constant(text), std::int64_t{1}});
    const auto added = answer_of(one_.ingest->add(rows(t, all)));
    ASSERT_TRUE(added) << to_string(added.error());
    EXPECT_EQ(objects(one_, t).size(), odd.size());
    for (const std::string& text : odd) {
        EXPECT_TRUE(values(t, "s").contains(text)) << text;
        std::string quoted = text;
        for (std::size_t i = 0; (i = quoted.find('\'', i)) != std::string::npos; i += 2) {
            quoted.insert(i, "'");
        }
        EXPECT_EQ(ask(one_, t, "SELECT n FROM t WHERE s = '" + quoted + "'"), "1\n") << text;
    }
    EXPECT_EQ(ask(one_, t, "SELECT count(*) FROM t"), std::to_string(odd.size()) + "\n");
}

TEST_F(WriteObjectsTest, AValueThatTheLogCannotSayIsRefused) {
    const Table t = table({column("s", "VARCHAR"), column("n", "BIGINT")}, "s");
    make(t);
    const auto added = fill(t, "SELECT '', 1");
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, ErrorCode::cannot_convert) << added.error().message;
    EXPECT_TRUE(stored_objects().empty());
}

TEST_F(WriteObjectsTest, TypesOfPartitionsComeBack) {
    for (const auto& [type, value] : std::vector<std::pair<std::string, std::string>>{
             {"BOOLEAN", "true"},
             {"SMALLINT", "(-7)"},
             {"DECIMAL(10,2)", "12.50"},
             {"TIMESTAMP", "TIMESTAMP '2026-01-02 03:04:05.678'"},
             {"DATE", "DATE '0044-03-15'"}}) {
        Table t = table({column("p", type), column("n", "BIGINT")}, "p");
        t.location = "tables/" + type.substr(0, type.find('('));
        make(t);
        const auto added = fill(t, "SELECT " + value + ", 1 UNION ALL SELECT NULL, 2");
        ASSERT_TRUE(added) << type << to_string(added.error());
        EXPECT_EQ(ask(one_, t, "SELECT n FROM t WHERE p = " + value), "1\n") << type;
        EXPECT_EQ(ask(one_, t, "SELECT n FROM t WHERE p IS NULL"), "2\n") << type;
    }
}

TEST_F(WriteObjectsTest, RealNumbersArePartitionsOfNoTable) {
    const auto made = process().access->create(table({column("p", "DOUBLE")}, "p"), {});
    EXPECT_EQ(made.error().code, ErrorCode::type_mismatch);
}

TEST_F(WriteObjectsTest, APartitionColumnThatIsLeftOutIsNull) {
    const Table t =
        table({column("n", "BIGINT"), column("p", "VARCHAR"), column("q", "DATE")}, "p,q");
    make(t);
    Addition addition = question(t, "SELECT i FROM range(3) r(i)");
    addition.columns = {"n"};
    auto added = answer_of(one_.ingest->add(std::move(addition)));
    ASSERT_TRUE(added) << to_string(added.error());
    addition = question(t, "SELECT DATE '2026-01-01', 9");
    addition.columns = {"q", "n"};
    added = answer_of(one_.ingest->add(std::move(addition)));
    ASSERT_TRUE(added) << to_string(added.error());
    EXPECT_EQ(ask(one_, t, "SELECT p, q, sum(n) FROM t GROUP BY ALL ORDER BY ALL"),
              "NULL|2026-01-01|9\nNULL|NULL|3\n");
}

TEST_F(WriteObjectsTest, TooManyPartitionsAddNothing) {
    const Table t = table({column("p", "BIGINT"), column("n", "BIGINT")}, "p");
    make(t);
    const auto added = fill(t, "SELECT i, 1 FROM range(1001) r(i)");
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, ErrorCode::too_large);
    EXPECT_TRUE(stored_objects().empty());
    EXPECT_EQ(newest(one_, t)->version(), 0);
}

TEST_F(WriteObjectsTest, ObjectsOfPartitionsAreTakenBackTogether) {
    const Table t = table({column("p", "BIGINT"), column("n", "BIGINT")}, "p");
    make(t);
    std::atomic<int> puts = 0;
    store_->watch_puts([&](const std::string&) -> std::optional<Error> {
        if (++puts < 4) return std::nullopt;
        return Error{.code = ErrorCode::store_full, .message = "the disk is full"};
    });
    EXPECT_EQ(fill(t, "SELECT i, 1 FROM range(10) r(i)").error().code, ErrorCode::store_full);
    EXPECT_TRUE(stored_objects().empty());
}

TEST_F(WriteObjectsTest, NoFileStaysInTheWorkFolder) {
    const Table t = table({column("p", "BIGINT"), column("d", "DATE")}, "p");
    make(t);
    ASSERT_TRUE(fill(t, "SELECT i, DATE '2026-01-01' FROM range(5) r(i)"));
    ASSERT_FALSE(fill(t, "SELECT i, 'x' FROM range(5) r(i)"));
    for (const auto& entry :
         std::filesystem::directory_iterator(one_.access->parts().work_folder)) {
        EXPECT_TRUE(entry.is_directory()) << entry.path();
    }
}

TEST_F(WriteObjectsTest, ObjectsHaveTheirFacts) {
    const Table t = table({column("n", "BIGINT")});
    make(t);
    ASSERT_TRUE(fill(t, "SELECT i FROM range(5, 15) r(i)"));
    const auto all = objects(one_, t);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].rows, 10U);
    EXPECT_EQ(all[0].ranges.at("n").min, "5");
    EXPECT_EQ(all[0].ranges.at("n").max, "14");
    EXPECT_EQ(all[0].checksum.size(), 16U);
    const auto opened = one_.access->open(t);
    EXPECT_EQ(std::filesystem::file_size(one_.access->local_file(**opened, all[0], {})->path),
              all[0].bytes);
}

}  // namespace
}  // namespace baton::tables
