#include "base/text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace baton {
namespace {

using Words = std::vector<std::string>;

TEST(Text, ToUpperKeepsWhatIsNotAscii) {
    EXPECT_EQ(to_upper("Größe_1"), "GRößE_1");
    EXPECT_EQ(to_upper(""), "");
    EXPECT_EQ(to_lower("GRÖßE_1"), "grÖße_1");
}

TEST(Text, EqualIgnoringCaseComparesWholeWords) {
    EXPECT_TRUE(equal_ignoring_case("Query", "qUERY"));
    EXPECT_TRUE(equal_ignoring_case("", ""));
    EXPECT_FALSE(equal_ignoring_case("query", "quer"));
    EXPECT_FALSE(equal_ignoring_case("quer", "query"));
    EXPECT_FALSE(equal_ignoring_case("[", "{"));  // 32 apart, but no letters
}

TEST(Text, JoinPutsTheSeparatorBetween) {
    EXPECT_EQ(join(Words{}, ", "), "");
    EXPECT_EQ(join(Words{"A"}, ", "), "A");
    EXPECT_EQ(join(Words{"A", "", "C"}, ", "), "A, , C");
}

TEST(Text, QuotedDoublesAQuoteInside) {
    EXPECT_EQ(in_quotes("ORDERS"), "\"ORDERS\"");
    EXPECT_EQ(in_quotes("a\"b"), "\"a\"\"b\"");
    EXPECT_EQ(in_quotes(""), "\"\"");
}

TEST(Nearest, FindsASlipOfTheKeyboard) {
    const Words known = {"ORDERS", "ALERTS", "READINGS"};
    EXPECT_EQ(nearest("ORDRES", known), "ORDERS");      // swapped
    EXPECT_EQ(nearest("ORDER", known), "ORDERS");       // left out
    EXPECT_EQ(nearest("ALLERTS", known), "ALERTS");     // doubled
    EXPECT_EQ(nearest("READIMGS", known), "READINGS");  // replaced
    EXPECT_EQ(nearest("orders", known), "ORDERS");      // only the case
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
    const Words known = {"ORDERS", "ALERTS"};
    EXPECT_EQ(nearest("CUSTOMERS", known), "");
    EXPECT_EQ(nearest("X", known), "");
    EXPECT_EQ(nearest("", known), "");
    EXPECT_EQ(nearest("ORDERS", Words{}), "");
}

TEST(Nearest, PrefersTheNearerAndThenTheEarlier) {
    EXPECT_EQ(nearest("SINK2", Words{"SINKS22", "SINK1", "SINK3"}), "SINK1");
    EXPECT_EQ(nearest("SINK2", Words{"SINK1", "sink2"}), "sink2");
}

TEST(Nearest, DoesNotMeasureWordsNobodyTyped) {
    const std::string endless(100'000, 'A');
    EXPECT_EQ(nearest(endless, Words{endless}), "");
    EXPECT_EQ(nearest("A", Words{endless}), "");
}

TEST(DidYouMean, IsASentenceOrNothing) {
    EXPECT_EQ(did_you_mean("ORDRES", Words{"ORDERS"}), "did you mean \"ORDERS\"?");
    EXPECT_EQ(did_you_mean("CUSTOMERS", Words{"ORDERS"}), "");
}

TEST(Enumerate, NamesAtMostSoMany) {
    const Words words = {"Q1", "Q2", "Q3", "Q4"};
    EXPECT_EQ(enumerate(Words{}), "");
    EXPECT_EQ(enumerate(words), "Q1, Q2, Q3, Q4");
    EXPECT_EQ(enumerate(words, 4), "Q1, Q2, Q3, Q4");
    EXPECT_EQ(enumerate(words, 2), "Q1, Q2 and 2 more");
}

}  // namespace
}  // namespace baton
