// Durable says how far the catalog is durable. The writer may be ahead of the disk; rows that a
// client sees must not be, since a loss of power would take them back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "threads/waiting.h"

namespace baton::coordinator {

class Durable {
public:
    // `always`: whatever can be read is durable, as in a database whose commits are.
    explicit Durable(Revision start, bool always = false)
        : always_(always), through_(start.value()) {}

    // Everything up to this revision is durable.
    void reached(Revision revision) {
        {
            const std::lock_guard lock(mutex_);
            through_ = revision.value();
        }
        changed_.notify_all();
    }

    // Nothing more will be: present and later waits get the error.
    void give_up(Error error) {
        {
            const std::lock_guard lock(mutex_);
            error_ = std::move(error);
        }
        changed_.notify_all();
    }

    // Waits until the revision is durable. Fails if it never will be, and with catalog_unavailable
    // if that takes too long: a disk that does not answer is not waited for for ever.
    [[nodiscard]] Result<Done> wait_for(Revision revision, Duration at_most = kPatience) {
        if (always_ || revision.value() <= through_) return Done{};
        const threads::Waiting waiting;
        std::unique_lock lock(mutex_);
        const auto is_over = [&] { return revision.value() <= through_ || error_; };
        if (!changed_.wait_for(lock, at_most, is_over)) {
            return Error{.code = ErrorCode::catalog_unavailable,
                         .message = "cannot read the catalog: its last change is not durable yet",
                         .hint = "try again; if it stays so, look at the disk of the catalog"};
        }
        if (revision.value() <= through_) return Done{};
        return *error_;
    }

    static constexpr Duration kPatience = std::chrono::seconds(10);

private:
    const bool always_;
    std::atomic<std::uint64_t> through_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Error> error_;
};

}  // namespace baton::coordinator
