// Route decides the way of one request: it is carried out in a term of this coordinator, forwarded
// to the one that leads, kept waiting for news of either, or refused.
//
// Input:   what this coordinator sees just now, and the result of the last step.
// Output:  one next step. The caller takes it and reports its result.
//
//     begin -> Plan -> Commit <-> PlanAgain             -> Answer
//       ^        | the term was over
//       |        v
//       +----- Wait | LookAtDatabase -> WriteOrder -> Forward <-> Wait      -> Answer | Refuse
//
// The rules that carry the correctness:
//   - A request happens at most once. It leaves a term only if nothing of it happened there. An
//     order that may have been read is never sent again, unless the request is a trial.
//   - A request that another coordinator forwarded is never forwarded again.
//   - The outcome is unknown only if an order was sent and its answer was lost. Any other refusal
//     of a route means that nothing happened.
//   - After the deadline the request is answered: the route waits for nothing and sends nothing
//     again.
//   - If the catalog changes below a plan, the plan is made again. After some attempts the writer
//     makes it, so that the route ends.
// Pure: no clock, no I/O, no threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/error.h"
#include "base/id.h"
#include "base/time.h"
#include "model/leader.h"
#include "model/line_answer.h"

namespace baton::routing {

using TermNumber = Id<struct TermNumberTag>;  // of a term of this process; each has its own

// How far a request may go.
enum class Reach : std::uint8_t {
    here,         // there is no way to other coordinators
    passed_on,    // another coordinator forwarded it: it is done here or not at all
    here_now,     // elsewhere too, but not by the thread that asks: see Elsewhere
    anywhere,     // here, or where another coordinator leads
    leader_alone  // only where another coordinator leads
};

struct Request {
    Reach reach = Reach::anywhere;
    bool trial = false;  // whatever it does is undone, so it may be sent twice
    Instant deadline{};  // until when it may wait for a leader
};

struct Timing {
    Duration answer = std::chrono::seconds(15);       // how long a leader may take to answer
    Duration pause = std::chrono::milliseconds(50);   // between two attempts
    Duration slice = std::chrono::milliseconds(500);  // between two looks at the database
};

// The facts about leadership that this coordinator knows just now.
struct Sight {
    Instant now;
    std::optional<TermNumber> own_term;
    std::optional<Leader> leader;
    std::uint64_t news = 0;  // another number after each change of these two
    bool cancelled = false;
};

// ---- events -------------------------------------------------------------------------------------

struct Begun {};
struct Planned {};
struct Happened {};
struct RefusedHere {  // by the planner or the writer: nothing happened
    ErrorCode code = ErrorCode::defect;
};
struct NeedsPlan {  // nothing happened
    std::size_t step = 0;
};
struct DatabaseLooked {
    std::optional<Error> failure;
};
struct OrderWritten {};
struct OrderNotWritten {
    Error why;
};
struct HappenedThere {};
struct RefusedThere {  // by the coordinator that was asked: nothing happened
    Error why;
};
struct Woken {};
using Event =
    std::variant<Begun, Planned, Happened, RefusedHere, NeedsPlan, DatabaseLooked, OrderWritten,
                 OrderNotWritten, HappenedThere, RefusedThere, NotSent, AnswerLost, Woken>;

// ---- steps --------------------------------------------------------------------------------------

// Plan what has no plan yet, in the own term that was just seen. -> Planned, RefusedHere
struct Plan {
    friend bool operator==(Plan, Plan) = default;
};
// Plan that step of the bundle with the view that the writer gave. -> Planned, RefusedHere
struct PlanAgain {
    std::size_t step = 0;
    friend bool operator==(PlanAgain, PlanAgain) = default;
};
// In the same term. -> Happened, RefusedHere, and NeedsPlan unless the writer plans
struct Commit {
    bool writer_plans = false;
    friend bool operator==(Commit, Commit) = default;
};
struct LookAtDatabase {  // -> DatabaseLooked
    friend bool operator==(LookAtDatabase, LookAtDatabase) = default;
};
using Here = std::variant<Plan, PlanAgain, Commit, LookAtDatabase>;

// The order is the request as a text for another coordinator. -> OrderWritten, OrderNotWritten
struct WriteOrder {
    friend bool operator==(WriteOrder, WriteOrder) = default;
};
struct Forward {  // -> HappenedThere, RefusedThere, NotSent, AnswerLost
    std::string address;
    Duration patience{};
    friend bool operator==(const Forward&, const Forward&) = default;
};
// Until there is other news than these, or until then, or until it is cancelled. -> Woken
struct Wait {
    std::uint64_t news = 0;
    Instant until;
    bool doubts_leader = false;  // the election should look
    friend bool operator==(const Wait&, const Wait&) = default;
};
using There = std::variant<WriteOrder, Forward, Wait>;

// The request is answered with the result of the last step.
struct Answer {
    friend bool operator==(Answer, Answer) = default;
};
struct Refuse {
    Error why;
};
// Nothing happened. A request that is here_now needs another coordinator; one for the leader alone
// finds that this coordinator leads.
struct Elsewhere {
    friend bool operator==(Elsewhere, Elsewhere) = default;
};
using End = std::variant<Answer, Refuse, Elsewhere>;

using Step = std::variant<Here, There, End>;

// Why a coordinator that does not lead changes nothing.
[[nodiscard]] Error not_leading(const std::optional<Leader>& leader);

class Route {
public:
    explicit Route(const routing::Request& request, const routing::Timing& timing = {})
        : request_(request), timing_(timing) {}

    // The event is the result of the last step; the first one is Begun. Nothing follows an End.
    [[nodiscard]] routing::Step step(const routing::Sight& sight, const routing::Event& event);

private:
    using Sight = routing::Sight;
    using Step = routing::Step;

    [[nodiscard]] Step on(const Sight& sight, const routing::Begun& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::Planned& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::Happened& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::RefusedHere& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::NeedsPlan& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::DatabaseLooked& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::OrderWritten& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::OrderNotWritten& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::HappenedThere& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::RefusedThere& event);
    [[nodiscard]] Step on(const Sight& sight, const NotSent& event);
    [[nodiscard]] Step on(const Sight& sight, const AnswerLost& event);
    [[nodiscard]] Step on(const Sight& sight, const routing::Woken& event);

    [[nodiscard]] Step begin(const Sight& sight);
    [[nodiscard]] Step without_term(const Sight& sight);
    [[nodiscard]] Step beyond_term(const Sight& sight);
    [[nodiscard]] Step look_for_leader(const Sight& sight);
    [[nodiscard]] Step attempt(const Sight& sight);
    [[nodiscard]] Step try_again(const Sight& sight, Error why_not);
    [[nodiscard]] bool only_leader() const {
        return request_.reach == routing::Reach::leader_alone;
    }

    const routing::Request request_;
    const routing::Timing timing_;
    std::optional<routing::TermNumber> term_;  // that it was tried in last
    std::uint64_t news_ = 0;                   // on which the last decision rests
    unsigned replanned_ = 0;                   // in this term
    bool writer_plans_ = false;
    bool written_ = false;
    Instant slice_end_{};  // the database is looked at again then
    std::string asked_;    // the address of the last attempt
};

}  // namespace baton::routing
