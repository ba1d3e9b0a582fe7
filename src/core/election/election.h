// Election decides whether this process leads, from the answers of a lease store and the time.
//
// Input:   the passage of time; answers of the store; the request to leave; that the work of a term
//          has drained; epochs heard of elsewhere.
// Output:  calls to the store; the begin of a term, and its end.
//
//     standby -> watching -> acquiring -> leading -> draining -> releasing -> standby | gone
//
// The rules that carry the correctness:
//   - Only the store decides that a lease has ended, by its own clock. We ask, and wait.
//   - A term is valid until TTL - margin after its last successful call was *asked for*, by a clock
//     that goes on while the machine is suspended. The answer may have taken long.
//   - Time is looked at before every event: a term that has run out is over, whatever the event
//     says. A term that is over never begins again; another one has another epoch.
//   - Each guarded action looks at may_act() first, with the time read just before it.
//   - An acquisition of unknown outcome is none. A lease that it may have left in the store is
//     released, and its epoch is never asked for again: a release that arrives late ends no later
//     term.
//   - A lease is released only when the work of its term has drained.
//   - A leader that hears of an epoch above its own steps down; the next acquisition takes an epoch
//     above all that were heard of. So workers that refuse lower ones obey a restored database
//     again. An epoch that is not to be believed (base/epoch.h) was not heard of.
//   - One that is superseded again and again, which happens when two catalogs of one origin are led
//     at the same time, waits before it acquires: twice as long each time, up to a limit.
//   - An answer counts for the request it carries, if that is the one waited for. One call is
//     waited for at a time; one that takes too long is abandoned, and the next must not wait for
//     it.
//   - A leader that is unable to do its work gives the lease up, and stands by for two TTLs:
//     another coordinator comes first.
// Pure: no clock, no I/O, no threads; dice are handed in. Early and repeated ticks are harmless.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/election/timers.h"

namespace baton::election {

using Call = std::uint64_t;  // a call of the store, by its number

// A lease as the store has it. It has ended if nothing remains.
struct Held {
    std::string owner;
    Epoch epoch;
    Duration remaining{};
    friend bool operator==(const Held&, const Held&) = default;
};

// ---- events -------------------------------------------------------------------------------------

struct Tick {};
struct Watched {
    Call call = 0;
    Held held;
};
struct Acquired {
    Call call = 0;
    Epoch epoch;
};
struct Refused {  // an acquisition: the lease is held
    Call call = 0;
    Held held;
};
struct Renewed {
    Call call = 0;
};
struct Lost {  // a renewal found no lease of this term; there will never be one again
    Epoch epoch;
};
struct Released {
    Call call = 0;
};
struct Failed {  // any call: nothing of it happened
    Call call = 0;
    std::string why;
};
struct Uncertain {  // any call: it may have happened
    Call call = 0;
    std::optional<Epoch> epoch;  // that an acquisition would have taken, if it got so far
    std::string why;
};
struct Drained {  // nothing that began in this term is still under way
    Epoch epoch;
};
struct EpochHeard {  // from a worker
    Epoch epoch;
};
struct Unable {  // what this process leads for cannot be done here
    std::string why;
};
struct Hinted {};  // the lease may be free: a standby looks at once
struct LeaveAsked {};
using Event = std::variant<Tick, Watched, Acquired, Refused, Renewed, Lost, Released, Failed,
                           Uncertain, Drained, EpochHeard, Unable, Hinted, LeaveAsked>;

// ---- effects ------------------------------------------------------------------------------------

struct Watch {
    Call call = 0;
    friend bool operator==(const Watch&, const Watch&) = default;
};
struct Acquire {
    Call call = 0;
    Epoch least_epoch;  // take max(the store's + 1, this)
    friend bool operator==(const Acquire&, const Acquire&) = default;
};
struct Renew {
    Call call = 0;
    Epoch epoch;
    friend bool operator==(const Renew&, const Renew&) = default;
};
struct Release {
    Call call = 0;
    Epoch epoch;
    friend bool operator==(const Release&, const Release&) = default;
};
struct Abandon {  // its answer no longer counts; later calls must not queue behind it
    Call call = 0;
    friend bool operator==(const Abandon&, const Abandon&) = default;
};
struct Lead {
    Epoch epoch;
    friend bool operator==(const Lead&, const Lead&) = default;
};
enum class Reason : std::uint8_t {
    lost,        // the store says that the lease is not ours
    expired,     // its time ran out before we heard of a renewal
    gave_up,     // no renewal has succeeded for too long
    superseded,  // a higher epoch was heard of
    unable,      // to do what it leads for
    leaving,
};
struct StepDown {  // end what is guarded, then say Drained
    Epoch epoch;
    Reason reason = Reason::lost;
    std::string why;  // for people
    friend bool operator==(const StepDown&, const StepDown&) = default;
};
struct Left {  // the last effect of all
    friend bool operator==(const Left&, const Left&) = default;
};
using Effect = std::variant<Watch, Acquire, Renew, Release, Abandon, Lead, StepDown, Left>;

[[nodiscard]] std::string to_string(const Effect& effect);
[[nodiscard]] std::string to_string(Reason reason);

// For people. `leader` is the last known state of the lease, by the clock of step().
struct ElectionStatus {
    enum class Role : std::uint8_t { standby, leading, stepping_down, gone };
    struct Leader {
        std::string owner;
        Epoch epoch;
        Instant since;    // when this process first knew
        Duration left{};  // until it ends, if it is not renewed
    };
    Role role = Role::standby;
    std::optional<Leader> leader;  // none: no leader is known
    std::string trouble;           // why the store could not be asked, if the last call failed
};

class Election {
public:
    // `me` is of this process alone: a restarted one has another name. The timers are valid.
    Election(const ElectionTimers& timers, std::string me, Instant start);

