#include "core/store_calls/pace.h"

#include <algorithm>

namespace baton::store_calls {

namespace {

constexpr Duration kSecond = std::chrono::seconds(1);

std::int64_t second_of(Instant time) {
    return time.time_since_epoch() / kSecond;
}

}  // namespace

void Pace::count(Instant sent) {
    const std::int64_t second = second_of(sent);
    if (second > second_) {
        in_one_before_ = second == second_ + 1 ? in_second_ : 0;
        in_second_ = 0;
        second_ = second;
    }
    ++in_second_;
}

void Pace::recover(Instant now) {
    while (per_second_ && now - recovered_ >= kSecond) {
        recovered_ += kSecond;
        *per_second_ *= kGrowth;
        if (*per_second_ >= kPerSecondMax) per_second_.reset();
    }
}

Instant Pace::reserve(Instant now) {
    recover(now);
    Instant sent = now;
    if (per_second_) {
        sent = std::max(now, next_);
        next_ = sent + Duration(static_cast<std::int64_t>(1e6 / *per_second_));
    }
    count(sent);
    return sent;
}

void Pace::slow_down(Instant now) {
    recover(now);
    if (slowed_ && now - *slowed_ < kSecond) return;
    slowed_ = now;
    recovered_ = now;
    const double sent = static_cast<double>(std::max(in_second_, in_one_before_));
    const double before = per_second_ ? *per_second_ : sent;
    per_second_ = std::clamp(before / 2, kPerSecondMin, kPerSecondMax);
    next_ = std::max(next_, now);
}

std::optional<double> Pace::limit(Instant now) {
    recover(now);
    return per_second_;
}

}  // namespace baton::store_calls
