// What the threads of leaves do.
#include <ctime>
#include <numeric>

#include "engine/operators/windows.h"
#include "engine/run/caught.h"
#include "engine/run/fragment_run.h"

namespace baton::engine {

namespace {

std::uint64_t thread_busy_us() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec) / 1000;
}

Error protocol_error(const std::string& what) {
    return Error{.code = ErrorCode::malformed_message, .message = "an exchange gave " + what};
}

}  // namespace

void FragmentRun::run_leaf(std::size_t index) {
    Leaf& leaf = *pipeline_->leaves()[index];
    const Result<Done> result = caught([&] { return run_to_end(leaf, index); });
    leaf_states_[index].busy_us = thread_busy_us();
    if (!result) fail(result.error());
}

Result<Done> FragmentRun::run_to_end(Leaf& leaf, std::size_t index) {
    TRY(leaf.source ? run_source(leaf, index) : run_receiver(leaf, index));
    if (context_.stopped) return Done{};
    // Before it counts as done: the last one finishes the sink, and nobody may be at it then.
    const Result<Done> ticked = tick(leaf, index);
    const bool last = leaves_of_root_[leaf.root].fetch_sub(1) == 1;
    TRY(ticked);
    return last ? pipeline_->terminal(leaf.root).finish() : Done{};
}

bool FragmentRun::pass_gate() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return gate_open_ || context_.stopped; });
    return !context_.stopped;
}

Duration FragmentRun::patience_of(const Leaf& leaf) const {
    if (leaf.terminal->unflushed()) return Duration(0);
    return leaf.needs_ticks ? options_.tick : options_.patience;
}

bool FragmentRun::tick_is_due(std::size_t index) const {
    return clock_.now() - leaf_states_[index].last_tick >= options_.tick;
}

Result<Done> FragmentRun::tick(const Leaf& leaf, std::size_t index) {
    leaf_states_[index].last_tick = clock_.now();
    leaf_states_[index].busy_us = thread_busy_us();
    for (PushOperator* op : leaf.way) TRY(op->tick());
    return Done{};
}

Result<Done> FragmentRun::run_source(Leaf& leaf, std::size_t index) {
    if (!pass_gate()) return Done{};
    leaf_states_[index].last_tick = clock_.now();
    std::optional<std::uint64_t> watermark;
    Batch batch;
    while (!context_.stopped) {
        TRY_ASSIGN(pulled, leaf.source->pull(batch, patience_of(leaf)));
        if (pulled == Pull::end) break;
        if (pulled == Pull::nothing) {
            if (drained_) break;
            TRY(tick(leaf, index));
            continue;
        }
        if (leaf.time) {
            const auto largest = largest_time(batch.columns.at(*leaf.time));
            if (largest) watermark = std::max(watermark.value_or(0), *largest);
        }
        TRY(leaf.out.push(
            {.origin = 0, .batch = std::move(batch), .watermark = watermark, .end = false}));
        batch = Batch();
        if (tick_is_due(index)) TRY(tick(leaf, index));
    }
    if (context_.stopped) return Done{};
    return leaf.out.push({.origin = 0, .batch = {}, .watermark = {}, .end = true});
}

// Takes in what comes until every sender has said what its origins are. Frames of those who were
// early have to wait; if they are many, they are taken slowly.
Result<std::deque<Arrived>> FragmentRun::wait_for_origins(Leaf& leaf,
                                                          std::vector<std::size_t>& first) {
    std::vector<std::optional<std::vector<std::string>>> announced(leaf.senders);
    std::size_t missing = leaf.senders;
    std::deque<Arrived> backlog;
    while (missing > 0 && !context_.stopped) {
        if (backlog.size() >= options_.backlog_frames) {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, std::chrono::milliseconds(10),
                              [&] { return context_.stopped.load(); });
        }
        const bool no_more = drained_;
        TRY_ASSIGN(arrived, leaf.receiver->next(options_.patience));
        if (arrived.what == Arrival::nothing) {
            // Who has not been heard of by now never ran, so nothing of it all was computed.
            if (no_more) abort();
            continue;
        }
        if (arrived.what == Arrival::end) return protocol_error("an end before its origins");
        if (arrived.what == Arrival::frame) {
            backlog.push_back(std::move(arrived));
            continue;
        }
        auto& origins = announced.at(arrived.sender);
        if (origins) return protocol_error("the origins of a sender twice");
        origins = std::move(arrived.origins);
        missing -= 1;
    }
    for (const auto& origins : announced) {
        first.push_back(leaf.origins.size());
        if (origins) leaf.origins.insert(leaf.origins.end(), origins->begin(), origins->end());
    }
    const std::lock_guard lock(mutex_);
    unannounced_ -= 1;
    changed_.notify_all();
    return backlog;
}

Result<Done> FragmentRun::push_arrived(Leaf& leaf, Arrived arrived,
                                       const std::vector<std::size_t>& first,
                                       std::vector<bool>& ended) {
    if (arrived.what != Arrival::frame) return protocol_error("origins after its frames");
    Frame frame = std::move(arrived.frame);
    frame.origin += static_cast<std::uint32_t>(first.at(arrived.sender));
    if (frame.origin >= ended.size()) return protocol_error("a frame of an unknown origin");
    if (frame.end) ended[frame.origin] = true;
    return leaf.out.push(std::move(frame));
}

Result<Done> FragmentRun::run_receiver(Leaf& leaf, std::size_t index) {
    std::vector<std::size_t> first;  // origin of each sender
    TRY_ASSIGN(backlog, wait_for_origins(leaf, first));
    if (!pass_gate()) return Done{};
    leaf_states_[index].last_tick = clock_.now();
    std::vector<bool> ended(leaf.origins.size());
    while (!backlog.empty()) {
        TRY(push_arrived(leaf, std::move(backlog.front()), first, ended));
        backlog.pop_front();
    }
    while (!context_.stopped) {
        const bool no_more = drained_;  // who has not finished by now was lost
        TRY_ASSIGN(arrived, leaf.receiver->next(patience_of(leaf)));
        if (arrived.what == Arrival::end) break;
        if (arrived.what == Arrival::nothing) {
            if (no_more) break;
            TRY(tick(leaf, index));
            continue;
        }
        TRY(push_arrived(leaf, std::move(arrived), first, ended));
        if (tick_is_due(index)) TRY(tick(leaf, index));
    }
    if (context_.stopped) return Done{};
    for (std::uint32_t i = 0; i < ended.size(); ++i) {
        if (ended[i]) continue;
        TRY(leaf.out.push({.origin = i, .batch = {}, .watermark = {}, .end = true}));
    }
    return Done{};
}

}  // namespace baton::engine
