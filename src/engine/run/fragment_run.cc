#include "engine/run/fragment_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <utility>

#include "core/plan_format/plan_format.h"
#include "engine/run/caught.h"
#include "model/plan_check.h"

namespace baton::engine {

namespace {

using control::Fault;

// Whether trying again would only end the same way.
Fault fault_of(const Error& error) {
    switch (error.reaction()) {
        case Reaction::invalid:
        case Reaction::not_found:
            return Fault::terminal;
        case Reaction::conflict:
        case Reaction::unavailable:
        case Reaction::unknown_outcome:
            return Fault::transient;
    }
    return Fault::transient;
}

Fault fault_at_run_time(const Error& error) {
    constexpr std::array kFinal = {
        ErrorCode::arithmetic,     ErrorCode::late_row,
        ErrorCode::out_of_memory,  ErrorCode::cannot_format,
        ErrorCode::not_supported,  // the other end of an exchange cannot take it, ever
        ErrorCode::cancelled,      // nobody wants the rows any more
        ErrorCode::too_large,      ErrorCode::defect,
        ErrorCode::cannot_convert,  // a value that a column of a table does not hold
    };
    const bool is_final = std::find(kFinal.begin(), kFinal.end(), error.code) != kFinal.end();
    return is_final ? Fault::terminal : Fault::transient;
}

template <class Work>
void until_there_is_memory(const Work& work) {
    constexpr auto kPause = std::chrono::milliseconds(10);
    while (true) {
        try {
            return work();
        } catch (const std::bad_alloc&) {
            std::this_thread::sleep_for(kPause);
        }
    }
}

bool wants_late_errors(const Config& settings) {
    const auto found = settings.find("LATE");
    if (found == settings.end()) return false;
    const auto* text = std::get_if<std::string>(&found->second);
    return text != nullptr && *text == "FAIL";
}

}  // namespace

FragmentRun::FragmentRun(FragmentKey key, std::string plan, const FragmentOptions& options,
                         const Clock& clock, Pipeline::ConnectorPorts doors, Owner owner)
    : key_(key),
      text_(std::move(plan)),
      options_(options),
      clock_(clock),
      doors_(doors),
      owner_(std::move(owner)) {
    context_.wall_ms = [this] {
        const auto since = clock_.wall_now().time_since_epoch();
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
    };
    context_.memory_most = options_.memory_most;
    context_.all = &owner_.memory;
    context_.partial_memory_most = options_.partial_memory_most;
    thread_ = std::thread([this] { supervise(); });
}

FragmentRun::~FragmentRun() {
    abort();
    thread_.join();
}

// ---- orders -------------------------------------------------------------------------------------

void FragmentRun::start() {
    const std::lock_guard lock(mutex_);
    started_ = true;
    changed_.notify_all();
}

void FragmentRun::drain() {
    const std::lock_guard lock(mutex_);
    draining_ = true;
    drained_ = true;
    if (running_) pipeline_->interrupt_leaves();
    changed_.notify_all();
}

void FragmentRun::abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    stop_everything();
}

void FragmentRun::stop_everything() {
    context_.stopped = true;
    if (running_) pipeline_->interrupt_everything();
    changed_.notify_all();
}

void FragmentRun::fail(const Error& error) noexcept {
    const std::lock_guard lock(mutex_);
    if (context_.stopped) return;  // what follows from having been stopped is no news
    try {
        error_ = error;
    } catch (...) {
        error_.emplace().code = error.code;  // no memory for its words
    }
    stop_everything();
}

std::optional<Counts> FragmentRun::counts() const {
    const std::lock_guard lock(mutex_);
    if (!running_) return std::nullopt;
    Counts counts;
    pipeline_->count(counts);
    counts.late = context_.late;
    counts.memory = context_.memory;
    for (const LeafState& leaf : leaf_states_) counts.busy_us += leaf.busy_us;
    return counts;
}

// ---- the supervising thread ---------------------------------------------------------------------

