// A process in an election, as far as tests are concerned: it notes what it is told.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/system/system_clock.h"
#include "catalog/lease_schema.h"
#include "coordinator/term/leadership.h"

namespace baton::testing {

class Candidate final : public coordinator::LeadershipListener {
public:
    // `begins` is called when it is told to lead, before anybody else knows.
    Candidate(SqlDatabase& database, const std::string& owner,
              Duration ttl = std::chrono::seconds(2), std::function<void()> begins = nullptr)
        : begins_(std::move(begins)),
          leadership_({.timers = *election::ElectionTimers::of(ttl),
                       .lock = std::string(catalog::kLeaderLock),
                       .owner = owner,
                       .seed = std::hash<std::string>()(owner)},
                      database, clock_, *this) {
        leadership_.start();
    }

    void lead(Epoch epoch) override {
        if (begins_) begins_();
        {
            const std::lock_guard lock(mutex_);
            led_ = epoch;
        }
        note("lead " + to_string(epoch));
    }
    void step_down(Epoch epoch, election::Reason /*reason*/, const std::string& /*why*/) override {
        leadership_.drained(epoch);
        note("step down from " + to_string(epoch));
    }
    void left() override { note("left"); }

    // Waits for it.
    [[nodiscard]] bool is_told(const std::string& what) {
        std::unique_lock lock(mutex_);
        return noted_.wait_for(lock, std::chrono::seconds(30), [&] { return has(what); });
    }
    // Waits until it leads under an epoch above this one: on a busy machine an acquisition may take
    // too long, and is made again under the next.
    [[nodiscard]] bool leads_above(Epoch epoch) {
        std::unique_lock lock(mutex_);
        return noted_.wait_for(lock, std::chrono::seconds(30), [&] { return led_ > epoch; });
    }
    [[nodiscard]] bool was_told(const std::string& what) {
        const std::lock_guard lock(mutex_);
        return has(what);
    }
    coordinator::Leadership* operator->() { return &leadership_; }

private:
    [[nodiscard]] bool has(const std::string& what) const {
        return std::find(notes_.begin(), notes_.end(), what) != notes_.end();
    }
    void note(const std::string& what) {
        {
            const std::lock_guard lock(mutex_);
            notes_.push_back(what);
        }
        noted_.notify_all();
    }

    const system::SystemClock clock_;
    const std::function<void()> begins_;
    std::mutex mutex_;
    std::condition_variable noted_;
    std::vector<std::string> notes_;
    Epoch led_;  // the last
    coordinator::Leadership leadership_;
};

}  // namespace baton::testing
