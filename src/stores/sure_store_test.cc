#include "stores/sure_store.h"

#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "testing/stores/faulty_attempts.h"
#include "testing/stores/memory_store.h"
#include "testing/stores/sleep_clock.h"

namespace baton::stores {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FaultyAttempts;
using testing::MemoryStore;
using testing::SleepClock;
using testing::StoreFaults;

class SureStoreTest : public ::testing::Test {
protected:
    void open(const StoreFaults& faults = {}, std::uint64_t seed = 1) {
        memory_ = std::make_shared<MemoryStore>();
        auto attempts = std::make_unique<FaultyAttempts>(memory_, faults, seed);
        faulty_ = attempts.get();
        store_ = std::make_unique<SureStore>(std::move(attempts), clock_, seed,
                                             [this](Duration time) { clock_.sleep(time); });
    }
    std::string put(const std::string& key, const std::string& bytes,
                    const PutCondition& condition) {
        const auto outcome = store_->put(key, bytes, condition, {});
        if (!outcome) return std::string(entry_of(outcome.error().code).name);
        return std::holds_alternative<Stored>(*outcome) ? "stored" : "refused";
    }

    SleepClock clock_;
    std::shared_ptr<MemoryStore> memory_;
    FaultyAttempts* faulty_ = nullptr;
    std::unique_ptr<SureStore> store_;
};

TEST_F(SureStoreTest, ALostAnswerIsSettledByTheStamp) {
    open();
    faulty_->plan({AttemptTrouble::unknown}, true);
    const auto outcome = store_->put("a", "bytes", IfAbsent{}, {});
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    ASSERT_TRUE(std::holds_alternative<Stored>(*outcome));
    EXPECT_EQ(std::get<Stored>(*outcome).etag, "v1");
    EXPECT_EQ(memory_->stored_puts("a"), 1U);
    EXPECT_EQ(faulty_->attempts(), 3U);  // the put, the put that was refused, the look
}

TEST_F(SureStoreTest, EqualBytesOfAnotherWriterAreNotOurs) {
    open();
    ASSERT_EQ(put("a", "same", IfAbsent{}), "stored");
    faulty_->plan({AttemptTrouble::unknown}, false);
    EXPECT_EQ(put("a", "same", IfAbsent{}), "refused");
}

TEST_F(SureStoreTest, AVersionThatWasReplacedMeanwhileLeavesTheOutcomeUnknown) {
    open();
    const auto first = store_->put("a", "1", IfAbsent{}, {});
    const std::string etag = std::get<Stored>(*first).etag;
    ASSERT_EQ(put("a", "2", IfUnchanged{etag}), "stored");
    const auto second = store_->get("a", {}, {});
    ASSERT_EQ(put("a", "3", IfUnchanged{std::get<StoredObject>(*second).etag}), "stored");
    faulty_->plan({AttemptTrouble::unknown}, false);
    EXPECT_EQ(put("a", "4", IfUnchanged{etag}), "unknown_outcome");
}

TEST_F(SureStoreTest, ARefusalSaysWhatWasTriedWhereAndWhyNot) {
    open();
    faulty_->plan({AttemptTrouble::refused});
    const auto outcome = store_->put("a/b", "x", Always{}, {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(to_string(outcome.error()),
              "error 4011: cannot write \"a/b\" in \"memory://test\": a planned fault");
}

TEST_F(SureStoreTest, AnErrorAfterRepeatsSaysHowOftenAndHowLong) {
    open({.not_sent = 100});
    StoreCall call;
    call.patience = seconds(5);
    const auto got = store_->get("a", {}, call);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::store_unavailable);
    EXPECT_NE(got.error().message.find(" attempts in "), std::string::npos) << got.error().message;
    EXPECT_LE(clock_.now(), at(seconds(7)));
}

TEST_F(SureStoreTest, RepeatsAndThrottlesAreCountedForTheCallerAndTheStore) {
    open();
    faulty_->plan({AttemptTrouble::throttled, AttemptTrouble::server, std::nullopt});
    StoreAccount account;
    StoreCall call;
    call.account = &account;
    ASSERT_TRUE(store_->put("a", "12345", Always{}, call));
    EXPECT_EQ(account.use().of(StoreRequest::put), 3U);
    EXPECT_EQ(account.use().repeats, 2U);
    EXPECT_EQ(account.use().throttles, 1U);
    EXPECT_EQ(account.use().bytes_out, 5U);
    EXPECT_EQ(store_->account().use(), account.use());
}

TEST_F(SureStoreTest, ALookCountsAsAGet) {
    open();
    faulty_->plan({AttemptTrouble::unknown}, true);
    ASSERT_EQ(put("a", "x", IfAbsent{}), "stored");
    EXPECT_EQ(store_->account().use().of(StoreRequest::get), 1U);
    EXPECT_EQ(store_->account().use().of(StoreRequest::put), 2U);
}

TEST_F(SureStoreTest, GivingUpEndsAWaitWithin50Milliseconds) {
    open({.not_sent = 100});
    const Instant begun = clock_.now();
    StoreCall call;
    call.patience = std::chrono::hours(1);
    call.given_up = [&] { return clock_.now() - begun >= seconds(10); };
    const auto got = store_->get("a", {}, call);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::cancelled);
    EXPECT_LE(clock_.now() - begun, seconds(10) + milliseconds(50));
}

TEST_F(SureStoreTest, ManyKeysAreRemovedInRequestsOfAThousand) {
    open();
    std::vector<std::string> keys;
    for (int i = 0; i < 2'500; ++i) keys.push_back("k" + std::to_string(i));
    for (const std::string& key : keys) ASSERT_TRUE(memory_->put(key, "x", Always{}, StoreCall{}));
    ASSERT_TRUE(store_->remove(keys, {}));
    EXPECT_TRUE(memory_->contents().empty());
    EXPECT_EQ(store_->account().use().of(StoreRequest::remove), 3U);
}

// 16 threads on a store that loses a third of what it is asked.
TEST_F(SureStoreTest, ThreadsOnAnUnreliableStoreHaveOneWinnerForEachKey) {
    open({.not_sent = 8,
          .lost_request = 8,
          .lost_answer = 10,
          .throttled = 0,
          .refused_500 = 4,
          .done_500 = 4,
          .contended = 4},
         42);
    constexpr std::size_t kThreads = 16;
    constexpr std::size_t kKeys = 200;
    std::vector<std::atomic<int>> winners(kKeys);
    std::vector<std::atomic<int>> unknown(kKeys);
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            for (std::size_t i = 0; i < kKeys; ++i) {
                const std::string outcome =
                    put("key-" + std::to_string(i), std::to_string(thread), IfAbsent{});
                if (outcome == "stored") ++winners[i];
                if (outcome == "unknown_outcome") ++unknown[i];
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    int certain = 0;
    for (std::size_t i = 0; i < kKeys; ++i) {
        EXPECT_EQ(memory_->stored_puts("key-" + std::to_string(i)), 1U);
        EXPECT_LE(winners[i], 1);
        EXPECT_GE(winners[i] + unknown[i], 1);
        certain += winners[i];
    }
    EXPECT_GE(certain, 195);
}

}  // namespace
}  // namespace baton::stores
