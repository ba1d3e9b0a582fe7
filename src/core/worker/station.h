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

namespace baton {

namespace station {

struct Greeted {
    Session session = 0;
    control::Hello hello;
    Instant at{};  // when it is taken; here and in Told
};
struct Told {
    Session session = 0;
    control::Down message;
    Instant at{};
};
struct HungUp {
    Session session = 0;
};
// The outcome of Keep:
struct Kept {
    control::Allegiance allegiance;
};
struct NotKept {
    control::Allegiance allegiance;
    std::string why;
};
struct Tick {
    Instant at{};
};
struct Leaving {};  // nothing new from now on
using Event = std::variant<Greeted, Told, HungUp, Kept, NotKept, Tick, Leaving, holdings::Released,
                           fragments::Prepared, fragments::PrepareFailed, fragments::Ran,
                           fragments::Ended, fragments::Halted, fragments::Broke>;

}  // namespace station

class Station {
public:
    // `kept` is the allegiance from before the restart; `letting_go` is that of Holdings.
    explicit Station(Incarnation incarnation, control::Allegiance kept = {},
                     Duration letting_go = {})
        : incarnation_(incarnation), kept_(std::move(kept)), partitions_(letting_go) {}
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    [[nodiscard]] std::vector<station::Effect> step(const station::Event& event);

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

    void on(const station::Greeted& event, Effects& effects);
    void on(const station::Told& event, Effects& effects);
    void on(const station::HungUp& event, Effects& effects);
    void on(const station::Kept& event, Effects& effects);
    void on(const station::NotKept& event, Effects& effects);
    void on(const station::Tick& event, Effects& effects);
    void on(const station::Leaving& event, Effects& effects);
    void on(const holdings::Released& event, Effects& effects);
    template <class EngineEvent>
    void on(const EngineEvent& event, Effects& /*effects*/) {
        fragments_.on(event);
    }

    void welcome(station::Session session, Instant at, Effects& effects);
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
    std::optional<station::Session> session_;  // that is listened to
    station::Session newest_ = 0;              // greeted so far
    std::optional<station::Greeted> greeted_;  // to be welcomed when that is kept
    bool leaving_ = false;
    FragmentDuty fragments_;
    PartitionDuty partitions_;
    const std::array<Duty*, 2> duties_ = {&fragments_, &partitions_};
};

}  // namespace baton
