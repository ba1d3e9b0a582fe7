#include "core/tables/constants.h"

#include <gtest/gtest.h>

namespace baton::tables {
namespace {

using Handed = std::variant<std::monostate, std::int64_t, double, std::string>;

SqlField column_of(std::string_view type, bool nullable = true) {
    return {.name = "c", .type = *table_type_of(type), .nullable = nullable};
}

Handed fitted(std::string_view type, const Constant& constant) {
    const auto handed = fit(column_of(type), constant);
    EXPECT_TRUE(handed) << to_string(handed.error());
    return handed ? *handed : Handed();
}

std::string refusal(std::string_view type, const Constant& constant) {
    const auto handed = fit(column_of(type, false), constant);
    return handed ? "none" : handed.error().message;
}

TEST(Constants, NumbersTextsAndBooleansFitTheirColumns) {
    EXPECT_EQ(fitted("INT", std::int64_t{7}), Handed(std::int64_t{7}));
    EXPECT_EQ(fitted("INT", std::string(" -7 ")), Handed(std::int64_t{-7}));
    EXPECT_EQ(fitted("INT", 2.5), Handed(std::int64_t{2}));
    EXPECT_EQ(fitted("INT", 3.5), Handed(std::int64_t{4}));
    EXPECT_EQ(fitted("INT", -2.6), Handed(std::int64_t{-3}));
    EXPECT_EQ(fitted("DOUBLE", std::int64_t{7}), Handed(7.0));
    EXPECT_EQ(fitted("REAL", std::string("1e3")), Handed(1000.0));
    EXPECT_EQ(fitted("BOOLEAN", true), Handed(std::int64_t{1}));
    EXPECT_EQ(fitted("BOOLEAN", std::string("No")), Handed(std::int64_t{0}));
    EXPECT_EQ(fitted("TEXT", std::int64_t{7}), Handed(std::string("7")));
    EXPECT_EQ(fitted("TEXT", false), Handed(std::string("false")));
    EXPECT_EQ(fitted("DECIMAL(10,2)", 2.5), Handed(std::string("2.5")));
    EXPECT_EQ(fitted("DATE", std::string("2026-11-19")), Handed(std::string("2026-11-19")));
    EXPECT_EQ(fitted("INT", std::monostate()), Handed());
}

TEST(Constants, AMisfitIsNamedWithItsColumn) {
    EXPECT_EQ(refusal("SMALLINT", std::int64_t{40'000}),
              "cannot convert 40000 to SMALLINT, the type of column \"c\"");
    EXPECT_EQ(refusal("INT", std::string("x")),
              "cannot convert 'x' to INTEGER, the type of column \"c\"");
    EXPECT_EQ(refusal("INT", std::string("")),
              "cannot convert '' to INTEGER, the type of column \"c\"");
    EXPECT_EQ(refusal("BIGINT", 1e300),
              "cannot convert 1e+300 to BIGINT, the type of column \"c\"");
    EXPECT_EQ(refusal("INT", true), "cannot convert true to INTEGER, the type of column \"c\"");
    EXPECT_EQ(refusal("BOOLEAN", std::int64_t{2}),
              "cannot convert 2 to BOOLEAN, the type of column \"c\"");
    EXPECT_EQ(refusal("INT", std::monostate()), "column \"c\" must have a value");
    EXPECT_EQ(refusal("INT", std::string(1'000, 'x')).size(), 94U);
}

TEST(Constants, ColumnsAreFoundInAnyCaseAndEachOnce) {
    const SqlColumns table = {{.name = "id", .type = {}, .nullable = false},
                              {.name = "Name", .type = {}},
                              {.name = "x", .type = {}}};
    EXPECT_EQ(*places_of({}, table), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(*places_of({"NAME", "id"}, table), (std::vector<std::size_t>{1, 0}));
    EXPECT_EQ(places_of({"name", "x"}, table).error().code, ErrorCode::not_null_violation);
    EXPECT_EQ(places_of({"id", "nam"}, table).error().hint, "did you mean \"Name\"?");
    EXPECT_EQ(places_of({"id", "ID"}, table).error().code, ErrorCode::schema);
}

}  // namespace
}  // namespace baton::tables
