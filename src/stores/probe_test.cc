#include "stores/probe.h"

#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "ports/store_account.h"
#include "stores/sure_store.h"
#include "testing/stores/faulty_attempts.h"
#include "testing/stores/lying_store.h"
#include "testing/stores/sleep_clock.h"

namespace baton::stores {
namespace {

using testing::Lie;
using testing::LyingStore;

class ProbeTest : public ::testing::Test {
protected:
    // "fit", or the message.
    std::string result(ObjectStore& store) {
        const auto report = probe(store, clock_, ++seed_, {});
        if (report) return "fit";
        EXPECT_EQ(report.error().code, ErrorCode::store_unfit) << to_string(report.error());
        return report.error().message;
    }
    const Sleep sleep_ = [this](Duration time) { clock_.sleep(time); };
    testing::SleepClock clock_;
    std::uint64_t seed_ = 0;
};

TEST_F(ProbeTest, AStoreThatKeepsItsPromisesIsFit) {
    testing::MemoryStore store;
    const auto report = probe(store, clock_, 1, {});
    ASSERT_TRUE(report) << to_string(report.error());
    EXPECT_EQ(report->url, "memory://test");
    EXPECT_FALSE(report->in_place);
    EXPECT_TRUE(report->says_time);
    EXPECT_GT(report->requests, 50U);
    EXPECT_LT(report->requests, 200U);
}

TEST_F(ProbeTest, EveryLieIsFoundOutAndNamed) {
    const std::map<Lie, std::string> lies = {
        {Lie::ignores_if_absent, "creates an object that is there already"},
        {Lie::ignores_if_unchanged, "replaces an object that has changed"},
        {Lie::replaces_what_is_absent, "replaces an object that is not there"},
        {Lie::many_creators_win, "of eight creators of one object"},
        {Lie::reads_are_stale, "creates an object that is there already"},
        {Lie::lists_are_stale, "a list does not see the last write"},
        {Lie::lists_without_order, "in the order of the keys' bytes"},
        {Lie::lists_without_folders, "do not gather keys into folders"},
        {Lie::lists_end_early, "lists are not whole"},
        {Lie::ignores_ranges, "does not read the range"},
        {Lie::ignores_unless, "sends an object again that has not changed"},
        {Lie::keeps_removed, "a read sees an object that was removed"},
    };
    for (const auto& [lie, words] : lies) {
        LyingStore store(lie);
        const std::string found = result(store);
        if (lie == Lie::reads_are_stale) {
            EXPECT_NE(found, "fit");
            continue;
        }
        EXPECT_NE(found.find(words), std::string::npos) << found << " for " << words;
    }
}

TEST_F(ProbeTest, NothingIsLeftBehind) {
    for (const Lie lie : {Lie::none, Lie::ignores_if_absent, Lie::ignores_ranges,
                          Lie::lists_without_order, Lie::many_creators_win}) {
        LyingStore store(lie);
        (void)result(store);
        EXPECT_TRUE(store.contents().empty());
    }
}

TEST_F(ProbeTest, ObjectsOfOthersAreLeftAsTheyAre) {
    LyingStore store(Lie::none);
    ASSERT_TRUE(store.put("theirs", "x", Always{}, {}));
    EXPECT_EQ(result(store), "fit");
    EXPECT_EQ(store.contents().size(), 1U);
}

TEST_F(ProbeTest, ItsRequestsCountForItsCaller) {
    LyingStore store(Lie::none);
    StoreAccount account;
    StoreCall call;
    call.account = &account;
    ASSERT_TRUE(probe(store, clock_, 1, call));
    EXPECT_GT(account.use().of(StoreRequest::put), 30U);
}

TEST_F(ProbeTest, AnUnreliableStoreThatDoesNotLieIsFit) {
    auto memory = std::make_shared<testing::MemoryStore>();
    const testing::StoreFaults faults{.not_sent = 5,
                                      .lost_request = 5,
                                      .lost_answer = 10,
                                      .refused_500 = 5,
                                      .done_500 = 5,
                                      .contended = 5};
    auto attempts = std::make_unique<testing::FaultyAttempts>(memory, faults, 7);
    SureStore store(std::move(attempts), clock_, 7, sleep_);
    EXPECT_EQ(result(store), "fit");
    EXPECT_TRUE(memory->contents().empty());
}

TEST_F(ProbeTest, AStoreThatCannotBeReachedIsNotUnfit) {
    auto attempts = std::make_unique<testing::FaultyAttempts>(
        std::make_shared<testing::MemoryStore>(), testing::StoreFaults{.not_sent = 100}, 7);
    SureStore store(std::move(attempts), clock_, 7, sleep_);
    const auto report = probe(store, clock_, 1, {});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::store_unavailable);
}

}  // namespace
}  // namespace baton::stores
