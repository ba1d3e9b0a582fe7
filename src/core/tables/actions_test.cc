#include "core/tables/actions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/tables/values.h"

namespace baton::tables {
namespace {

Layout layout() {
    Layout layout;
    for (const auto& [name, type] : std::vector<std::pair<std::string, std::string>>{
             {"day", "DATE"},
             {"place", "VARCHAR"},
             {"ts", "TIMESTAMP"},
             {"n", "BIGINT"},
             {"x", "DOUBLE"},
             {"f", "REAL"},
             {"price", "DECIMAL(10,2)"},
             {"name", "VARCHAR"},
             {"flag", "BOOLEAN"},
             {"raw", "BLOB"},
         }) {
        layout.columns.push_back({.name = name, .type = *table_type_of(type)});
    }
    layout.partition_by = {"day", "place"};
    return layout;
}

Action read_one(const std::string& line) {
    const Layout columns = layout();
    const auto action = read_action(line, &columns, {});
    EXPECT_TRUE(action) << line;
    EXPECT_TRUE(action && *action) << line;
    return action && *action ? **action : Action(CommitInfo{});
}

std::string error_of(const std::string& line) {
    const Layout columns = layout();
    const auto action = read_action(line, &columns, {});
    EXPECT_FALSE(action) << line;
    return action ? "" : action.error().message;
}

TEST(Actions, AnObjectIsReadWithItsStatistics) {
    const auto add = std::get<AddObject>(read_one(
        R"({"add":{"path":"day=2026-11-15/a%20b%2520c.parquet",)"
        R"("partitionValues":{"day":"2026-11-15","place":""},"size":7,)"
        R"("modificationTime":1700000000123,"dataChange":false,"stats":"{\"numRecords\":3,)"
        R"(\"minValues\":{\"ts\":\"2026-11-15T09:46:16.123Z\",\"n\":-5,\"x\":1.5,)"
        R"(\"name\":\"ab\",\"price\":12.5},\"maxValues\":{\"n\":18446744073709551615,)"
        R"(\"x\":\"NaN\",\"name\":7,\"price\":0.001},\"nullCount\":{\"n\":0,\"raw\":1,)"
        R"(\"day\":0}}","tags":{"baton.xxh3":"0123456789abcdef","ZCUBE_ID":"x"}}})"));
    const TableObject& object = add.object;
    EXPECT_EQ(object.key, "day=2026-11-15/a b%20c.parquet");
    EXPECT_EQ(object.partition.at("day"), "2026-11-15");
    EXPECT_EQ(object.partition.at("place"), std::nullopt);
    EXPECT_EQ(object.rows, 3U);
    EXPECT_EQ(object.ranges.at("ts").min, "2026-11-15T09:46:16.123000Z");
    EXPECT_EQ(object.ranges.at("n"), (TableObject::Range{.min = "-5", .nulls = 0}));
    EXPECT_EQ(object.ranges.at("x"), (TableObject::Range{.min = "1.5"}));
    EXPECT_EQ(object.ranges.at("name"), (TableObject::Range{.min = "ab"}));
    EXPECT_EQ(object.ranges.at("price"), (TableObject::Range{.min = "12.50"}));
    EXPECT_EQ(object.ranges.at("raw"), (TableObject::Range{.nulls = 1}));
    EXPECT_FALSE(object.ranges.contains("day"));
    EXPECT_EQ(object.checksum, "0123456789abcdef");
    EXPECT_EQ(add.other_tags, R"({"ZCUBE_ID":"x"})");
    EXPECT_FALSE(add.data_change);
}

TEST(Actions, DamagedStatisticsAreNoStatistics) {
    for (const std::string stats : {"", "{", "[]", "1", R"({\"numRecords\":-1})",
                                    R"({\"minValues\":1,\"maxValues\":[],\"nullCount\":\"x\"})"}) {
        const auto add = std::get<AddObject>(
            read_one(R"({"add":{"path":"a","partitionValues":{"day":null,"place":"x"},"size":7,)"
                     R"("stats":")" +
                     stats + R"("}})"));
        EXPECT_EQ(add.object.rows, std::nullopt) << stats;
        EXPECT_TRUE(add.object.ranges.empty()) << stats;
    }
}

