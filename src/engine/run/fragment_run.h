// A FragmentRun is the life of one fragment: a thread that prepares it and waits for its end, and
// one for each leaf while it runs.
//
// Commands are flags that the threads look at; setting one also wakes them. The first of them to
// meet an error stops the others. An exception, such as a lack of memory or of threads, is an error
// of the fragment like any other: it never ends the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/run/pipeline.h"
#include "ports/clock.h"
#include "ports/engine.h"

namespace baton::engine {

// How much the windows of all fragments may hold where a process can have that much memory: half of
// it, but no less than one fragment may.
[[nodiscard]] constexpr std::uint64_t window_memory_most(std::uint64_t memory_of_process) {
    return std::max(std::uint64_t{512} << 20U, memory_of_process / 2);
}

struct FragmentOptions {
    std::uint64_t memory_most = std::uint64_t{512} << 20U;         // of a fragment, in bytes
    std::uint64_t memory_most_in_all = UINT64_MAX;                 // of all fragments of an engine
    std::uint64_t partial_memory_most = std::uint64_t{32} << 20U;  // of a partial aggregation
    Duration tick = std::chrono::milliseconds(100);  // how long rows stay unseen in a sink
    Duration patience = std::chrono::seconds(10);    // where nothing happens by time alone
    std::size_t backlog_frames = 256;  // of senders that came before others were known
    std::size_t leaves_most = 8'000;   // of all fragments of an engine: each has a thread
    // Starts a thread for a leaf, or throws std::system_error.
    std::function<std::thread(std::function<void()>)> thread = [](std::function<void()> work) {
        return std::thread(std::move(work));
    };
};

class FragmentRun {
public:
    using Report = std::function<void(fragments::Event)>;
    // `ended` is called by the run's own thread before its last report: the key is free again.
    struct Owner {
        Report report;
        std::function<void()> ended;
        std::atomic<std::size_t>& leaves;  // of all runs together
        WindowMemory& memory;              //
    };

    FragmentRun(FragmentKey key, std::string plan, const FragmentOptions& options,
                const Clock& clock, Pipeline::ConnectorPorts doors, Owner owner);
    FragmentRun(const FragmentRun&) = delete;
    FragmentRun& operator=(const FragmentRun&) = delete;
    ~FragmentRun();  // not on one of its own threads

    void start();
    void drain();
    void abort();

    // None unless it runs.
    [[nodiscard]] std::optional<Counts> counts() const;
    // Its thread has nothing left to do but to return.
    [[nodiscard]] bool done() const { return done_; }

private:
    void supervise();
    void report(const fragments::Event& event);
    // How the fragment ends.
    [[nodiscard]] fragments::Event live();
    [[nodiscard]] Result<Done> prepare();
    [[nodiscard]] Result<Done> take_leaves(std::size_t count);
    [[nodiscard]] bool wait_for_start();
    void run_leaves();
    [[nodiscard]] Result<Done> start_leaves(std::vector<std::thread>& threads);
    [[nodiscard]] Result<Done> open_gate();

    // ---- on the threads of leaves ----
    void run_leaf(std::size_t index);
    [[nodiscard]] Result<Done> run_to_end(Leaf& leaf, std::size_t index);
    [[nodiscard]] Result<Done> run_source(Leaf& leaf, std::size_t index);
    [[nodiscard]] Result<Done> run_receiver(Leaf& leaf, std::size_t index);
    [[nodiscard]] Result<Done> push_arrived(Leaf& leaf, Arrived arrived,
                                            const std::vector<std::size_t>& first,
                                            std::vector<bool>& ended);
    [[nodiscard]] Result<std::deque<Arrived>> wait_for_origins(Leaf& leaf,
                                                               std::vector<std::size_t>& first);
    [[nodiscard]] bool pass_gate();  // false: it is over
    [[nodiscard]] Result<Done> tick(const Leaf& leaf, std::size_t index);
    [[nodiscard]] bool tick_is_due(std::size_t index) const;
    [[nodiscard]] Duration patience_of(const Leaf& leaf) const;
    void fail(const Error& error) noexcept;
    void stop_everything();

    const FragmentKey key_;
    const std::string text_;
    const FragmentOptions options_;
    const Clock& clock_;
    Pipeline::ConnectorPorts doors_;
    Owner owner_;

    OperatorContext context_;
    bool plan_error_ = false;  // the plan itself is wrong
    bool prepared_ = false;
    std::size_t leaves_taken_ = 0;  // these three are the supervising thread's alone

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_; set once and reset at the end, both by the supervising thread.
    std::unique_ptr<Pipeline> pipeline_;
    bool started_ = false;
    bool draining_ = false;
    bool aborted_ = false;
    bool running_ = false;
    bool gate_open_ = false;
    std::size_t unannounced_ = 0;  // receivers that do not know their origins yet
    std::optional<Error> error_;

    struct LeafState {
        std::atomic<std::uint64_t> busy_us = 0;
        Instant last_tick;
    };
    std::deque<LeafState> leaf_states_;                    // by leaf
    std::deque<std::atomic<std::size_t>> leaves_of_root_;  // that have not ended
    std::atomic<bool> drained_ = false;                    // draining_, for leaves
    std::atomic<bool> done_ = false;
    std::thread thread_;  // the last member: it uses all others
};

}  // namespace baton::engine
