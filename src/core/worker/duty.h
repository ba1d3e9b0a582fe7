// Duty is one topic of a worker's work for its coordinator, such as fragments or partitions. The
// Station listens to coordinators and owns sessions, epochs and beats; each of its duties adds the
// messages of its topic.
//
// Rules:
//   - A duty speaks to the coordinator that is listened to, whichever that is, and knows no
//     session. The next welcome voids the messages of older sessions, except where the rules of the
//     duty keep them.
//   - It lasts without a coordinator: its own rules say for how long, and what then.
// A further topic is one more duty, and a line in station.cc for each word that it obeys.
#pragma once

#include <optional>

#include "base/time.h"
#include "core/worker/effects.h"
#include "model/control.h"

namespace baton::worker {

class Duty {
public:
    virtual ~Duty() = default;

    // A session begins. The welcome has to contain all that the coordinator needs to know.
    virtual void welcome(Instant at, control::Welcome& welcome, duty::Effects& effects) = 0;
    // The pulse answers the beat and is sent before the effects.
    virtual void beat(Instant at, const control::Beat& beat, control::Pulse& pulse,
                      duty::Effects& effects) = 0;

    // There is news that no pulse of this session contains yet. It goes into a pulse that no beat
    // asked for.
    [[nodiscard]] virtual bool has_news() const { return false; }
    virtual void tell_news(control::Pulse& /*pulse*/) {}

    virtual void tick(Instant /*at*/, duty::Effects& /*effects*/) {}
    // When a tick is due; early and repeated ones are harmless.
    [[nodiscard]] virtual std::optional<Instant> wake_at() const { return std::nullopt; }

    // The worker takes nothing new from now on.
    virtual void leave() {}
    // Nothing of this topic needs the process any longer. `is_heard`: a coordinator is listened to,
    // and has to know so.
    [[nodiscard]] virtual bool may_leave(bool is_heard) const = 0;
};

}  // namespace baton::worker
