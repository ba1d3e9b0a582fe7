#include "coordinator/commit/settler.h"

#include <utility>

namespace baton::coordinator {

namespace {

// Fewer answers than this are given by the writer: handing them over costs as much as waking two.
constexpr std::size_t kAnswersHandedOver = 4;

Error unknown(const Error& cause) {
    return {.code = ErrorCode::unknown_outcome,
            .message = "it may not have happened: " + cause.message,
            .hint = "look at the disk, then restart the coordinator and see whether it happened"};
}

Error unusable(const Error& cause) {
    return {.code = ErrorCode::catalog_unavailable,
            .message = "the catalog holds changes that could not be made durable: " + cause.message,
            .hint = "look at the disk, then restart the coordinator"};
}

}  // namespace

Settler::Settler(std::unique_ptr<SqlSync> sync, Durable& durable, Published published)
    : sync_(std::move(sync)),
      durable_(durable),
      published_(std::move(published)),
      thread_([this] { run(); }) {}

Settler::~Settler() {
    stop();
}

void Settler::stop() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

std::optional<Error> Settler::broken() const {
    const std::lock_guard lock(mutex_);
    return broken_;
}

void Settler::hand(CommittedBatch batch) {
    std::vector<CommittedBatch> alone;
    {
        std::unique_lock lock(mutex_);
        if (busy_ || !waiting_.empty() || batch.answers.size() >= kAnswersHandedOver) {
            changed_.wait(lock, [&] { return waiting_.empty(); });
            waiting_.push_back(std::move(batch));
        } else {
            alone.push_back(std::move(batch));
        }
    }
    if (alone.empty()) {
        changed_.notify_all();
    } else {
        settle(alone);  // the thread is idle, and only the caller could change that
    }
}

void Settler::run() {
    for (;;) {
        std::vector<CommittedBatch> batches;
        {
            std::unique_lock lock(mutex_);
            busy_ = false;
            changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            batches.swap(waiting_);
            busy_ = true;
        }
        changed_.notify_all();
        settle(batches);
    }
}

void Settler::sync() {
    if (!sync_ || broken()) return;
    auto synced = sync_->sync();
    if (synced) return;
    const Error error = unusable(synced.error());
    durable_.give_up(error);
    const std::lock_guard lock(mutex_);
    broken_ = error;
}

void Settler::settle(std::vector<CommittedBatch>& batches) {
    sync();
    const auto error = broken();
    for (CommittedBatch& batch : batches) {
        if (!error) {
            durable_.reached(batch.revision);
            if (!batch.changes.empty()) published_(batch.changes);
        }
        for (auto& [answered, outcome] : batch.answers) {
            const bool lost = error && !std::holds_alternative<Refused>(outcome);
            answered(lost ? Outcome(Refused{.step = 0, .error = unknown(*error)})
                          : std::move(outcome));
        }
    }
}

}  // namespace baton::coordinator
