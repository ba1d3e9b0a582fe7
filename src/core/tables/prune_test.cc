#include "core/tables/prune.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/prng.h"
#include "core/tables/commit_plan.h"
#include "core/tables/values.h"

namespace baton::tables {
namespace {

using Is = Bound::Is;
using Kind = SqlType::Kind;

Layout table_of(const std::vector<std::pair<std::string, std::string>>& columns,
                std::vector<std::string> partition_by) {
    Layout layout{.partition_by = std::move(partition_by)};
    for (const auto& [name, type] : columns) {
        layout.columns.push_back({.name = name, .type = *table_type_of(type)});
    }
    return layout;
}

Layout wide() {
    return table_of({{"day", "DATE"},
                     {"place", "VARCHAR"},
                     {"n", "BIGINT"},
                     {"small", "SMALLINT"},
                     {"x", "DOUBLE"},
                     {"f", "REAL"},
                     {"price", "DECIMAL(6,2)"},
                     {"name", "VARCHAR"},
                     {"ts", "TIMESTAMP"},
                     {"raw", "BLOB"}},
                    {"day", "place"});
}

Snapshot snapshot_of(const Layout& layout, const std::vector<TableObject>& objects) {
    const CommitStamp stamp{.now = WallTime(), .engine = "t", .nonce = "n"};
    const auto first = first_entry(
        {.id = "i", .name = "t", .columns = layout.columns, .partition_by = layout.partition_by},
        stamp);
    CHECK(first);
    auto empty = apply(Snapshot(), *first, {});
    CHECK(empty);
    const auto plan = plan_commit(*empty, {.add = objects}, stamp);
    CHECK(plan);
    auto snapshot = apply(*empty, std::get<NextEntry>(*plan).text, {});
    CHECK(snapshot);
    return *std::move(snapshot);
}

// A value of a row: NULL, or a text of values.h; NaN for a number.
using Row = std::map<std::string, std::optional<std::string>>;

// -1, 0, 1 by the order of the engine: NaN is greater than every number.
int compared(const SqlType& type, const std::string& a, const std::string& b) {
    const auto sign = [](const auto& left, const auto& right) {
        return left < right ? -1 : right < left ? 1 : 0;
    };
    if (order_of(type) == Order::whole) return sign(*whole_of(type, a), *whole_of(type, b));
    if (order_of(type) == Order::text) return sign(a, b);
    if (a == "NaN" || b == "NaN") return sign(a == "NaN", b == "NaN");
    // As it is written: a REAL is a DOUBLE with few digits.
    return sign(*floating_of(type, a), *floating_of({.kind = Kind::double_precision}, b));
}

bool is_true(const Bound& bound, const SqlType& type, const std::optional<std::string>& value) {
    if (bound.is == Is::null) return !value;
    if (bound.is == Is::not_null) return value.has_value();
    if (!value) return false;
    return std::any_of(bound.values.begin(), bound.values.end(), [&](const std::string& other) {
        const int order = compared(type, *value, other);
        switch (bound.is) {
            case Is::equal:
            case Is::one_of:
                return order == 0;
            case Is::less:
                return order < 0;
            case Is::less_or_equal:
                return order <= 0;
            case Is::greater:
                return order > 0;
            case Is::greater_or_equal:
                return order >= 0;
            case Is::null:
            case Is::not_null:
                break;
        }
        return false;
    });
}

class Drawing {
public:
    explicit Drawing(std::uint64_t seed) : prng_(seed) {}

    bool chance(std::uint64_t n) { return prng_.chance(1, n); }
    std::uint64_t below(std::uint64_t n) { return prng_.between(0, n - 1); }

