#include "adapters/duckdb/slots.h"

#include <chrono>
#include <string>
#include <utility>

namespace baton::duckdb_engine {

namespace {

// Caches of an instance grow with the files that it has seen.
constexpr std::uint64_t kFilesMax = 50'000;

}  // namespace

Slot::Slot(Slots& home, InstanceLimits limits)
    : home_(home), limits_(std::move(limits)), thread_([this] { run(); }) {}

Slot::~Slot() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Slot::post(std::function<void()> step) {
    {
        const std::lock_guard lock(mutex_);
        steps_.push_back(std::move(step));
    }
    changed_.notify_one();
}

void Slot::release(std::function<void()> step) {
    post([this, step = std::move(step)] {
        step();
        if (discarded_ || (instance_ != nullptr && instance_->files_seen() > kFilesMax)) {
            instance_.reset();
            discarded_ = false;
        }
        home_.give_back(this);
    });
}

Result<Instance*> Slot::instance() {
    if (instance_ == nullptr) {
        TRY_ASSIGN(opened, Instance::open(limits_));
        instance_ = std::move(opened);
    }
    return instance_.get();
}

void Slot::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return ending_ || !steps_.empty(); });
        if (steps_.empty()) return;
        auto step = std::move(steps_.front());
        steps_.pop_front();
        lock.unlock();
        step();
        step = nullptr;  // what it holds ends here, on this thread
        lock.lock();
    }
}

Slots::Slots(std::size_t count, const InstanceLimits& limits) {
    for (std::size_t i = 0; i < count; ++i) {
        InstanceLimits own = limits;
        if (!own.spill_folder.empty()) own.spill_folder += "/slot" + std::to_string(i);
        slots_.push_back(std::make_unique<Slot>(*this, std::move(own)));
        free_.push_back(slots_.back().get());
    }
}

Result<Slot*> Slots::take(Duration patience, const std::function<bool()>& given_up) {
    const auto end = std::chrono::steady_clock::now() + patience;
    std::unique_lock lock(mutex_);
    while (free_.empty()) {
        freed_.wait_for(lock, kPortion);
        if (!free_.empty()) break;
        if (given_up && given_up()) {
            return Error{.code = ErrorCode::cancelled, .message = "the question was cancelled"};
        }
        if (std::chrono::steady_clock::now() < end) continue;
        return Error{
            .code = ErrorCode::slow_down,
            .message = "all " + std::to_string(slots_.size()) + " places for questions are taken",
            .hint = "ask again in a moment"};
    }
    Slot* slot = free_.back();
    free_.pop_back();
    return slot;
}

void Slots::give_back(Slot* slot) {
    {
        const std::lock_guard lock(mutex_);
        free_.push_back(slot);
    }
    freed_.notify_one();
}

}  // namespace baton::duckdb_engine
