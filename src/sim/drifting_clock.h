// DriftingClock is the clock of a process: it runs fast or slow against the world's, and begins
// with the process.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "ports/clock.h"
#include "sim/agenda.h"

namespace baton::sim {

class DriftingClock final : public Clock {
public:
    DriftingClock(const Agenda& agenda, std::int64_t ppm)
        : agenda_(agenda), started_(agenda.now()), ppm_(ppm) {}

    [[nodiscard]] Instant now() const override {
        const auto passed = (agenda_.now() - started_).count();
        return at(Duration(passed + passed * ppm_ / kMillion));
    }
    [[nodiscard]] WallTime wall_now() const override {
        return WallTime(agenda_.now().time_since_epoch());
    }
    // How long the world has to wait until this clock shows that time.
    [[nodiscard]] Duration until(Instant local) const {
        const auto left = (local - now()).count();
        if (left <= 0) return Duration::zero();
        return Duration(left * kMillion / (kMillion + ppm_) + 1);
    }

private:
    static constexpr std::int64_t kMillion = 1'000'000;

    const Agenda& agenda_;
    const Instant started_;
    const std::int64_t ppm_;
};

}  // namespace baton::sim