void FragmentRun::supervise() {
    fragments::Event end;
    try {
        end = live();
    } catch (...) {
        std::string why = error_of_exception().message;
        if (prepared_) {
            end = fragments::Broke{.key = key_, .fault = Fault::terminal, .why = std::move(why)};
        } else {
            end = fragments::PrepareFailed{
                .key = key_, .fault = Fault::terminal, .why = std::move(why)};
        }
    }
    Counts counted = counts().value_or(Counts{});
    {
        const std::lock_guard lock(mutex_);
        running_ = false;
    }
    pipeline_.reset();
    owner_.leaves -= leaves_taken_;
    counted.memory = context_.memory;
    until_there_is_memory([&] { owner_.ended(); });
    std::visit(
        [&](auto& e) {
            if constexpr (requires { e.counts; }) e.counts = counted;
        },
        end);
    report(end);
    done_ = true;
}

// It is never lost: others wait for it.
void FragmentRun::report(const fragments::Event& event) {
    until_there_is_memory([&] { owner_.report(event); });
}

fragments::Event FragmentRun::live() {
    const Result<Done> prepared = caught([&] { return prepare(); });
    {
        const std::lock_guard lock(mutex_);
        if (aborted_) return fragments::Halted{key_};
    }
    if (!prepared) {
        const Error& error = prepared.error();
        const bool is_final = plan_error_ || error.code == ErrorCode::defect;
        return fragments::PrepareFailed{.key = key_,
                                        .fault = is_final ? Fault::terminal : fault_of(error),
                                        .why = to_string(error),
                                        .error = number(error.code)};
    }
    prepared_ = true;
    report(fragments::Prepared{key_});
    if (!wait_for_start()) return fragments::Halted{key_};
    run_leaves();
    const std::lock_guard lock(mutex_);
    if (error_) {
        return fragments::Broke{.key = key_,
                                .fault = fault_at_run_time(*error_),
                                .why = to_string(*error_),
                                .error = number(error_->code)};
    }
    if (aborted_ || draining_) return fragments::Halted{key_};
    return fragments::Ended{key_};
}

Result<Done> FragmentRun::prepare() {
    plan_error_ = true;
    TRY_ASSIGN(plan, plan_format::read_plan(text_));
    TRY(check_plan(plan));
    TRY(check_leaves(plan));
    plan_error_ = false;
    TRY(take_leaves(leaves_of(plan)));
    context_.late_fails = wants_late_errors(plan.settings);
    TRY_ASSIGN(pipeline, Pipeline::open(key_, plan, context_, doors_));
    const std::lock_guard lock(mutex_);
    pipeline_ = std::move(pipeline);
    for (std::size_t i = 0; i < pipeline_->roots(); ++i) leaves_of_root_.emplace_back(0);
    for (const auto& leaf : pipeline_->leaves()) {
        leaf_states_.emplace_back();
        leaves_of_root_[leaf->root] += 1;
        if (leaf->receiver) unannounced_ += 1;
    }
    return Done{};
}

Result<Done> FragmentRun::take_leaves(std::size_t count) {
    leaves_taken_ = count;
    if ((owner_.leaves += count) <= options_.leaves_most) return Done{};
    return Error{.code = ErrorCode::slow_down,
                 .message =
                     "cannot run the query: the queries of this worker would read in more "
                     "than " +
                     std::to_string(options_.leaves_most) + " places at once",
                 .hint = "stop other queries, or run this one on another worker"};
}

bool FragmentRun::wait_for_start() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_ || draining_ || aborted_; });
    const bool runs = started_ && !aborted_;
    running_ = runs;
    if (runs && draining_) pipeline_->interrupt_leaves();
    return runs;
}

void FragmentRun::run_leaves() {
    std::vector<std::thread> threads;
    const auto opened = caught([&]() -> Result<Done> {
        TRY(start_leaves(threads));
        report(fragments::BeganToRun{key_});
        return open_gate();
    });
    if (!opened) fail(opened.error());
    for (std::thread& thread : threads) thread.join();
}

// Those that were started when the next one could not be are told to end by who called.
Result<Done> FragmentRun::start_leaves(std::vector<std::thread>& threads) {
    threads.reserve(pipeline_->leaves().size());
    for (std::size_t i = 0; i < pipeline_->leaves().size(); ++i) {
        threads.push_back(options_.thread([this, i] { run_leaf(i); }));
    }
    return Done{};
}

Result<Done> FragmentRun::open_gate() {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return unannounced_ == 0 || context_.stopped; });
        if (context_.stopped) return Done{};
    }
    TRY(pipeline_->begin());
    const std::lock_guard lock(mutex_);
    gate_open_ = true;
    changed_.notify_all();
    return Done{};
}

}  // namespace baton::engine
