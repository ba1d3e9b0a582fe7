// FaultyAttempts passes attempts on to a store that keeps its promises, and loses some of them: the
// request before the store has seen it, or the answer after. A seed gives the same faults again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/prng.h"
#include "ports/store_attempts.h"

namespace baton::testing {

// Of a hundred attempts each.
struct StoreFaults {
    std::uint64_t not_sent = 0;      // no connection
    std::uint64_t lost_request = 0;  // sent, never seen by the store
    std::uint64_t lost_answer = 0;   // done, and the answer is lost
    std::uint64_t throttled = 0;     // 503, not done
    std::uint64_t refused_500 = 0;   // 500, not done
    std::uint64_t done_500 = 0;      // 500, done all the same
    std::uint64_t contended = 0;     // 409, not done
    Duration delay_max{};            // of each attempt
};

class FaultyAttempts : public StoreAttempts {
public:
    // `wait` passes the time that an attempt takes; not called without delays.
    FaultyAttempts(std::shared_ptr<StoreAttempts> store, const StoreFaults& faults,
                   std::uint64_t seed, std::function<void(Duration)> wait = {});

    // Instead of those that are drawn: for each attempt the next, then none.
    void plan(std::vector<std::optional<AttemptTrouble>> troubles, bool done = false);
    // From now on.
    void set(const StoreFaults& faults);
    [[nodiscard]] std::uint64_t attempts() const;

    Attempted<GotWithStamp> get(const std::string& key, const GetOptions& options,
                                const AttemptCall& call) override;
    Attempted<PutOutcome> put(const std::string& key, const PutAttempt& put,
                              const AttemptCall& call) override;
    Attempted<ListPage> list(const ListOptions& options, const AttemptCall& call) override;
    Attempted<Done> remove(std::span<const std::string> keys, const AttemptCall& call) override;

    [[nodiscard]] std::optional<std::string> path_of(const std::string& key) const override {
        return store_->path_of(key);
    }
    [[nodiscard]] std::string url() const override { return store_->url(); }

private:
    struct Fault {
        AttemptTrouble trouble = AttemptTrouble::unknown;
        bool done = false;  // by the store
    };

    std::optional<Fault> draw();
    template <class T, class Call>
    Attempted<T> attempt(const Call& call);

    const std::shared_ptr<StoreAttempts> store_;
    const std::function<void(Duration)> wait_;
    mutable std::mutex mutex_;
    StoreFaults faults_;
    Prng prng_;
    std::vector<std::optional<Fault>> planned_;  // the next one last
    std::uint64_t attempts_ = 0;
};

}  // namespace baton::testing
