// Fragments is the worker's side of the control connection: which fragments a worker has, how they
// are, and what it tells about them.
//
// Input:   what a coordinator says on a session, and what the engine reports.
// Output:  orders to the engine and answers on a session.
//
// Rules:
//   - A session is one stream. Only the newest one that was greeted is listened to, and only it is
//     answered. A greeting or command with a lower epoch than was ever seen is refused, and so is a
//     greeting with one that is not to be believed (base/epoch.h).
//   - A worker belongs to the first catalog that greets it. Greetings for another are refused.
//   - The catalog and a higher epoch are kept where a restart finds them before anybody is welcomed
//     under them.
//   - A repeated command does nothing and is answered with how the fragment is.
//   - What ended is remembered until the coordinator says that it may be forgotten: a lost message
//     loses no outcome.
//   - Each change of a fragment takes the next event number. A change is told at once, that by a
//     command with its answer, and again with the answers to beats until a beat says that it was
//     seen.
//   - Fragments do not depend on being commanded: without a coordinator they go on as they are.
//   - A worker that was asked to leave takes no new fragment.
//   - Partitions are looked after as holdings.h says, for whoever is listened to.
// The same machine runs in workers and in simulations. Pure: no clock, no I/O, no threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/worker/holdings.h"
#include "model/control.h"

namespace baton {

namespace fragments {

using Session = std::uint64_t;  // counted by the worker: grows with every stream that is opened

// ---- events -------------------------------------------------------------------------------------

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
// What came of Keep:
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
// Nobody uses these partitions here any more.
struct LetGone {
    std::vector<PartitionKey> partitions;
    Instant at{};
};
struct Leaving {};  // no new fragments from now on
// From the engine:
struct Prepared {
    FragmentKey key;
};
struct PrepareFailed {
    FragmentKey key;
    control::Fault fault = control::Fault::transient;
    std::string why;
};
struct Ran {  // data flows
    FragmentKey key;
};
struct Ended {  // by itself, everything flushed
    FragmentKey key;
    Counts counts;
};
struct Halted {  // as it was told to
    FragmentKey key;
    Counts counts;
};
struct Broke {
    FragmentKey key;
    control::Fault fault = control::Fault::transient;
    std::string why;
    Counts counts;
};
using Event = std::variant<Greeted, Told, HungUp, Kept, NotKept, Tick, LetGone, Leaving, Prepared,
                           PrepareFailed, Ran, Ended, Halted, Broke>;

// ---- effects ------------------------------------------------------------------------------------

struct Welcome {  // or refuse: the stream is then over
    Session session = 0;
    std::variant<control::Welcome, control::Refusal> outcome;
    friend bool operator==(const Welcome&, const Welcome&) = default;
};
// To be durable; answered by Kept or NotKept, and nobody is welcomed before.
struct Keep {
    control::Allegiance allegiance;
    friend bool operator==(const Keep&, const Keep&) = default;
};
struct Reply {
    Session session = 0;
    control::Up message;
    friend bool operator==(const Reply&, const Reply&) = default;
};
// To the engine. Each Prepare is answered by Prepared or PrepareFailed, unless Abort comes first;
// Drain and Abort are answered by Halted, or by whatever end came before they could act.
struct Prepare {
    FragmentKey key;
    std::string plan;
    friend bool operator==(const Prepare&, const Prepare&) = default;
};
struct Start {
    FragmentKey key;
    friend bool operator==(const Start&, const Start&) = default;
};
struct Drain {
    FragmentKey key;
    friend bool operator==(const Drain&, const Drain&) = default;
};
struct Abort {  // whatever it is at, also preparing
    FragmentKey key;
    friend bool operator==(const Abort&, const Abort&) = default;
};
using EngineOrder = std::variant<Prepare, Start, Drain, Abort>;
using holdings::LetGo;  // ends in LetGone
using holdings::Take;
using Effect = std::variant<Welcome, Keep, Reply, Prepare, Start, Drain, Abort, Take, LetGo>;

[[nodiscard]] std::string to_string(const Effect& effect);

}  // namespace fragments

class Fragments {
public:
    // `kept` is what was kept before the restart; `letting_go`: as of Holdings.
    explicit Fragments(Incarnation incarnation, control::Allegiance kept = {},
                       Duration letting_go = {})
        : incarnation_(incarnation), kept_(std::move(kept)), holdings_(letting_go) {}

