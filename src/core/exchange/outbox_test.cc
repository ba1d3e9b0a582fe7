#include "core/exchange/outbox.h"

#include <string>

#include <gtest/gtest.h>

namespace baton::exchange {
namespace {

using namespace std::chrono_literals;

const ReceiverId kTo{.key = {.query = QueryId(3), .run = 2, .exchange = 5}, .worker = "HUB"};

// An outbox of texts that count ten bytes each, and what it wants in words.
class OutboxTest : public ::testing::Test {
protected:
    std::string step(const OutboxEvent& event) { return told(outbox_.step(now_, event)); }
    std::string hear(StreamNumber stream, const ToSender& said) {
        return step(Heard{.stream = stream, .said = said});
    }
    std::string push(const std::string& item) {
        EXPECT_FALSE(outbox_.must_wait());
        return told(outbox_.push(item, 10).effects);
    }
    // Streams are dialled, and their opening is written.
    std::string open(StreamNumber stream, const Progress& progress) {
        EXPECT_EQ(step(Woke{}), "dial " + std::to_string(stream));
        EXPECT_EQ(step(Written{stream}), "");
        return hear(stream, Opened{progress});
    }

    static std::string told(const Outbox<std::string>::Effects& effects) {
        std::string text;
        for (const auto& effect : effects) {
            if (!text.empty()) text += ", ";
            text += std::visit(
                Overload{
                    [](const Dial& dial) { return "dial " + std::to_string(dial.stream); },
                    [](const Write<std::string>& write) {
                        return std::to_string(write.stream) + ": " + std::to_string(write.number) +
                               " " + write.item;
                    },
                    [](const HangUp& cut) { return "hang up " + std::to_string(cut.stream); },
                    [](const GiveBack& back) { return "give back " + std::to_string(back.stream); },
                    [](const WakeAt& wake) {
                        return "wake at " +
                               std::to_string(wake.at.time_since_epoch().count() / 1000);
                    },
                },
                effect);
        }
        return text;
    }

