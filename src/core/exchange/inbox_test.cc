#include "core/exchange/inbox.h"

#include <string>

#include <gtest/gtest.h>

namespace baton::exchange {
namespace {

// An inbox of two senders; items are texts.
class InboxTest : public ::testing::Test {
protected:
    using Texts = Inbox<std::string>;

    Put put(std::size_t sender, std::uint64_t number, const Content& content,
            std::size_t bytes = 10) {
        return inbox_.put(
            sender,
            {.number = number, .bytes = bytes, .content = content, .item = std::to_string(number)});
    }
    Put announce(std::size_t sender) { return put(sender, 1, Announces{.origins = 1}); }
    Put frame(std::size_t sender, std::uint64_t number, std::size_t bytes = 10) {
        return put(sender, number, Carries{.origin = 0}, bytes);
    }
    std::string take() {
        return std::visit(
            Overload{
                [](const Texts::Nothing&) { return std::string("nothing"); },
                [](const Texts::Taken& taken) {
                    return std::to_string(taken.sender) + ": " + taken.item;
                },
                [](const Texts::SenderEnded& ended) {
                    return std::to_string(ended.sender) + (ended.all ? " ended last" : " ended");
                },
                [](const Texts::AllEnded&) { return std::string("all ended"); },
                [](const Fault& fault) {
                    return "fault of " + std::to_string(fault.sender) + ": " + fault.why;
                },
            },
            inbox_.take());
    }

