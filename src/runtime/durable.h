// Durable says how far the catalog is durable. The writer may be ahead of the disk; what is shown
// to anyone must not be, since a loss of power would take it back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/id.h"
#include "base/result.h"

namespace baton {

class Durable {
public:
    explicit Durable(Revision start) : through_(start.value()) {}

    // Everything up to this revision is durable.
    void reached(Revision revision) {
        {
            const std::lock_guard lock(mutex_);
            through_ = revision.value();
        }
        changed_.notify_all();
    }

    // Nothing more will be: who waits, and will wait, gets the error.
    void give_up(Error error) {
        {
            const std::lock_guard lock(mutex_);
            error_ = std::move(error);
        }
        changed_.notify_all();
    }

    // Waits until the revision is durable. Fails if it never will be.
    [[nodiscard]] Result<Done> wait_for(Revision revision) {
        if (revision.value() <= through_) return Done{};
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return revision.value() <= through_ || error_; });
        if (revision.value() <= through_) return Done{};
        return *error_;
    }

private:
    std::atomic<std::uint64_t> through_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Error> error_;
};

}  // namespace baton
