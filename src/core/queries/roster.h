// Roster keeps all that is known of the workers: their rows in the catalog, the fragments that they
// report to hold, and the steps that they were asked to take and that are not over. It is the one
// place that takes in the reports of workers; it decides nothing.
//
// Rules:
//   - The fragments of a worker are known from its Welcome on, for as long as that stream lasts.
//   - Of two statuses of a fragment the one with the higher event number holds.
//   - A worker is ready if it is connected in the incarnation in which the catalog has it ACTIVE.
// Everything that may change the plan of a query names that query to the caller.
// Pure: no clock, no I/O, no randomness.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/queries/deployment.h"
#include "model/control.h"
#include "model/entities.h"
#include "model/transport_events.h"

namespace baton::queries {

class Roster {
public:
    using Attempt = transport::Attempt;
    using Queries = std::set<QueryId>;

    explicit Roster(const Pace& pace) : pace_(pace) {}

    // As the catalog has it. True if it became ready, or no longer is.
    bool record(Instant now, const Worker& worker);
    // The catalog has it no longer.
    void remove(const std::string& worker);
    [[nodiscard]] const Worker* recorded(const std::string& worker) const;
    [[nodiscard]] std::vector<std::string> names() const;

    // A stream is up, and this is everything that the worker holds.
    Queries connected(Instant now, const std::string& worker, Attempt attempt,
                      const control::Welcome& welcome);
    // The stream is no more: what the worker held on it is no longer known. The queries concerned.
    Queries disconnected(Instant now, const std::string& worker);
    // Nothing if the attempt is not the present one.
    Queries heard(Instant now, const std::string& worker, Attempt attempt,
                  const control::Pulse& pulse, std::uint64_t jitter);
    std::optional<QueryId> heard(Instant now, const std::string& worker, Attempt attempt,
                                 const control::CommandAnswer& answer, std::uint64_t jitter);
    // The step goes out on the present stream under this number.
    void asked(Instant now, const Send& send, std::uint64_t request);

    [[nodiscard]] bool ready(const std::string& worker) const;
    [[nodiscard]] Instant ready_since(const std::string& worker) const;
    [[nodiscard]] std::optional<Attempt> attempt(const std::string& worker) const;
    // Every change of the worker up to this number has arrived.
    [[nodiscard]] std::uint64_t seen(const std::string& worker) const;
    [[nodiscard]] const control::FragmentStatus* held(const std::string& worker,
                                                      const FragmentKey& key) const;
    [[nodiscard]] LastStep last_step(const std::string& worker, const FragmentKey& key) const;
    [[nodiscard]] Queries queries_held(const std::string& worker) const;
    // The fragments of the query that ready workers hold, by worker.
    [[nodiscard]] std::map<std::string, std::vector<control::FragmentStatus>> held_of(
        QueryId query) const;

private:
    enum class StepState : std::uint8_t { asked, refused, done };
    struct Exchange {  // about one fragment
        FragmentStep step;
        std::uint64_t request = 0;
        StepState state = StepState::asked;
        Instant at;       // asked: it was sent; refused: it may be sent again
        Trouble trouble;  // refused
        unsigned failures = 0;
    };
    struct Stream {
        Attempt attempt = 0;
        Incarnation incarnation;
        std::uint64_t seen = 0;
        std::map<FragmentKey, control::FragmentStatus> held;
        std::map<FragmentKey, Exchange> exchanges;
        std::map<std::uint64_t, FragmentKey> requests;  // of exchanges that are asked
    };
    struct Entry {
        std::optional<Worker> recorded;
        std::optional<Stream> stream;
        Instant ready_since;
    };

    [[nodiscard]] static bool is_ready(const Entry& entry);
    [[nodiscard]] Stream* stream(const std::string& worker, Attempt attempt);
    void merge(Instant now, const std::string& worker, Stream& stream,
               const control::FragmentStatus& status, std::uint64_t jitter);
    void refused(Instant now, Exchange& exchange, Trouble trouble, std::uint64_t jitter);
    void hold(const std::string& worker, Stream& stream, const control::FragmentStatus& status);
    void unhold(const std::string& worker, Stream& stream, const FragmentKey& key);
    [[nodiscard]] const Entry* entry(const std::string& worker) const;

    Pace pace_;
    std::map<std::string, Entry> workers_;
    std::map<QueryId, std::set<std::string>> holders_;  // workers whose stream holds something
};

}  // namespace baton::queries