    Outbox<std::string> outbox_{kTo};
    Instant now_ = at(1s);
    const Progress room_{.arrived = 0, .items_max = 3, .bytes_max = 1000};
};

TEST_F(OutboxTest, AnItemIsTakenOnlyWhereTheReceiverHasGrantedRoom) {
    EXPECT_TRUE(outbox_.must_wait());
    EXPECT_EQ(open(1, {.arrived = 0, .items_max = 2, .bytes_max = 1000}), "");
    EXPECT_EQ(push("a"), "1: 1 a");
    EXPECT_EQ(push("b"), "");
    EXPECT_TRUE(outbox_.must_wait());
    EXPECT_EQ(hear(1, Progress{.arrived = 2, .items_max = 4, .bytes_max = 1000}), "");
    EXPECT_FALSE(outbox_.must_wait());
}

TEST_F(OutboxTest, TheLastItemMayCrossTheLineOfBytes) {
    EXPECT_EQ(open(1, {.arrived = 0, .items_max = 9, .bytes_max = 15}), "");
    EXPECT_EQ(push("a"), "1: 1 a");
    EXPECT_EQ(push("b"), "");
    EXPECT_TRUE(outbox_.must_wait());
}

TEST_F(OutboxTest, OneWriteAtATimeInTheOrderOfTheirNumbers) {
    EXPECT_EQ(open(1, room_), "");
    EXPECT_EQ(push("a"), "1: 1 a");
    EXPECT_EQ(push("b"), "");
    EXPECT_EQ(push("c"), "");
    EXPECT_EQ(step(Written{1}), "1: 2 b");
    EXPECT_EQ(step(Written{1}), "1: 3 c");
    EXPECT_EQ(step(Written{1}), "");
}

TEST_F(OutboxTest, NothingIsWrittenBeforeTheReceiverHasOpenedTheStream) {
    EXPECT_EQ(step(Woke{}), "dial 1");
    EXPECT_EQ(hear(1, Opened{room_}), "");
    EXPECT_EQ(push("a"), "");  // the opening is still being written
    EXPECT_EQ(step(Written{1}), "1: 1 a");
    EXPECT_EQ(step(Ended{1}), "wake at 1050");
    now_ += 50ms;
    EXPECT_EQ(step(Woke{}), "dial 2");
    EXPECT_EQ(step(Written{2}), "");  // opened by us, not by the receiver
    EXPECT_EQ(hear(2, Opened{room_}), "2: 1 a");
}

TEST_F(OutboxTest, ANewStreamGoesOnAfterTheLastItemThatArrived) {
    EXPECT_EQ(open(1, room_), "");
    EXPECT_EQ(push("a"), "1: 1 a");
    EXPECT_EQ(push("b"), "");
    EXPECT_EQ(push("c"), "");
    EXPECT_EQ(step(Written{1}), "1: 2 b");
    EXPECT_EQ(step(Ended{1}), "wake at 1050");
    EXPECT_EQ(outbox_.kept(), 3U);
    now_ += 50ms;
    EXPECT_EQ(open(2, {.arrived = 1, .items_max = 3, .bytes_max = 1000}), "2: 2 b");
    EXPECT_EQ(step(Written{2}), "2: 3 c");
    EXPECT_EQ(outbox_.kept(), 2U);
    EXPECT_EQ(outbox_.reconnects(), 1U);
}

TEST_F(OutboxTest, ItemsThatAnOlderStreamCarriedAreLeftOut) {
    EXPECT_EQ(open(1, room_), "");
    EXPECT_EQ(push("a"), "1: 1 a");
    EXPECT_EQ(push("b"), "");
    EXPECT_EQ(push("c"), "");
    EXPECT_EQ(step(Ended{1}), "wake at 1050");
    now_ += 50ms;
    EXPECT_EQ(open(2, room_), "2: 1 a");
    EXPECT_EQ(hear(2, Progress{.arrived = 2, .items_max = 3, .bytes_max = 1000}), "");
    EXPECT_EQ(step(Written{2}), "2: 3 c");
}

TEST_F(OutboxTest, EventsOfAnOlderStreamChangeNothing) {
    EXPECT_EQ(open(1, room_), "");
    EXPECT_EQ(step(Ended{1}), "wake at 1050");
    now_ += 50ms;
    EXPECT_EQ(open(2, room_), "");
    EXPECT_EQ(push("a"), "2: 1 a");
    EXPECT_EQ(push("b"), "");
    EXPECT_EQ(step(Written{1}), "");
    EXPECT_EQ(step(Ended{1}), "");
    EXPECT_EQ(hear(1, Refused{.why = "no", .for_good = true}), "");
    EXPECT_FALSE(outbox_.halted());
    EXPECT_FALSE(outbox_.listens_to(1));
    EXPECT_TRUE(outbox_.listens_to(2));
    EXPECT_EQ(step(Written{2}), "2: 2 b");
}

TEST_F(OutboxTest, PausesDoubleUpToTwoSecondsUntilAStreamOpens) {
    std::string pauses;
    for (StreamNumber stream = 1; stream <= 8; ++stream) {
        EXPECT_EQ(step(Woke{}), "dial " + std::to_string(stream));
        const auto wake = outbox_.step(now_, Ended{stream});
        const Instant due = std::get<WakeAt>(wake.at(0)).at;
        pauses += std::to_string((due - now_) / 1ms) + " ";
        now_ = due;
    }
    EXPECT_EQ(pauses, "50 100 200 400 800 1600 2000 2000 ");
    EXPECT_EQ(open(9, room_), "");
    const auto wake = outbox_.step(now_, Ended{9});
    EXPECT_EQ(std::get<WakeAt>(wake.at(0)).at - now_, 50ms);
}

TEST_F(OutboxTest, AnAlarmThatRingsEarlyIsSetAgain) {
    EXPECT_EQ(step(Woke{}), "dial 1");
    EXPECT_EQ(step(Woke{}), "");
    EXPECT_EQ(step(Ended{1}), "wake at 1050");
    now_ += 49ms;
    EXPECT_EQ(step(Woke{}), "wake at 1050");
    now_ += 1ms;
    EXPECT_EQ(step(Woke{}), "dial 2");
}

TEST_F(OutboxTest, ARefusalIsNotTheEndUnlessItIsForGood) {
    EXPECT_EQ(step(Woke{}), "dial 1");
    EXPECT_EQ(hear(1, Refused{.why = "it is not open", .for_good = false}), "hang up 1");
    EXPECT_EQ(step(Ended{1}), "wake at 1050");
    EXPECT_TRUE(outbox_.must_wait());
    now_ += 50ms;
    EXPECT_EQ(step(Woke{}), "dial 2");
    EXPECT_EQ(hear(2, Refused{.why = "it expects nobody", .for_good = true}), "hang up 2");
    EXPECT_EQ(step(Ended{2}), "");
    EXPECT_FALSE(outbox_.must_wait());
    EXPECT_EQ(outbox_.halted()->code, ErrorCode::not_supported);
    EXPECT_EQ(outbox_.halted()->message, "cannot send to worker \"HUB\": it expects nobody");
}

TEST_F(OutboxTest, AReceiverThatConfirmsLessThanBeforeOrMoreThanWasSentIsNotGoneOnWith) {
    for (const std::uint64_t arrived : {0U, 3U}) {
        Outbox<std::string> outbox(kTo);
        (void)outbox.step(now_, Woke{});
        (void)outbox.step(now_, Written{1});
        (void)outbox.step(now_, Heard{1, Opened{room_}});
        (void)outbox.push("a", 10);
        (void)outbox.push("b", 10);
        (void)outbox.step(now_, Heard{1, Progress{1, 3, 1000}});
        EXPECT_EQ(told(outbox.step(now_, Heard{1, Progress{arrived, 9, 1000}})), "hang up 1");
        ASSERT_TRUE(outbox.halted());
        EXPECT_EQ(outbox.halted()->code, ErrorCode::conflict);
        EXPECT_EQ(outbox.halted()->message,
                  "cannot go on with exchange 5 of run 2 of query 3 on worker \"HUB\": it does not "
                  "know what it was sent");
    }
}

TEST_F(OutboxTest, AStreamThatIsOpenedTwiceOrTellsProgressFirstIsCut) {
    EXPECT_EQ(step(Woke{}), "dial 1");
    EXPECT_EQ(hear(1, room_), "hang up 1");
    EXPECT_FALSE(outbox_.listens_to(1));
    EXPECT_EQ(hear(1, Opened{room_}), "");
    EXPECT_TRUE(outbox_.must_wait());
    EXPECT_EQ(step(Ended{1}), "wake at 1050");
    now_ += 50ms;
    EXPECT_EQ(open(2, room_), "");
    EXPECT_EQ(hear(2, Opened{room_}), "hang up 2");
    EXPECT_FALSE(outbox_.halted());
}

TEST_F(OutboxTest, AnItemHasArrivedWhenTheReceiverSaysSoAlsoAfterAnInterrupt) {
    EXPECT_EQ(open(1, room_), "");
    EXPECT_EQ(push("a"), "1: 1 a");
    EXPECT_FALSE(outbox_.outcome_of(1));
    outbox_.interrupt();
    const auto outcome = outbox_.outcome_of(1);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->error().code, ErrorCode::cancelled);
    EXPECT_FALSE(outbox_.must_wait());
    EXPECT_EQ(hear(1, Progress{.arrived = 1, .items_max = 4, .bytes_max = 1000}), "");
    EXPECT_TRUE(outbox_.outcome_of(1)->has_value());
}

TEST_F(OutboxTest, AClosedOutboxWaitsForItsStreamAndGivesAGoodConnectionBack) {
    EXPECT_EQ(open(1, room_), "");
    EXPECT_EQ(told(outbox_.close()), "hang up 1");
    EXPECT_TRUE(outbox_.has_stream());
    EXPECT_EQ(step(Ended{1}), "give back 1");
    EXPECT_FALSE(outbox_.has_stream());
    EXPECT_EQ(step(Woke{}), "");
}

TEST_F(OutboxTest, AConnectionOnWhichNoStreamOpenedIsNotGivenBack) {
    EXPECT_EQ(step(Woke{}), "dial 1");
    EXPECT_EQ(told(outbox_.close()), "hang up 1");
    EXPECT_EQ(step(Ended{1}), "");
    Outbox<std::string> waiting(kTo);
    (void)waiting.step(now_, Woke{});
    (void)waiting.step(now_, Ended{1});
    EXPECT_EQ(told(waiting.close()), "");
    EXPECT_EQ(told(waiting.step(now_ + 1s, Woke{})), "");
}

TEST_F(OutboxTest, AReceiverThatCannotBeDialledIsTheEnd) {
    EXPECT_EQ(step(Woke{}), "dial 1");
    EXPECT_EQ(step(CannotDial{.stream = 1,
                              .error = {.code = ErrorCode::not_supported, .message = "no keys"}}),
              "");
    EXPECT_EQ(outbox_.halted()->message, "no keys");
    EXPECT_FALSE(outbox_.has_stream());
    EXPECT_EQ(step(Woke{}), "");
}

}  // namespace
}  // namespace baton::exchange
