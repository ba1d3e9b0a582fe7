// Membership decides which workers are alive, from their messages and the time.
//
// Input:   the passage of time; workers that join and leave the catalog; the results of dials; the
//          answers to beats; streams that break.
// Output:  dials, beats and hang-ups; and judgements, each once, to be written to the catalog.
//
// Rules:
//   - A beat is answered within clamp(rtt x 4 + 250 ms, 500 ms, 10 s) or it is missed. Three misses
//     in a row make a worker UNREACHABLE, and so does a broken stream that cannot be dialled again
//     at once. An answer to any beat of the present stream ends the row of misses.
//   - An unreachable worker is dialled again and again, at longer and longer intervals; the first
//     success makes it ACTIVE, with the incarnation that it says it has. A worker that answers and
//     refuses is UNREACHABLE for the reason that it gives, also if it was for another before.
//   - A stream that breaks is dialled again at once, but not again and again: if the ones before it
//     broke soon, too (another coordinator may be fighting for the worker), the worker is
//     UNREACHABLE and left alone for a while, longer each time up to a limit.
//   - No worker is judged for silence that may be our own: after the start, and after any pause of
//     this machine's caller, everyone has a full detection period to be heard.
//   - No clock is compared with another machine's clock.
// Pure: no clock, no I/O, no randomness, no threads. Early and repeated ticks are harmless.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/reason.h"
#include "model/states.h"
#include "model/transport_events.h"

namespace baton::membership {

struct MembershipConfig {
    Duration beat_every = std::chrono::seconds(1);
    unsigned rtt_factor = 4;
    Duration timeout_base = std::chrono::milliseconds(250);
    Duration timeout_min = std::chrono::milliseconds(500);
    Duration timeout_max = std::chrono::seconds(10);
    unsigned misses_max = 3;
    Duration probe_first = std::chrono::milliseconds(500);
    Duration probe_max = std::chrono::seconds(10);
    Duration dial_timeout = std::chrono::seconds(5);
    // A stream this old did not break soon. Longer than probe_max: two that fight take turns.
    Duration steady_after = std::chrono::seconds(30);
    unsigned breaks_max = 2;  // in a row, each soon, that are dialled again at once
    Duration stall_after = std::chrono::seconds(1);  // a tick this late is a pause of our own
    // Attempts are counted from here. A transport that outlives this one knows streams by them, so
    // the next one begins above.
    std::uint64_t first_attempt = 1;
};

// Messages on a stream that a later attempt has replaced are ignored.
using transport::Attempt;

// ---- events -------------------------------------------------------------------------------------

struct Tick {};
struct Joined {
    std::string worker;
    WorkerState known = WorkerState::active;  // as the catalog has it
};
struct Left {
    std::string worker;
};
struct Answered {  // a beat
    std::string worker;
    Attempt attempt = 0;
    std::uint64_t beat = 0;
};
using Event = std::variant<Tick, Joined, Left, transport::Dialled, transport::DialFailed, Answered,
                           transport::Broken>;

// ---- effects ------------------------------------------------------------------------------------

struct Dial {
    std::string worker;
    Attempt attempt = 0;
    friend bool operator==(const Dial&, const Dial&) = default;
};
struct Beat {
    std::string worker;
    Attempt attempt = 0;
    std::uint64_t beat = 0;
    friend bool operator==(const Beat&, const Beat&) = default;
};
struct HangUp {
    std::string worker;
    Attempt attempt = 0;
    friend bool operator==(const HangUp&, const HangUp&) = default;
};
struct Judge {
    std::string worker;
    WorkerState state = WorkerState::active;
    std::optional<Incarnation> incarnation;  // with ACTIVE
    Reason reason;
    friend bool operator==(const Judge&, const Judge&) = default;
};
using Effect = std::variant<Dial, Beat, HangUp, Judge>;

[[nodiscard]] std::string to_string(const Effect& effect);

class Membership {
public:
    Membership(const MembershipConfig& config, Instant start);

    [[nodiscard]] std::vector<membership::Effect> step(Instant now, const membership::Event& event);
    [[nodiscard]] std::optional<Instant> wake_at() const;

    [[nodiscard]] std::optional<WorkerState> state_of(const std::string& worker) const;
    // Whether this dial is the present one and not over.
    [[nodiscard]] bool awaits(const std::string& worker, transport::Attempt attempt) const;

private:
    using Effects = std::vector<membership::Effect>;

    struct Dialling {
        Instant deadline;
    };
    struct Connected {
        Incarnation incarnation;
        Instant since;
        std::map<std::uint64_t, Instant> unanswered;  // beats by number, when they were sent
        std::optional<Instant> deadline;              // of the newest unanswered beat
        Instant next_beat;
        unsigned misses = 0;
    };
    struct Resting {  // between dials
        Instant dial_at;
    };
    struct Worker {
        std::variant<Dialling, Connected, Resting> link;
        transport::Attempt attempt = 0;
        WorkerState judged = WorkerState::active;
        std::optional<Incarnation> told;  // the incarnation last judged ACTIVE
        Reason reason;                    // last judged UNREACHABLE for
        Duration timeout{};
        Duration probe{};     // how long to rest after the next failure
        unsigned breaks = 0;  // of streams, in a row, each soon
        Instant due;          // its place in due_
    };

    void on(Instant now, const membership::Tick&, Effects& effects);
    void on(Instant now, const membership::Joined& event, Effects& effects);
    void on(Instant now, const membership::Left& event, Effects& effects);
    void on(Instant now, const transport::Dialled& event, Effects& effects);
    void on(Instant now, const transport::DialFailed& event, Effects& effects);
    void on(Instant now, const membership::Answered& event, Effects& effects);
    void on(Instant now, const transport::Broken& event, Effects& effects);

    // The worker if the event is about its present attempt.
    [[nodiscard]] Worker* present(const std::string& name, transport::Attempt attempt);
    void dial(Instant now, const std::string& name, Worker& worker, Effects& effects);
    void rest(Instant now, const std::string& name, Worker& worker, Duration pause);
    void probe_later(Instant now, const std::string& name, Worker& worker);
    void beat(Instant now, const std::string& name, Worker& worker, Effects& effects);
    void missed(Instant now, const std::string& name, Worker& worker, Effects& effects);
    void attend(Instant now, const std::string& name, Worker& worker, Effects& effects);
    // Once, or `anew` for every other reason.
    void judge_unreachable(Instant now, const std::string& name, Worker& worker, ReasonCode code,
                           const std::string& why, Effects& effects, bool anew = false);
    void schedule(const std::string& name, Worker& worker);
    void forgive(Instant now);
    [[nodiscard]] Duration timeout_for(Duration rtt) const;
    [[nodiscard]] Duration detection_period() const;

    MembershipConfig config_;
    std::map<std::string, Worker> workers_;
    std::set<std::pair<Instant, std::string>>
        due_;  // every worker once, by when it needs attention
    std::uint64_t next_beat_ = 1;
    transport::Attempt next_attempt_;
    Instant judges_from_;              // no worker is judged before
    std::optional<Instant> expected_;  // when we asked to be woken
};

}  // namespace baton::membership
