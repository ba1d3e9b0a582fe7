// Station is the worker's side of the control connection. It decides which coordinator the worker
// listens to and answers; its duties carry out commands and add their reports to the answers.
//
// Input:   the messages of coordinators on sessions, and the reports of the engine and of the users
//          of partitions.
// Output:  answers on a session, and the effects of the duties.
//
// Rules:
//   - A session is one stream. Only the newest one that was greeted is listened to, and only it is
//     answered. A greeting or command with a lower epoch than was ever seen is refused, and so is a
//     greeting with one that is not to be believed (base/epoch.h).
//   - A worker belongs to the first catalog that greets it. Greetings for another are refused.
//   - The catalog and a higher epoch are kept where a restart finds them before a coordinator is
//     welcomed under them.
//   - A beat is answered by one pulse, to which each duty adds. News is sent in a pulse at once,
//     unless the answer to the coordinator's own message contains it.
// The same machine runs in workers and in simulations. Pure: no clock, no I/O, no threads.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/worker/duty.h"
#include "core/worker/effects.h"
#include "core/worker/fragment_duty.h"
#include "core/worker/partition_duty.h"
#include "model/control.h"
#include "model/control_sessions.h"
#include "model/fragment_events.h"

namespace baton::worker {

namespace station {

// The outcome of Keep:
struct AllegianceKept {
    control::Allegiance allegiance;
};
struct AllegianceNotKept {
    control::Allegiance allegiance;
    std::string why;
};
struct Tick {};
struct Leaving {};  // nothing new from now on
using Event =
    std::variant<sessions::Greeted, sessions::MessageArrived, sessions::HungUp, AllegianceKept,
                 AllegianceNotKept, Tick, Leaving, holdings::Released, fragments::Event>;

}  // namespace station

class Station {
public:
    // `kept` is the allegiance from before the restart; `letting_go` is that of Holdings.
    explicit Station(Incarnation incarnation, control::Allegiance kept = {},
                     Duration release_time = {})
        : incarnation_(incarnation), kept_(std::move(kept)), partitions_(release_time) {}
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    [[nodiscard]] std::vector<station::Effect> step(Instant now, const station::Event& event);

    [[nodiscard]] Incarnation incarnation() const { return incarnation_; }
    [[nodiscard]] Epoch epoch() const { return kept_.epoch; }
    [[nodiscard]] const std::map<FragmentKey, control::FragmentStatus>& held() const {
        return fragments_.held();
    }
    [[nodiscard]] std::vector<control::Grant> partitions() const { return partitions_.held(); }
    // When Tick is due; early and repeated ones are harmless.
    [[nodiscard]] std::optional<Instant> wake_at() const;
    // Nothing lives here, and the coordinator that is listened to knows how all of it ended.
    [[nodiscard]] bool may_leave() const;

private:
    using Effects = std::vector<station::Effect>;

    void on(Instant now, const sessions::Greeted& event, Effects& effects);
    void on(Instant now, const sessions::MessageArrived& event, Effects& effects);
    void on(Instant now, const sessions::HungUp& event, Effects& effects);
    void on(Instant now, const station::AllegianceKept& event, Effects& effects);
    void on(Instant now, const station::AllegianceNotKept& event, Effects& effects);
    void on(Instant now, const station::Tick& event, Effects& effects);
    void on(Instant now, const station::Leaving& event, Effects& effects);
    void on(Instant now, const holdings::Released& event, Effects& effects);
    void on(Instant now, const fragments::Event& event, Effects& effects);

    void welcome(sessions::Session session, Instant at, Effects& effects);
    // Why the greeting is refused; none if it is not.
    [[nodiscard]] std::optional<control::Refusal> objection_to(const control::Hello& hello) const;
    void hear(Instant at, const control::Beat& beat, Effects& effects);
    void hear(Instant at, const control::Command& command, Effects& effects);
    void hear(Instant at, const control::Assign& assign, Effects& effects);
    // Why an epoch is not obeyed; none if it is.
    [[nodiscard]] std::optional<std::string> objection_to(Epoch epoch) const;

    void tell_news(Effects& effects);
    // A pulse that no beat asked for.
    void tell(Effects& effects);
    void reply(control::Up message, Effects& effects) const;
    void add(duty::Effects given, Effects& effects) const;

    const Incarnation incarnation_;
    control::Allegiance kept_;
    std::optional<sessions::Session> session_;  // that is listened to
    sessions::Session newest_ = 0;              // greeted so far
    std::optional<sessions::Greeted> greeted_;  // to be welcomed when that is kept
    Instant greeted_at_{};
    bool leaving_ = false;
    FragmentDuty fragments_;
    PartitionDuty partitions_;
    const std::array<Duty*, 2> duties_ = {&fragments_, &partitions_};
};

}  // namespace baton::worker