    std::string value(const SqlType& type) {
        const auto number = static_cast<std::int64_t>(below(9)) - 4;
        if (type.kind == Kind::date) return whole_text(type, number);
        if (type.kind == Kind::timestamp) return whole_text(type, number * 500 + 1'000'000);
        if (type.kind == Kind::decimal) return whole_text(type, number * 25);
        if (order_of(type) == Order::floating) {
            return one_of({"-1.5", "0.1", "0.7", "1", "3.25", "-0.0", "Infinity", "-Infinity"});
        }
        if (order_of(type) != Order::text) return std::to_string(number);
        // Long beginnings that are the same, and characters of all sizes.
        std::string text = chance(2) ? std::string(31, 'a') : "";
        for (std::uint64_t i = below(4) + 1; i > 0; --i) {
            text += one_of(
                {"a", "b", "\xc3\xa4", "\xF4\x8F\xBF\xBF", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80"});
        }
        return text;
    }

    std::string one_of(const std::vector<std::string>& some) { return some[below(some.size())]; }

    std::optional<std::string> maybe(const SqlType& type) {
        if (chance(5)) return std::nullopt;
        const bool floating = type.kind == Kind::real || type.kind == Kind::double_precision;
        if (floating && chance(6)) return "NaN";
        return value(type);
    }

    Bound bound(const Layout& layout) {
        const SqlField& field = layout.columns[below(layout.columns.size())];
        Bound bound{.column = field.name, .is = static_cast<Is>(below(8))};
        const std::uint64_t values = bound.is == Is::one_of ? below(4) : 1;
        for (std::uint64_t i = 0; i < values; ++i) bound.values.push_back(value(field.type));
        if (bound.is == Is::null || bound.is == Is::not_null) bound.values.clear();
        return bound;
    }

private:
    Prng prng_;
};

// What a writer says of rows. `without_nan`: engines that leave NaN out of their statistics.
TableObject object_of(const std::string& key, const std::vector<Row>& rows, const Layout& layout,
                      Drawing& draw) {
    TableObject object{.key = key, .bytes = 1};
    if (!draw.chance(6)) object.rows = rows.size();
    for (const SqlField& field : layout.columns) {
        if (layout.is_partition(field.name)) {
            object.partition[field.name] = rows.front().at(field.name);
            continue;
        }
        if (draw.chance(6)) continue;
        TableObject::Range range{.nulls = 0};
        for (const Row& row : rows) {
            const auto& value = row.at(field.name);
            if (!value) *range.nulls += 1;
            if (!value || *value == "NaN") continue;
            if (!range.min || compared(field.type, *value, *range.min) < 0) range.min = value;
            if (!range.max || compared(field.type, *value, *range.max) > 0) range.max = value;
        }
        if (draw.chance(8)) range.nulls.reset();
        object.ranges[field.name] = range;
    }
    return object;
}

RC_GTEST_PROP(PruneProperty, AnObjectWithAMatchingRowIsNeverLeftOut, ()) {
    Drawing draw(*rc::gen::arbitrary<std::uint64_t>());
    const Layout layout = wide();
    std::vector<std::vector<Row>> rows;
    std::vector<TableObject> objects;
    for (std::uint64_t i = draw.below(6) + 1; i > 0; --i) {
        std::vector<Row> some(draw.below(4) + 1);
        for (Row& row : some) {
            for (const SqlField& field : layout.columns) row[field.name] = draw.maybe(field.type);
            for (const std::string& name : layout.partition_by) row[name] = some.front()[name];
        }
        objects.push_back(object_of("k" + std::to_string(rows.size()), some, layout, draw));
        rows.push_back(std::move(some));
    }
    const Snapshot snapshot = snapshot_of(layout, objects);
    for (int question = 0; question < 40; ++question) {
        std::vector<Bound> bounds(draw.below(3) + 1);
        for (Bound& bound : bounds) bound = draw.bound(layout);
        std::set<std::string> kept;
        for (const ObjectPlace place : prune(snapshot, bounds)) {
            kept.emplace(snapshot.key(place));
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const bool matches = std::any_of(rows[i].begin(), rows[i].end(), [&](const Row& row) {
                return std::all_of(bounds.begin(), bounds.end(), [&](const Bound& bound) {
                    return is_true(bound, layout.find(bound.column)->type, row.at(bound.column));
                });
            });
            RC_ASSERT(!matches || kept.contains("k" + std::to_string(i)));
        }
    }
}

std::size_t kept(const Snapshot& snapshot, const std::vector<Bound>& bounds) {
    return prune(snapshot, bounds).size();
}

TEST(Prune, LeavesOutWhatCannotMatch) {
    const Layout layout = wide();
    TableObject object{.key = "a", .bytes = 1, .rows = 10};
    object.partition = {{"day", "2026-11-15"}, {"place", std::nullopt}};
    object.ranges["n"] = {.min = "10", .max = "20", .nulls = 0};
    object.ranges["x"] = {.min = "1.5", .max = "2.5", .nulls = 0};
    object.ranges["name"] = {.min = "b", .max = std::string(40, 'c'), .nulls = 0};
    object.ranges["raw"] = {.nulls = 10};
    object.ranges["ts"] = {.min = "2026-11-15 00:00:00", .max = "2026-11-15 00:00:01.5"};
    const Snapshot snapshot = snapshot_of(layout, {object});
    const auto none = [&](const Bound& bound) { return kept(snapshot, {bound}) == 0; };
    EXPECT_EQ(kept(snapshot, {}), 1U);
    EXPECT_TRUE(none({"n", Is::less, {"10"}}));
    EXPECT_TRUE(none({"n", Is::greater, {"20"}}));
    EXPECT_TRUE(none({"n", Is::equal, {"21"}}));
    EXPECT_TRUE(none({"n", Is::one_of, {"1", "2", "30"}}));
    EXPECT_TRUE(none({"n", Is::null, {}}));
    EXPECT_FALSE(none({"n", Is::one_of, {"1", "15"}}));
    EXPECT_FALSE(none({"n", Is::greater_or_equal, {"20"}}));
    EXPECT_TRUE(none({"x", Is::less, {"1.5"}}));
    EXPECT_FALSE(none({"x", Is::greater, {"100"}}));  // NaN may be there
    EXPECT_TRUE(none({"x", Is::equal, {"100"}}));
    EXPECT_TRUE(none({"name", Is::greater, {"d"}}));
    EXPECT_FALSE(none({"name", Is::greater, {std::string(35, 'c')}}));
    EXPECT_TRUE(none({"raw", Is::not_null, {}}));
    EXPECT_TRUE(none({"day", Is::equal, {"2026-11-16"}}));
    EXPECT_FALSE(none({"day", Is::greater_or_equal, {"2026-11-15"}}));
    EXPECT_TRUE(none({"place", Is::equal, {"x"}}));
    EXPECT_FALSE(none({"place", Is::null, {}}));
    EXPECT_TRUE(none({"ts", Is::greater, {"2026-11-15T00:00:02Z"}}));
    EXPECT_FALSE(none({"ts", Is::greater, {"2026-11-15T00:00:01.500500Z"}}));
}

TEST(Prune, ABoundThatCannotBeUsedLeavesOutNothing) {
    const Layout layout = wide();
    TableObject object{.key = "a", .bytes = 1, .rows = 10};
    object.partition = {{"day", "2026-11-15"}, {"place", "x"}};
    object.ranges["n"] = {.min = "10", .max = "20", .nulls = 0};
    object.ranges["price"] = {.min = "1.00", .max = "2.00", .nulls = 0};
    const Snapshot snapshot = snapshot_of(layout, {object});
    for (const Bound& bound : std::vector<Bound>{{"moon", Is::equal, {"1"}},
                                                 {"n", Is::less, {"1.5"}},
                                                 {"n", Is::less, {"x"}},
                                                 {"n", Is::less, {}},
                                                 {"n", Is::less, {"1", "2"}},
                                                 {"n", Is::equal, {"99999999999999999999"}},
                                                 {"price", Is::less, {"0.001"}},
                                                 {"small", Is::less, {"-100"}},
                                                 {"day", Is::equal, {"yesterday"}}}) {
        EXPECT_EQ(kept(snapshot, {bound}), 1U) << bound.column;
    }
}

// The size of a table for which snapshots are made: see docs/TABLES.md for measured figures.
TEST(Prune, AMillionObjectsAreFewHundredMegabytesAndLookedThroughQuickly) {
    const Layout layout = table_of({{"day", "DATE"},
                                    {"ts", "TIMESTAMP"},
                                    {"series", "BIGINT"},
                                    {"value", "DOUBLE"},
                                    {"name", "VARCHAR"}},
                                   {"day"});
    const bool large = std::getenv("BATON_LARGE") != nullptr;
    const int count = large ? 1'000'000 : 20'000;
    SnapshotBuilder builder(snapshot_of(layout, {}));
    for (int i = 0; i < count; ++i) {
        AddObject add;
        TableObject& object = add.object;
        object.key = "day=2026-11-15/part-0b9a7f5e-0000-4000-8000-" +
                     std::to_string(100'000'000'000 + i) + ".parquet";
        object.checksum = "0123456789abcdef";
        object.bytes = 1'000'000;
        object.rows = 10'000;
        object.partition["day"] = whole_text({.kind = Kind::date}, 20'000 + i / 10'000);
        const auto number = [&](std::int64_t n) { return std::to_string(n); };
        const SqlType timestamp{.kind = Kind::timestamp};
        object.ranges["ts"] = {.min = whole_text(timestamp, 1'000'000LL * i),
                               .max = whole_text(timestamp, 1'000'000LL * (i + 1)),
                               .nulls = 0};
        object.ranges["series"] = {.min = number(i), .max = number(i + 1'000), .nulls = 0};
        object.ranges["value"] = {.min = "0.5", .max = "99.5", .nulls = 3};
        object.ranges["name"] = {.min = "device-" + number(i), .max = "device-z", .nulls = 0};
        ASSERT_TRUE(builder.apply(std::move(add)));
    }
    const auto snapshot = builder.finish(2);
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->totals().objects, static_cast<std::uint64_t>(count));
    std::size_t bytes = 0;
    for (const auto& block : snapshot->blocks()) bytes += sizeof(Block) + block->memory();
    EXPECT_LT(bytes / static_cast<std::size_t>(count), 300U);
    const auto start = std::chrono::steady_clock::now();
    const std::size_t found =
        kept(*snapshot, {{"ts", Is::greater_or_equal, {"1970-01-01T01:00:00Z"}},
                         {"ts", Is::less, {"1970-01-01T01:00:10Z"}}});
    const auto times = kept(*snapshot, {{"name", Is::equal, {"device-5"}}});
    const auto end = std::chrono::steady_clock::now();
    EXPECT_GE(found, 10U);
    EXPECT_LE(found, 20U);
    EXPECT_GT(times, 0U);
    if (large) {
        std::printf(
            "%d objects: %zu bytes each, both questions in %lld us\n", count,
            bytes / static_cast<std::size_t>(count),
            static_cast<long long>(
                std::chrono::duration_cast<std::chrono::microseconds>(end - start).count()));
    }
}

}  // namespace
}  // namespace baton::tables
