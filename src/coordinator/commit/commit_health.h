// CommitHealth reports whether the catalog accepts changes: how many commits in a row have failed,
// and why. A leader in trouble gives up its lease (term/leadership_driver.h). Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/result.h"

namespace baton::coordinator {

class CommitHealth {
public:
    // So many failures in a row are trouble: one may be the fault of the request.
    static constexpr std::uint64_t kTroubleAfter = 5;
    // Called when trouble begins, and when it is over.
    using TroubleListener = std::function<void(const Result<Done>&)>;

    explicit CommitHealth(TroubleListener told = nullptr) : told_(std::move(told)) {}

    void committed() {
        {
            const std::lock_guard lock(mutex_);
            const bool was_trouble = failures_ >= kTroubleAfter;
            failures_ = 0;
            if (!was_trouble) return;
        }
        if (told_) told_(Done{});
    }

    void failed(const Error& why) {
        {
            const std::lock_guard lock(mutex_);
            // A coordinator that leads no more is as healthy as before.
            if (why.code == ErrorCode::fenced) return;
            failures_ += 1;
            last_ = why;
            if (failures_ != kTroubleAfter) return;
        }
        if (told_) told_(why);
    }

    // Why nothing can be committed; none: it can, as far as is known.
    [[nodiscard]] std::optional<Error> trouble() const {
        const std::lock_guard lock(mutex_);
        if (failures_ < kTroubleAfter) return std::nullopt;
        return last_;
    }
    [[nodiscard]] std::uint64_t failures_in_a_row() const {
        const std::lock_guard lock(mutex_);
        return failures_;
    }

private:
    const TroubleListener told_;
    mutable std::mutex mutex_;
    std::uint64_t failures_ = 0;
    Error last_;
};

}  // namespace baton::coordinator