    [[nodiscard]] std::vector<fragments::Effect> step(const fragments::Event& event);

    [[nodiscard]] Incarnation incarnation() const { return incarnation_; }
    [[nodiscard]] Epoch epoch() const { return kept_.epoch; }
    [[nodiscard]] const std::map<FragmentKey, control::FragmentStatus>& held() const {
        return held_;
    }
    // When Tick is due; early and repeated ones are harmless.
    [[nodiscard]] std::optional<Instant> wake_at() const { return holdings_.wake_at(); }
    [[nodiscard]] std::vector<control::Grant> partitions() const { return holdings_.held(); }
    // Nothing lives here, and whoever listens knows how all of it ended.
    [[nodiscard]] bool may_leave() const;

private:
    using Effects = std::vector<fragments::Effect>;

    void on(const fragments::Greeted& event, Effects& effects);
    void on(const fragments::Told& event, Effects& effects);
    void on(const fragments::HungUp& event, Effects& effects);
    void on(const fragments::Kept& event, Effects& effects);
    void on(const fragments::NotKept& event, Effects& effects);
    void on(const fragments::Tick& event, Effects& effects);
    void on(const fragments::LetGone& event, Effects& effects);
    void on(const fragments::Leaving& event, Effects& effects);
    void on(const fragments::Prepared& event, Effects& effects);
    void on(const fragments::PrepareFailed& event, Effects& effects);
    void on(const fragments::Ran& event, Effects& effects);
    void on(const fragments::Ended& event, Effects& effects);
    void on(const fragments::Halted& event, Effects& effects);
    void on(const fragments::Broke& event, Effects& effects);

    void obey(const control::RegisterFragment& order, Effects& effects);
    void obey(const control::StartFragment& order, Effects& effects);
    void obey(const control::StopFragment& order, Effects& effects);
    void obey(const control::ForgetFragment& order, Effects& effects);

    void welcome(fragments::Session session, Instant at, Effects& effects);
    // Why the greeting is refused; none if it is not.
    [[nodiscard]] std::optional<control::Refusal> objection_to(const control::Hello& hello) const;
    void beat(const control::Beat& beat, Instant at, Effects& effects);
    void assign(const control::Assign& assign, Instant at, Effects& effects);
    // Tells what is held if that has changed.
    void hold(const Holdings::Effects& changes, Effects& effects);
    void command(const control::Command& command, Effects& effects);
    // Why the command is not obeyed; none if it is.
    [[nodiscard]] std::optional<std::string> objection_to(const control::Command& command) const;

    // The fragment if it lives; what the engine says of others comes too late.
    [[nodiscard]] control::FragmentStatus* living(const FragmentKey& key);
    // Gives the status, which differs from what was told last, the next number.
    void changed(control::FragmentStatus& status);
    void end(control::FragmentStatus& status, FragmentState state, control::Fault fault,
             std::string reason);
    void tell_changes(Effects& effects);
    [[nodiscard]] control::Pulse pulse_after(std::uint64_t from, std::uint64_t beat) const;

    const Incarnation incarnation_;
    control::Allegiance kept_;
    std::optional<fragments::Session> session_;  // that is listened to
    fragments::Session newest_ = 0;              // greeted so far
    std::optional<fragments::Greeted> greeted_;  // to be welcomed when that is kept
    bool leaving_ = false;
    Holdings holdings_;
    std::map<FragmentKey, control::FragmentStatus> held_;
    std::map<std::uint64_t, control::FragmentStatus> unseen_;  // the last change of each, by number
    std::uint64_t last_event_ = 0;
    std::uint64_t told_ = 0;  // on this session
};

}  // namespace baton
