#include "doors/pg/server/parameter_types.h"

#include <gtest/gtest.h>

namespace baton::pgserver {
namespace {

using Types = std::vector<pgwire::TypeId>;
constexpr pgwire::TypeId kBool = 16;
constexpr pgwire::TypeId kInt8 = 20;
constexpr pgwire::TypeId kText = 25;
constexpr pgwire::TypeId kTime = 1184;

TEST(ParameterTypes, FollowFromTheColumnsTheyAreComparedWith) {
    EXPECT_EQ(
        parameter_types_of("SELECT name FROM baton.workers WHERE used > $1 AND name = $2", {}, 2),
        (Types{kInt8, kText}));
    EXPECT_EQ(parameter_types_of("SHOW WORKERS WHERE draining = $1 OR since < $2", {}, 2),
              (Types{kBool, kTime}));
    EXPECT_EQ(parameter_types_of("WATCH SHOW QUERIES WHERE $1 = id", {}, 1), (Types{kInt8}));
    EXPECT_EQ(parameter_types_of("SHOW QUERIES WHERE id IN ($1, $2)", {}, 2),
              (Types{kInt8, kInt8}));
}

TEST(ParameterTypes, AreTextOtherwise) {
    EXPECT_EQ(parameter_types_of("CREATE WORKER 'a:1' SET ($1 AS NAME)", {}, 1), (Types{kText}));
    EXPECT_EQ(parameter_types_of("no statement $1", {}, 1), (Types{kText}));
}

TEST(ParameterTypes, StayAsTheClientGaveThem) {
    EXPECT_EQ(parameter_types_of("SHOW QUERIES WHERE id = $1 AND name = $2", {23}, 2),
              (Types{23, kText}));
}

}  // namespace
}  // namespace baton::pgserver