    // `dice` is any number; a new one each time spreads what many processes do.
    [[nodiscard]] std::vector<election::Effect> step(Instant now, const election::Event& event,
                                                     std::uint64_t dice);
    [[nodiscard]] std::optional<Instant> wake_at() const;

    // Whether an action that is guarded by leadership may begin now.
    [[nodiscard]] bool may_act(Instant now) const;
    // Until when it may, if nothing more is heard; none unless leading. For a watchdog that is not
    // behind the same lock.
    [[nodiscard]] std::optional<Instant> valid_until() const;
    [[nodiscard]] std::optional<Epoch> epoch() const;  // of the term, while leading
    [[nodiscard]] ElectionStatus status(Instant now) const;

private:
    using Effects = std::vector<election::Effect>;

    struct Waiting {  // for an answer of the store
        election::Call call = 0;
        Instant asked;
        Instant deadline;
    };
    struct Standby {
        Instant look_at;
    };
    struct Watching {
        Waiting waiting;
    };
    struct Acquiring {
        Waiting waiting;
    };
    struct Leading {
        Epoch epoch;
        Instant since;
        Instant valid_until;
        Instant give_up_at;
        Instant renew_at;
        std::optional<Waiting> renewal;
    };
    struct Draining {
        Epoch epoch;
        Instant until;  // the lease has ended by itself then
    };
    struct Releasing {
        Waiting waiting;
    };
    struct Gone {};
    using State = std::variant<Standby, Watching, Acquiring, Leading, Draining, Releasing, Gone>;

    // The last known state of the lease of others.
    struct ForeignLease {
        std::string owner;
        Epoch epoch;
        Instant since;
        Instant until;
    };

    // One step under way.
    struct Step {
        Instant now;
        std::uint64_t dice = 0;
        Effects effects;
    };

    void on(Step& step, const election::Tick& event);
    void on(Step& step, const election::Watched& event);
    void on(Step& step, const election::Acquired& event);
    void on(Step& step, const election::Refused& event);
    void on(Step& step, const election::Renewed& event);
    void on(Step& step, const election::Lost& event);
    void on(Step& step, const election::Released& event);
    void on(Step& step, const election::Failed& event);
    void on(Step& step, const election::Uncertain& event);
    void on(Step& step, const election::Drained& event);
    void on(Step& step, const election::EpochHeard& event);
    void on(Step& step, const election::Unable& event);
    void on(Step& step, const election::Hinted& event);
    void on(Step& step, const election::LeaveAsked& event);

    // The state if it waits for this call.
    template <class S>
    [[nodiscard]] S* awaiting(election::Call call);
    [[nodiscard]] bool renewal_is(election::Call call) const;

    void watch_over_term(Step& step);
    void do_what_is_due(Step& step);
    void attend_to_term(Step& step);
    void abandon(Step& step, election::Call call);
    [[nodiscard]] Waiting ask(const Step& step);
    void look(Step& step);
    void acquire(Step& step);
    void release(Step& step, Epoch epoch);
    void renew(Step& step);
    void hold(Leading& term, const Step& step, Instant asked);
    void consider(Step& step, const election::Held& held);
    void call_failed(Step& step, election::Call call, const std::string& why);
    void step_down(Step& step, election::Reason reason, const std::string& why);
    void back_off(const Step& step, const Leading& term);
    void stand_by(Step& step, Duration pause);
    void hear(Instant now, const election::Held& held);
    [[nodiscard]] Duration up_to(Duration most, const Step& step) const;

    ElectionTimers timers_;
    std::string me_;
    State state_;
    election::Call next_call_ = 1;
    Epoch highest_;              // of all epochs heard of
    unsigned superseded_ = 0;    // in a row, without a steady term between
    Instant acquires_from_{};    // not before
    std::set<Epoch> undrained_;  // of terms that are over
    std::optional<ForeignLease> known_;
    std::string trouble_;
    bool leaving_ = false;
};

}  // namespace baton::election
