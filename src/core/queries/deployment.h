// Deployment decides the next step of one continuous query: the writes to the catalog and the
// commands to workers that bring the query from its present state to the one that is wanted.
//
// Input:   a view of the query: its rows in the catalog, the reports of its workers, the commands
//          that they have not answered yet; and the time.
// Output:  either writes, which belong in one transaction, or sends, or nothing; and when to look
//          again even if nothing is heard.
//
// Rules:
//   - Writes come before sends. A send follows only from durable rows of the catalog: a plan with
//     writes has no sends, and the plan for the view after them has.
//   - Nothing is sent for a query that is PENDING, and it stays so until all of its workers can be
//     reached. So a PENDING query is on no worker and can be dropped at once.
//   - Register everywhere before start anywhere; start downstream before upstream. A GRACEFUL stop
//     begins upstream, and goes on to the next stage when the last one is confirmed ended; but a
//     fragment that would wait for one further down that is gone is stopped FORCEFUL. A FORCEFUL
//     stop, a rollback and a restart stop everywhere at once.
//   - At the beginning of a deployment the reports of workers are not written one by one, but
//     together when they allow its next step, or after a while. A failure is written at once.
//   - RUNNING only if every fragment is confirmed, by a worker that is ready, to run, or to have
//     ended by itself after it ran. TERMINATED if all of them have ended by themselves.
//   - A fragment that failed or was lost ends its run: all fragments of the run are stopped, and
//     when all are confirmed gone the next run begins; or the query fails, if it was created so or
//     if another run would fail the same way.
//   - A fragment is gone when its worker says so, or does not list it in its present life. Silence
//     means nothing: a worker that cannot be asked is named in `lagging`, and waited for.
//   - A fragment that a worker holds and the catalog does not want there is a stray: it is stopped,
//     then forgotten. A fragment with the number of a wanted one and another plan is a stray, too;
//     until it is gone, nothing is asked or believed about the wanted one.
// Pure: no clock, no I/O, no randomness.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/config.h"
#include "model/control.h"
#include "model/controller_requests.h"
#include "model/reason.h"
#include "model/states.h"

namespace baton::queries {

struct Pace {
    Duration retry_first = std::chrono::milliseconds(100);
    Duration retry_max = std::chrono::seconds(10);
    Duration answer_within = std::chrono::seconds(5);  // else a command is sent again
    Duration lag_after = std::chrono::seconds(1);      // a worker waited for this long is named
    Duration steady_after = std::chrono::minutes(1);   // a run this long makes restarts quick again
    Duration gather =
        std::chrono::milliseconds(100);  // how long steps of a deployment are gathered
};

// retry_first after the first failure, doubling up to retry_max; up to half as much is added
// according to `jitter`, never beyond retry_max.
[[nodiscard]] Duration delay_after(const Pace& pace, unsigned failures, std::uint64_t jitter);

// ---- the view -----------------------------------------------------------------------------------

enum class OnFailure : std::uint8_t { restart, fail };

struct Settings {
    OnFailure on_failure = OnFailure::restart;
    std::optional<Duration> deploy_timeout = std::chrono::minutes(10);  // none: for ever

    friend bool operator==(const Settings&, const Settings&) = default;
};
// Of the QUERY.* settings, which passed their descriptor.
[[nodiscard]] Settings settings_of(const Config& config);

// The text of its plan is read when the step is taken.
struct RegisterFragment {
    FragmentKey key;
    friend bool operator==(const RegisterFragment&, const RegisterFragment&) = default;
};
using control::ForgetFragment;
using control::StartFragment;
using control::StopFragment;
using FragmentStep = std::variant<RegisterFragment, StartFragment, StopFragment, ForgetFragment>;

[[nodiscard]] inline const FragmentKey& key_of(const FragmentStep& step) {
    return std::visit([](const auto& s) -> const FragmentKey& { return s.key; }, step);
}

// Why something could not be done.
struct Trouble {
    std::string why;
    std::uint32_t error = 0;  // its number; 0: none is known
    friend bool operator==(const Trouble&, const Trouble&) = default;
};

// The step that the worker was last asked to take on the present stream, if that is not over.
struct StepAsked {  // and not answered
    FragmentStep step;
    Instant at;
    friend bool operator==(const StepAsked&, const StepAsked&) = default;
};
struct StepRefused {  // it did not work, and may work later
    FragmentStep step;
    Instant retry_at;
    Trouble trouble;
    friend bool operator==(const StepRefused&, const StepRefused&) = default;
};
using LastStep = std::variant<std::monostate, StepAsked, StepRefused>;

// A fragment that the catalog has, of the query's present run.
struct FragmentView {
    FragmentId id;
    std::string worker;
    // The worker is ACTIVE in the catalog in the incarnation that is connected, and its full list
    // was taken since it connected. Else `held` and `last_step` are empty.
    bool ready = false;
    Instant ready_since;  // or not ready since
    std::uint64_t stage = 0;
    FragmentState recorded = FragmentState::pending;
    Reason reason;                                // with `recorded`
    std::optional<control::FragmentStatus> held;  // none: the worker does not have it
    LastStep last_step;
    // The worker has something else under this number, which is a stray.
    bool usurped = false;
};

// A fragment that a ready worker holds of the query beyond that: of another run, or of no query.
struct Stray {
    std::string worker;
    control::FragmentStatus held;
    LastStep last_step;
};

// The query as the catalog has it.
struct Recorded {
    QueryDesire desired = QueryDesire::running;
    QueryState state = QueryState::pending;
    std::uint64_t run = 1;
    StopMode stop_mode = StopMode::graceful;
    Reason reason;
    std::vector<std::string> lagging;
    Settings settings;
};

struct QueryView {
    QueryId id;
    std::optional<Recorded> recorded;  // none: the catalog has no such query, or no longer
    Instant since;                     // of its state
    unsigned restarts = 0;             // without a steady run between
    Instant restarted;                 // last, if ever
    Instant restart_at;                // the next run may not begin before
    Trouble restart_trouble;           // why it could not be begun
    std::vector<FragmentView> fragments;
    std::vector<Stray> strays;
};

// ---- the plan -----------------------------------------------------------------------------------

using controllers::FailQuery;
using controllers::MarkQuery;
using controllers::ReleaseQuery;
using controllers::ReportFragment;
using controllers::RestartQuery;
using Write = std::variant<ReportFragment, MarkQuery, FailQuery, RestartQuery, ReleaseQuery>;

struct Send {
    std::string worker;
    FragmentStep step;
    friend bool operator==(const Send&, const Send&) = default;
};

struct Plan {
    std::vector<Write> writes;  // one transaction
    std::vector<Send> sends;    // none if there are writes
    std::optional<Instant> wake_at;

    [[nodiscard]] bool empty() const { return writes.empty() && sends.empty(); }
    friend bool operator==(const Plan&, const Plan&) = default;
};

[[nodiscard]] Plan plan(const QueryView& view, Instant now, const Pace& pace);

// One line each: "report 7 RUNNING", "stop 3/1/7 on EDGE FORCEFUL".
[[nodiscard]] std::string to_string(const Write& write);
[[nodiscard]] std::string to_string(const Send& send);

}  // namespace baton::queries
