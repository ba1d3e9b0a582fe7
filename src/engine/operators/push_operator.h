// A PushOperator takes the frames of its inputs and pushes the results to the next operator.
//
// Rules:
//   - begin() comes first, once: from then on the origins of each input are known.
//   - One call at a time: a caller with several threads sees to it. An operator pushes its results
//     from within the call.
//   - After an error, no further call is made.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/streams/frame.h"

namespace baton::engine {

// The memory of the windows of all fragments of a worker. Outlives them.
struct WindowMemory {
    std::uint64_t most = UINT64_MAX;
    std::atomic<std::uint64_t> held = 0;  // in bytes
};

// Shared by the operators of one fragment. Outlives them.
struct OperatorContext {
    std::function<std::uint64_t()> wall_ms;  // the time of arrival, since 1970
    std::uint64_t memory_most = std::uint64_t{512} << 20U;
    // A partial aggregation gives what it has rather than hold more.
    std::uint64_t partial_memory_most = std::uint64_t{32} << 20U;
    bool late_fails = false;
    WindowMemory* all = nullptr;  // of the worker; none: only the fragment's own is bounded

    std::atomic<std::uint64_t> memory = 0;  // bytes held
    std::atomic<std::uint64_t> late = 0;    // rows that came after their window was closed
    std::atomic<bool> stopped = false;      // long computations look here

    // Fails with cancelled if it was stopped. Between pieces of work that are short by themselves.
    [[nodiscard]] Result<Done> go_on() const {
        if (!stopped) return Done{};
        return Error{.code = ErrorCode::cancelled, .message = "the query was stopped"};
    }
};

class PushOperator {
public:
    PushOperator() = default;
    PushOperator(const PushOperator&) = delete;
    PushOperator& operator=(const PushOperator&) = delete;
    virtual ~PushOperator() = default;

    // How many origins each input has. Returns how many the output has.
    virtual std::size_t begin(const std::vector<std::size_t>& origins) = 0;
    virtual Result<Done> push(std::size_t input, Frame frame) = 0;
    // Time has passed, or no more rows are at hand. Called now and then.
    virtual Result<Done> tick() { return Done{}; }
    // Whether something happens by time alone, without rows.
    [[nodiscard]] virtual bool needs_ticks() const { return false; }
};

// Where an operator's frames go.
struct Outlet {
    PushOperator* to = nullptr;
    std::size_t input = 0;

    // Frames that say nothing are not passed on.
    [[nodiscard]] Result<Done> push(Frame frame) const {
        const bool empty = frame.batch.rows == 0 && !frame.watermark && !frame.end;
        if (empty) return Done{};
        return to->push(input, std::move(frame));
    }
};

// The bytes that one operator holds, as part of its fragment's limit.
class MemoryShare {
public:
    explicit MemoryShare(OperatorContext& context) : context_(&context) {}
    MemoryShare(const MemoryShare&) = delete;
    MemoryShare& operator=(const MemoryShare&) = delete;
    ~MemoryShare() { (void)hold(0); }

    // From now on it is this much. Fails with out_of_memory if that is too much for the fragment,
    // or for the worker with all its fragments.
    [[nodiscard]] Result<Done> hold(std::uint64_t bytes) {
        const std::uint64_t own = context_->memory += bytes - held_;
        WindowMemory* all = context_->all;
        const std::uint64_t together = all == nullptr ? 0 : all->held += bytes - held_;
        const bool grows = bytes > held_;
        held_ = bytes;
        if (!grows) return Done{};
        if (own > context_->memory_most) {
            return too_much("the query", own, context_->memory_most,
                            "use smaller windows, fewer keys, or more workers");
        }
        if (all != nullptr && together > all->most) {
            return too_much(
                "all queries of this worker", together, all->most,
                "stop other queries, or use smaller windows, fewer keys, or more workers");
        }
        return Done{};
    }
    [[nodiscard]] std::uint64_t held() const { return held_; }

private:
    static Error too_much(const std::string& whose, std::uint64_t held, std::uint64_t most,
                          std::string hint) {
        return Error{.code = ErrorCode::out_of_memory,
                     .message = "the windows of " + whose + " hold " + std::to_string(held) +
                                " bytes, but may hold no more than " + std::to_string(most),
                     .hint = std::move(hint)};
    }

    OperatorContext* context_;
    std::uint64_t held_ = 0;
};

}  // namespace baton::engine
