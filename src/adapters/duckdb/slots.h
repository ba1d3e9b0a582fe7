// Slots are where questions run: each has a thread and an instance of DuckDB, and holds one
// question at a time. A caller that gives up leaves at once; the slot follows when DuckDB comes to
// a point where it notices.
//
// Deciding anything is not done here: steps come from the engine, and run in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "adapters/duckdb/instance.h"
#include "base/result.h"
#include "base/time.h"

namespace baton::duckdb_engine {

class Slots;

class Slot {
public:
    Slot(Slots& home, InstanceLimits limits);
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot();  // after the steps that wait

    void post(std::function<void()> step);  // any thread
    // The last step of a question: afterwards the slot is free for another one.
    void release(std::function<void()> step);

    // For steps. The instance, which is opened if there is none.
    [[nodiscard]] Result<Instance*> instance();
    // Null: there is none now.
    [[nodiscard]] Instance* opened() { return instance_.get(); }
    // The next question gets a new one.
    void discard() { discarded_ = true; }

private:
    void run();

    Slots& home_;
    InstanceLimits limits_;
    std::unique_ptr<Instance> instance_;
    bool discarded_ = false;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> steps_;
    bool ending_ = false;
    std::thread thread_;  // the last member: it uses all others
};

class Slots {
public:
    Slots(std::size_t count, const InstanceLimits& limits);
    Slots(const Slots&) = delete;
    Slots& operator=(const Slots&) = delete;
    ~Slots() = default;

    // Waits for a free slot. Fails with slow_down after the patience, and with cancelled.
    [[nodiscard]] Result<Slot*> take(Duration patience, const std::function<bool()>& given_up);
    void give_back(Slot* slot);

private:
    std::mutex mutex_;
    std::condition_variable freed_;
    std::vector<Slot*> free_;
    std::vector<std::unique_ptr<Slot>> slots_;  // the last member: they give themselves back
};

// Waits in portions of a few milliseconds, and asks `given_up` in between.
constexpr std::chrono::milliseconds kPortion{5};

}  // namespace baton::duckdb_engine