TEST(Actions, APathStaysBelowTheTable) {
    const auto add = [](const std::string& path) {
        return R"({"add":{"path":")" + path + R"(","partitionValues":{},"size":1}})";
    };
    for (const std::string path : {"", "..", "a/../b", "./a", "a//b", "a/", "%2e%2e/a", "a%00",
                                   "a%1f", "a%", "a%2", "a%zz", "%ff"}) {
        EXPECT_NE(error_of(add(path)).find("damaged"), std::string::npos) << path;
    }
    for (const std::string path : {"/etc/passwd", "s3://other/a", "file:/a"}) {
        EXPECT_EQ(error_of(add(path)), "the table has objects outside of its location") << path;
    }
    EXPECT_FALSE(key_of_path(std::string(901, 'a')));
    EXPECT_TRUE(key_of_path(std::string(900, 'a')));
}

TEST(Actions, UnknownActionsAndFieldsAreIgnored) {
    const Layout columns = layout();
    for (const std::string line : {"{}", R"({"domainMetadata":{"domain":"x"}})", R"({"cdc":{}})",
                                   R"({"add":null})", R"({"sidecar":{"path":"x"},"new":1})"}) {
        const auto action = read_action(line, &columns, {});
        ASSERT_TRUE(action) << line;
        EXPECT_FALSE(*action) << line;
    }
    EXPECT_EQ(
        std::get<Transaction>(read_one(R"({"add":null,"txn":{"appId":"a","version":5,"z":1}})")),
        (Transaction{.application = "a", .version = 5}));
}

TEST(Actions, DamageIsRefused) {
    for (const std::string line :
         {"", "[]", "7", "{\"add\":{}}", R"({"add":{"path":"a","partitionValues":{}}})",
          R"({"add":{"path":"a","size":1}})",
          R"({"add":{"path":"a","size":1,"partitionValues":{"day":"x","place":"y"}}})",
          R"({"add":{"path":"a","size":1,"partitionValues":{"day":1,"place":"y"}}})",
          R"({"remove":{}})", R"({"txn":{"appId":"a"}})",
          R"({"txn":{"appId":"a","version":18446744073709551615}})", R"({"protocol":{}})",
          R"({"metaData":{"id":"x"}})", R"({"metaData":{"schemaString":"{"}})"}) {
        EXPECT_FALSE(error_of(line).empty()) << line;
    }
}

TEST(Actions, ADeletionVectorIsRefusedByItsName) {
    EXPECT_EQ(error_of(R"({"add":{"path":"a","size":1,"deletionVector":{"storageType":"u"}}})"),
              "the table uses the feature \"deletionVectors\"");
}

TEST(Actions, TheColumnsOfAnEntryComeFirst) {
    const std::string text =
        R"({"add":{"path":"metaData","partitionValues":{"p":"1"},"size":1}})"
        "\n\n"
        R"({"metaData":{"id":"i","schemaString":"{\"fields\":[{\"name\":\"p\",\"type\":\"long\"},)"
        R"({\"name\":\"v\",\"type\":\"long\"}]}","partitionColumns":["p"]}})"
        "\r\n"
        R"({"protocol":{"minReaderVersion":1,"minWriterVersion":2}})";
    const auto actions = read_entry(text, nullptr, {});
    ASSERT_TRUE(actions);
    ASSERT_EQ(actions->size(), 3U);
    EXPECT_TRUE(std::holds_alternative<Protocol>((*actions)[0]));
    EXPECT_TRUE(std::holds_alternative<Metadata>((*actions)[1]));
    EXPECT_EQ(std::get<AddObject>((*actions)[2]).object.partition.at("p"), "1");
}

