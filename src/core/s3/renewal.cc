#include "core/s3/renewal.h"

#include <algorithm>

#include "base/check.h"

namespace baton::s3 {

namespace {

constexpr Duration kRenewEarly = std::chrono::minutes(5);
constexpr Duration kPauseMin = std::chrono::seconds(1);
constexpr Duration kPauseMax = std::chrono::seconds(30);

}  // namespace

Renewal::Turn Renewal::without_any(Instant now) {
    if (renewing_) return Turn::wait;
    if (pause_ > Duration::zero() && now < try_from_) return Turn::fail;
    renewing_ = true;
    return Turn::renew;
}

Renewal::Turn Renewal::turn(Instant now) {
    if (!has_ || (ends_ && now >= *ends_)) return without_any(now);
    if (!ends_ || now < renew_from_ || renewing_) return Turn::use;
    if (pause_ > Duration::zero() && now < try_from_) return Turn::use;
    renewing_ = true;
    return Turn::renew;
}

void Renewal::renewed(Instant now, std::optional<Instant> ends) {
    CHECK(renewing_);
    renewing_ = false;
    has_ = true;
    pause_ = Duration::zero();
    ends_ = ends;
    if (!ends) return;
    const Duration life = std::max(*ends - now, Duration::zero());
    renew_from_ = *ends - std::min(kRenewEarly, life / 4);
}

void Renewal::failed(Instant now) {
    CHECK(renewing_);
    renewing_ = false;
    pause_ = std::clamp(pause_ * 2, kPauseMin, kPauseMax);
    try_from_ = now + pause_;
}

}  // namespace baton::s3
