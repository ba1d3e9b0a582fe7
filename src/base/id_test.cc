#include "base/id.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace baton {
namespace {

static_assert(!std::is_convertible_v<std::uint64_t, QueryId>);
static_assert(!std::is_convertible_v<QueryId, std::uint64_t>);
static_assert(!std::is_convertible_v<QueryId, FragmentId>);

TEST(Id, IsOrderedByItsNumber) {
    EXPECT_LT(QueryId(1), QueryId(2));
    EXPECT_EQ(QueryId(), QueryId(0));
    EXPECT_EQ(Epoch(4).next(), Epoch(5));
    EXPECT_EQ(to_string(Revision(18'446'744'073'709'551'615ULL)), "18446744073709551615");
}

}  // namespace
}  // namespace baton