TEST(Actions, ALongTextIsCutSoThatItStaysABound) {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "\xc3\xa4";
    EXPECT_EQ(shortened_min(text), text.substr(0, 64));
    EXPECT_EQ(shortened_max(text), text.substr(0, 64) + "\xF4\x8F\xBF\xBF");
    EXPECT_GE(*shortened_max(text), text);
    EXPECT_EQ(certain_part(*shortened_max(text)), text.substr(0, 64));
    EXPECT_EQ(shortened_max("abc"), "abc");
    EXPECT_EQ(shortened_max(std::string(32, 'a') + "\xF4\x8F\xBF\xBFz"), std::nullopt);
}

TEST(Actions, TimestampsOfStatisticsAreWidenedToMilliseconds) {
    TableObject object;
    object.ranges["ts"] = {.min = "2026-11-15 09:46:16.123456",
                           .max = "2026-11-15 09:46:16.123456"};
    const TableObject said = normalised(object, layout());
    EXPECT_EQ(said.ranges.at("ts").min, "2026-11-15T09:46:16.123000Z");
    EXPECT_EQ(said.ranges.at("ts").max, "2026-11-15T09:46:16.124000Z");
    object.ranges["ts"] = {.min = "1969-12-31 23:59:59.9999", .max = "9999-12-31 23:59:59.999999"};
    EXPECT_EQ(normalised(object, layout()).ranges.at("ts").min, "1969-12-31T23:59:59.999000Z");
    EXPECT_EQ(normalised(object, layout()).ranges.at("ts").max, std::nullopt);
}

rc::Gen<std::optional<std::string>> maybe(const rc::Gen<std::string>& text) {
    return rc::gen::map(rc::gen::pair(rc::gen::arbitrary<bool>(), text), [](const auto& drawn) {
        return drawn.first ? std::optional(drawn.second) : std::nullopt;
    });
}

TableObject drawn_object() {
    const auto letters = rc::gen::container<std::string>(
        rc::gen::element('a', 'Z', '%', '/', '"', '\\', ' ', '\n', '\t', '~', '='));
    const auto number = rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                                     [](std::int64_t n) { return std::to_string(n); });
    const auto digits = rc::gen::map(rc::gen::arbitrary<std::int32_t>(), [](std::int32_t n) {
        return std::to_string(n) + "." + std::to_string(10 + std::abs(n % 90));
    });
    const auto real = rc::gen::map(rc::gen::arbitrary<double>(), [](double x) {
        return floating_text({.kind = SqlType::Kind::double_precision}, x);
    });
    const auto time = rc::gen::map(rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000),
                                   [](std::int64_t t) { return to_string(WallTime(Duration(t))); });
    const auto range = [&](const rc::Gen<std::string>& text) {
        return TableObject::Range{.min = *maybe(text), .max = *maybe(text), .nulls = 3};
    };
    TableObject object{.key = "a" + *rc::gen::container<std::string>(
                                        rc::gen::element('b', ' ', '%', '+', ':', '=', '"')),
                       .bytes = *rc::gen::arbitrary<std::uint64_t>(),
                       .rows = 10};
    object.partition["day"] = *maybe(rc::gen::just(std::string("2026-11-15")));
    object.partition["place"] = "x" + *letters;
    object.ranges["ts"] = range(time);
    object.ranges["n"] = range(number);
    object.ranges["x"] = range(real);
    object.ranges["f"] = range(real);
    object.ranges["price"] = range(digits);
    object.ranges["name"] = range(letters);
    object.ranges["raw"] = range(letters);
    object.checksum = *rc::gen::element(std::string(), std::string("0123456789abcdef"));
    object.modified = WallTime(Duration(*rc::gen::inRange(0, 1'000'000'000)));
    return object;
}

RC_GTEST_PROP(ActionsProperty, TextIsReadBackTheSame, ()) {
    const Layout columns = layout();
    const AddObject add{.object = normalised(drawn_object(), columns),
                        .data_change = *rc::gen::arbitrary<bool>()};
    const std::string text = to_text(add, columns);
    RC_ASSERT(std::count(text.begin(), text.end(), '\n') == 1);
    const auto read = read_entry(text, &columns, {});
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == std::vector<Action>{add});
    RC_ASSERT(normalised(add.object, columns) == add.object);
}

}  // namespace
}  // namespace baton::tables
