// Runs fragments to their end on engines in this process, and tells what became of them.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.h"
#include "ports/clock.h"
#include "ports/engine.h"

namespace baton::testing {

// The reports of an engine. From any thread.
class Reports {
public:
    [[nodiscard]] Engine::Listener listener();

    // Waits until the fragment has ended; what it ended with.
    [[nodiscard]] fragments::Event end_of(const FragmentKey& key);
    // Waits until one of the fragments 0 to count - 1 has ended badly, or all have ended well.
    [[nodiscard]] std::optional<fragments::Event> first_trouble(std::size_t count);
    void wait_until_prepared(const FragmentKey& key);
    void wait_until_ran(const FragmentKey& key);

    // "Prepared BeganToRun Ended", in the order they came.
    [[nodiscard]] std::string heard_of(const FragmentKey& key) const;

private:
    [[nodiscard]] const fragments::Event* last_of(const FragmentKey& key) const;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<fragments::Event> reports_;
};

// A clock that shows the time that a test sets.
class FixedClock : public Clock {
public:
    [[nodiscard]] Instant now() const override;
    [[nodiscard]] WallTime wall_now() const override;
    void set_wall_ms(std::uint64_t ms);

private:
    mutable std::mutex mutex_;
    std::uint64_t wall_ms_ = 0;
};

[[nodiscard]] FragmentKey fragment_key(std::uint64_t fragment);

// Prepares all, starts all, and waits for all to end. Returns why one of them did not end well.
[[nodiscard]] std::optional<std::string> run_to_end(Engine& engine,
                                                    const std::vector<FragmentPlan>& fragments);

}  // namespace baton::testing