    Texts inbox_{2, {.items = 4, .bytes = 100}};
};

TEST_F(InboxTest, ItemsOfASenderAreTakenInOrderAndOnce) {
    EXPECT_EQ(take(), "nothing");
    EXPECT_EQ(announce(1), Put::kept);
    EXPECT_EQ(frame(1, 2), Put::kept);
    EXPECT_EQ(frame(1, 2), Put::known);
    EXPECT_EQ(announce(1), Put::known);
    EXPECT_EQ(announce(0), Put::kept);
    EXPECT_EQ(take(), "1: 1");
    EXPECT_EQ(take(), "1: 2");
    EXPECT_EQ(frame(1, 2), Put::known);
    EXPECT_EQ(take(), "0: 1");
    EXPECT_EQ(take(), "nothing");
}

TEST_F(InboxTest, AGapIsAFaultAndAFaultIsFinal) {
    EXPECT_EQ(announce(0), Put::kept);
    EXPECT_EQ(frame(0, 3), Put::faulty);
    EXPECT_EQ(take(), "fault of 0: an item is missing");
    EXPECT_EQ(frame(0, 2), Put::kept);
    EXPECT_FALSE(inbox_.must_wait());
    EXPECT_EQ(take(), "fault of 0: an item is missing");
    EXPECT_EQ(frame(1, 7), Put::faulty);
    EXPECT_EQ(inbox_.fault()->sender, 0U);
}

TEST_F(InboxTest, ASenderThatSendsMoreItemsThanItMayIsAtFault) {
    EXPECT_EQ(announce(0), Put::kept);
    for (std::uint64_t i = 2; i <= 4; ++i) EXPECT_EQ(frame(0, i), Put::kept);
    EXPECT_FALSE(inbox_.has_room(0));
    EXPECT_TRUE(inbox_.has_room(1));
    EXPECT_EQ(take(), "0: 1");
    EXPECT_EQ(frame(0, 5), Put::kept);
    EXPECT_EQ(frame(0, 6), Put::faulty);
    EXPECT_EQ(take(), "fault of 0: it sends more than it may");
}

TEST_F(InboxTest, OneItemMayCrossTheLineOfBytes) {
    EXPECT_EQ(announce(0), Put::kept);
    EXPECT_EQ(frame(0, 2, 89), Put::kept);
    EXPECT_TRUE(inbox_.has_room(0));
    EXPECT_EQ(frame(0, 3, 500), Put::kept);
    EXPECT_EQ(frame(0, 4), Put::faulty);
}

TEST_F(InboxTest, TakingGrantsRoom) {
    EXPECT_EQ(inbox_.progress(0), (Progress{.arrived = 0, .items_max = 4, .bytes_max = 100}));
    EXPECT_EQ(announce(0), Put::kept);
    EXPECT_EQ(frame(0, 2, 30), Put::kept);
    EXPECT_EQ(inbox_.progress(0), (Progress{.arrived = 2, .items_max = 4, .bytes_max = 100}));
    EXPECT_EQ(take(), "0: 1");
    EXPECT_EQ(take(), "0: 2");
    EXPECT_EQ(inbox_.progress(0), (Progress{.arrived = 2, .items_max = 6, .bytes_max = 140}));
    EXPECT_EQ(inbox_.progress(1), (Progress{.arrived = 0, .items_max = 4, .bytes_max = 100}));
    EXPECT_EQ(inbox_.taken_bytes(), 40U);
}

TEST_F(InboxTest, ASenderAnnouncesItsOriginsOnceAndBeforeItsFirstFrame) {
    EXPECT_EQ(frame(0, 1), Put::kept);
    EXPECT_EQ(take(), "fault of 0: a frame has an origin that was not announced");
    Texts twice(1, {});
    (void)twice.put(0, {.number = 1, .bytes = 1, .content = Announces{1}, .item = ""});
    (void)twice.put(0, {.number = 2, .bytes = 1, .content = Announces{1}, .item = ""});
    EXPECT_TRUE(std::holds_alternative<Texts::Taken>(twice.take()));
    EXPECT_EQ(std::get<Fault>(twice.take()).why, "it announces its origins twice");
}

TEST_F(InboxTest, AFrameHasAnOriginThatWasAnnounced) {
    EXPECT_EQ(announce(0), Put::kept);
    EXPECT_EQ(put(0, 2, Carries{.origin = 1}), Put::kept);
    EXPECT_EQ(take(), "0: 1");
    EXPECT_EQ(take(), "fault of 0: a frame has an origin that was not announced");
}

TEST_F(InboxTest, TheEndIsTheFinishOfAllSenders) {
    EXPECT_EQ(announce(0), Put::kept);
    EXPECT_EQ(put(0, 2, Finishes{}), Put::kept);
    EXPECT_FALSE(inbox_.finished());
    EXPECT_EQ(put(1, 1, Finishes{}), Put::kept);
    EXPECT_EQ(inbox_.finished(), (std::vector<std::uint64_t>{2, 1}));
    EXPECT_EQ(take(), "0: 1");
    EXPECT_EQ(take(), "0 ended");
    EXPECT_FALSE(inbox_.must_wait());
    EXPECT_EQ(take(), "1 ended last");
    EXPECT_FALSE(inbox_.must_wait());
    EXPECT_EQ(take(), "all ended");
    EXPECT_EQ(take(), "all ended");
}

TEST_F(InboxTest, NothingFollowsAFinish) {
    EXPECT_EQ(put(0, 1, Finishes{}), Put::kept);
    EXPECT_EQ(put(0, 1, Finishes{}), Put::known);
    EXPECT_EQ(put(0, 2, Finishes{}), Put::faulty);
    EXPECT_EQ(take(), "fault of 0: it goes on after its end");
}

TEST_F(InboxTest, AnInterruptedReceiverStillGetsWhatIsThere) {
    EXPECT_TRUE(inbox_.must_wait());
    EXPECT_EQ(announce(0), Put::kept);
    inbox_.interrupt();
    EXPECT_EQ(take(), "0: 1");
    EXPECT_FALSE(inbox_.must_wait());
    EXPECT_EQ(take(), "nothing");
}

TEST_F(InboxTest, AClosedInboxTakesNothing) {
    EXPECT_EQ(announce(0), Put::kept);
    inbox_.close();
    EXPECT_EQ(frame(0, 2), Put::closed);
    EXPECT_EQ(inbox_.waiting(), 0U);
    EXPECT_TRUE(inbox_.is_closed());
}

TEST_F(InboxTest, ItemsThatTurnOutToBeFaultyAreAFault) {
    inbox_.distrust(1, "a batch ends too early");
    EXPECT_EQ(take(), "fault of 1: a batch ends too early");
}

TEST_F(InboxTest, EveryStreamAfterTheFirstOfASenderIsAReconnect) {
    (void)inbox_.attach(0);
    (void)inbox_.attach(1);
    EXPECT_EQ(inbox_.reconnects(), 0U);
    (void)inbox_.attach(0);
    EXPECT_EQ(inbox_.reconnects(), 1U);
}

TEST_F(InboxTest, AllStreamsOfASenderThatHaveNotEndedHearOfRoom) {
    EXPECT_TRUE(inbox_.streams(0).empty());
    EXPECT_EQ(inbox_.attach(0), 1U);
    EXPECT_EQ(inbox_.attach(0), 2U);
    EXPECT_EQ(inbox_.attach(1), 1U);
    EXPECT_EQ(inbox_.streams(0), (std::vector<std::uint64_t>{1, 2}));
    inbox_.detach(0, 2);
    EXPECT_EQ(inbox_.streams(0), (std::vector<std::uint64_t>{1}));
    EXPECT_EQ(inbox_.streams(1), (std::vector<std::uint64_t>{1}));
}

}  // namespace
}  // namespace baton::exchange
