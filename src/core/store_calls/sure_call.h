// SureCall is one call to an object store: when to send it, when to send it again, and when to
// stop, with an answer that is certain or says that it is not.
//
// Input:    the time, the replies to attempts, and the looks at an object that settle a put().
// Output:   the one thing to do next.
// Rules:    an attempt is repeated while it may help and the patience lasts, after pauses that
//           double from 50 ms to 2 s, each drawn between nothing and that.
//           A put() one of whose attempts may have happened is never reported as failed. When the
//           condition is refused after such an attempt, or the patience ends, the object is looked
//           at: see stamp.h. A part of the patience is kept for that look.
//           Only an attempt that was never sent counts as one that cannot have happened. A 503 may
//           also come from a proxy that lost the answer, so it counts as one that may have.
// Limit:    an unconditional put() that is repeated may overwrite an object that others put in
//           between, as one that was slow would have.
// Not safe for threads; the Pace is shared with other calls, under the caller's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/prng.h"
#include "base/time.h"
#include "core/store_calls/pace.h"
#include "core/store_calls/stamp.h"

namespace baton::store_calls {

// How an attempt ended.
enum class Reply : std::uint8_t {
    done,
    condition_failed,
    not_sent,
    throttled,
    server,
    unknown,
    refused,
    too_large,
    full,
    given_up,
};

struct CallBegun {};
struct WaitOver {};
struct AttemptEnded {  // also of a look that gave no answer
    Reply reply = Reply::unknown;
};
struct ObjectSeen {
    Finding finding = Finding::unclear;
};
struct CallGivenUp {};
using CallEvent = std::variant<CallBegun, WaitOver, AttemptEnded, ObjectSeen, CallGivenUp>;

struct Deadlines {
    Duration connect{};
    Duration silence{};
    Duration whole{};
};
struct SendAttempt {
    Deadlines deadlines;
};
struct LookAtObject {
    Deadlines deadlines;
};
struct WaitUntil {
    Instant time;
};
enum class Ending : std::uint8_t {
    done,        // as the last reply says
    found_done,  // as the last look says
    condition_failed,
    failed,     // for the reason of the last attempt: nothing happened
    unknown,    // it may have happened
    cancelled,  // nothing happened
};
struct EndCall {
    Ending ending = Ending::failed;
};
using CallEffect = std::variant<SendAttempt, LookAtObject, WaitUntil, EndCall>;

struct CallPlan {
    bool is_put = false;
    Duration patience{};
    std::uint64_t seed = 0;  // of the pauses
};

class SureCall {
public:
    static constexpr Duration kConnectMax = std::chrono::seconds(2);
    static constexpr Duration kSilenceMax = std::chrono::seconds(5);
    static constexpr Duration kPauseFirst = std::chrono::milliseconds(50);
    static constexpr Duration kPauseMax = std::chrono::seconds(2);
    static constexpr Duration kLookMax = std::chrono::seconds(2);  // a quarter of less patience

    SureCall(const CallPlan& plan, Instant begun);

    CallEffect step(Instant now, const CallEvent& event, Pace& pace);

    [[nodiscard]] std::uint64_t repeats() const { return sent_ == 0 ? 0 : sent_ - 1; }

private:
    enum class Aim : std::uint8_t { attempt, look };

    CallEffect begin(Instant now, Pace& pace);  // an attempt or a look
    CallEffect send(Instant now);
    CallEffect ended(Instant now, Reply reply, Pace& pace);
    CallEffect repeat(Instant now, Pace& pace);
    CallEffect stop(Instant now, Pace& pace);  // no attempt will follow
    CallEffect seen(Finding finding) const;
    [[nodiscard]] CallEffect give_up(bool under_way) const;
    [[nodiscard]] Instant end_of_aim() const { return aim_ == Aim::look ? end_ : attempts_end_; }

    const bool is_put_;
    const Instant end_;
    const Instant attempts_end_;
    Prng prng_;
    Duration pause_max_ = kPauseFirst;
    Aim aim_ = Aim::attempt;
    bool reserved_ = false;   // a place in the pace, for when the wait is over
    bool under_way_ = false;  // an attempt
    bool may_have_happened_ = false;
    std::uint64_t sent_ = 0;
};

}  // namespace baton::store_calls
