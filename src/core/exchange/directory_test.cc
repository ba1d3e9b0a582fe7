#include "core/exchange/directory.h"

#include <gtest/gtest.h>

namespace baton::exchange {
namespace {

using Numbers = Directory<int>;  // receivers are numbers

ReceiverId id_of(std::uint64_t run) {
    return {.key = {.query = QueryId(3), .run = run, .exchange = 5}, .worker = "HUB"};
}
Refused refused(const Numbers::Admission& admission) {
    return std::holds_alternative<Refused>(admission) ? std::get<Refused>(admission) : Refused{};
}
const Expected kExpected{.senders = {"A", "B"}, .schema = 17};

TEST(Directory, AReceiverIsOpenOnce) {
    Numbers directory;
    EXPECT_TRUE(directory.open(id_of(1), kExpected, 7));
    EXPECT_FALSE(directory.open(id_of(1), kExpected, 8));
    EXPECT_TRUE(directory.open(id_of(2), kExpected, 9));
    directory.close(id_of(1), std::nullopt);
    EXPECT_TRUE(directory.open(id_of(1), kExpected, 8));
}

TEST(Directory, ASenderThatIsExpectedIsAdmittedAtItsPosition) {
    Numbers directory;
    EXPECT_TRUE(directory.open(id_of(1), kExpected, 7));
    const auto admitted = std::get<Numbers::Admitted>(directory.admit(id_of(1), "B", 17));
    EXPECT_EQ(admitted.receiver, 7);
    EXPECT_EQ(admitted.sender, 1U);
}

TEST(Directory, AnUnknownSenderOrAnotherSchemaIsRefusedForGood) {
    Numbers directory;
    EXPECT_TRUE(directory.open(id_of(1), kExpected, 7));
    EXPECT_EQ(
        refused(directory.admit(id_of(1), "C", 17)),
        (Refused{.why = "exchange 5 of run 1 of query 3 on worker \"HUB\" expects nothing from "
                        "worker \"C\"",
                 .for_good = true}));
    EXPECT_EQ(refused(directory.admit(id_of(1), "A", 18)),
              (Refused{.why = "exchange 5 of run 1 of query 3 on worker \"HUB\" expects rows with "
                              "another schema",
                       .for_good = true}));
}

TEST(Directory, ASenderOfAReceiverThatIsNotOpenMayAskAgain) {
    Numbers directory;
    EXPECT_TRUE(directory.open(id_of(1), kExpected, 7));
    EXPECT_EQ(refused(directory.admit(id_of(2), "A", 17)),
              (Refused{.why = "exchange 5 of run 2 of query 3 on worker \"HUB\" is not open",
                       .for_good = false}));
}

TEST(Directory, ASenderThatNeverHeardOfItsEndIsToldAfterTheReceiverIsGone) {
    Numbers directory;
    EXPECT_TRUE(directory.open(id_of(1), kExpected, 7));
    directory.close(id_of(1), std::vector<std::uint64_t>{4, 9});
    EXPECT_EQ(std::get<Opened>(directory.admit(id_of(1), "B", 17)).progress,
              (Progress{.arrived = 9, .items_max = 9, .bytes_max = 0}));
    EXPECT_FALSE(refused(directory.admit(id_of(1), "C", 17)).for_good);
}

TEST(Directory, AReceiverThatWasClosedEarlyIsNotRemembered) {
    Numbers directory;
    EXPECT_TRUE(directory.open(id_of(1), kExpected, 7));
    directory.close(id_of(1), std::nullopt);
    EXPECT_FALSE(refused(directory.admit(id_of(1), "A", 17)).for_good);
}

TEST(Directory, TheOldestOfThoseThatAreRememberedIsForgottenFirst) {
    Numbers directory(2);
    for (std::uint64_t run = 1; run <= 3; ++run) {
        EXPECT_TRUE(directory.open(id_of(run), kExpected, 7));
        directory.close(id_of(run), std::vector<std::uint64_t>{1, 1});
    }
    EXPECT_TRUE(std::holds_alternative<Refused>(directory.admit(id_of(1), "A", 17)));
    EXPECT_TRUE(std::holds_alternative<Opened>(directory.admit(id_of(2), "A", 17)));
    EXPECT_TRUE(std::holds_alternative<Opened>(directory.admit(id_of(3), "A", 17)));
}

}  // namespace
}  // namespace baton::exchange
