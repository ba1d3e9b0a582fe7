#include "model/states.h"

#include <cctype>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "model/lock.h"

namespace baton {
namespace {

template <class Enum>
class States : public testing::Test {};

using Enums = testing::Types<WorkerKind, WorkerState, QueryState, QueryDesire, StopMode,
                             FragmentState, ChangeOp, LockStatus>;
TYPED_TEST_SUITE(States, Enums);

TYPED_TEST(States, AreReadBackAsTheyArePrinted) {
    for (const auto& [state, name] : StateNames<TypeParam>::kNames) {
        EXPECT_EQ(to_string(state), name);
        EXPECT_EQ(state_of<TypeParam>(name), state);
        std::string lower(name);
        for (char& c : lower) c = static_cast<char>(std::tolower(c));
        EXPECT_EQ(state_of<TypeParam>(lower), state);
    }
}

TYPED_TEST(States, AreListedOnceAndInTheirOrder) {
    std::set<std::string> names;
    int position = 0;
    for (const auto& [state, name] : StateNames<TypeParam>::kNames) {
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_EQ(static_cast<int>(state), position++) << name;
    }
}

TYPED_TEST(States, OfNoKnownNameAreRefused) {
    EXPECT_EQ(state_of<TypeParam>("NO SUCH STATE"), std::nullopt);
    EXPECT_EQ(state_of<TypeParam>(""), std::nullopt);
}

TEST(StateLists, BecomeTheCheckOfAColumn) {
    EXPECT_EQ(sql_is_one_of<WorkerState>("s"), "s = 'ACTIVE' OR s = 'UNREACHABLE'");
}

TEST(QueryStates, HaveEndedWhenNoFragmentCanBeLeft) {
    std::string ended;
    for (const auto& [state, name] : StateNames<QueryState>::kNames) {
        if (has_ended(state)) ended += std::string(name) + " ";
    }
    EXPECT_EQ(ended, "STOPPED TERMINATED FAILED ");
}

TEST(FragmentStates, HaveEndedWhenTheyOccupyNoSlots) {
    std::string ended;
    for (const auto& [state, name] : StateNames<FragmentState>::kNames) {
        if (has_ended(state)) ended += std::string(name) + " ";
    }
    EXPECT_EQ(ended, "STOPPED TERMINATED FAILED ");
}

TEST(StatesDeathTest, AValueWithoutANameIsADefect) {
    EXPECT_DEATH((void)to_string(static_cast<QueryState>(200)), "a state without a name");
}

}  // namespace
}  // namespace baton
