// PartitionDuty is a worker's care for its partitions: it looks after them as holdings.h says, and
// says which it has whenever it is assigned some, and whenever that changes.
// Pure: no clock, no I/O, no threads.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "core/worker/duty.h"
#include "core/worker/holdings.h"
#include "model/control.h"
#include "model/partition.h"

namespace baton::worker {

class PartitionDuty final : public Duty {
public:
    // As of Holdings.
    explicit PartitionDuty(Duration release_time) : holdings_(release_time) {}

    void welcome(Instant at, control::Welcome& welcome, duty::Effects& effects) override;
    void beat(Instant at, const control::Beat& beat, control::Pulse& pulse,
              duty::Effects& effects) override;
    void tick(Instant at, duty::Effects& effects) override;
    [[nodiscard]] std::optional<Instant> wake_at() const override { return holdings_.wake_at(); }
    [[nodiscard]] bool may_leave(bool is_heard) const override;

    // An assignment of the epoch that is obeyed. Always answered.
    void obey(Instant at, const control::Assign& assign, duty::Effects& effects);
    // No longer used here.
    void released(Instant at, const std::vector<PartitionKey>& partitions, duty::Effects& effects);

    [[nodiscard]] std::vector<control::Grant> held() const { return holdings_.held(); }

private:
    void say_held(duty::Effects& effects) const;

    Holdings holdings_;
};

}  // namespace baton::worker
