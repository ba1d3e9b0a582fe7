// SimWorker is a worker's process in a simulated world: the worker's own machine, and an engine
// that takes its time, fails and ends as the world has it. It can be killed, restarted and paused.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/worker/station.h"
#include "sim/drifting_clock.h"
#include "sim/world.h"

namespace baton::sim {

// The fate of each fragment, on any worker, for the checks.
class FragmentRuns {
public:
    // False if this life of the fragment has run before, anywhere.
    bool add(const FragmentKey& key, Incarnation process) {
        return processes_.emplace(key, process).second;
    }
    [[nodiscard]] bool has(const FragmentKey& key) const { return processes_.contains(key); }
    // The life of a worker's process in which it ran.
    [[nodiscard]] std::optional<Incarnation> process_of(const FragmentKey& key) const {
        const auto found = processes_.find(key);
        if (found == processes_.end()) return std::nullopt;
        return found->second;
    }

    // For the catalog it has ended, and will not be back.
    void end(const FragmentKey& key) { ended_.insert(key); }
    [[nodiscard]] bool has_ended(const FragmentKey& key) const { return ended_.contains(key); }

    // An incident harmed this run of the query, so that only another run can make it good.
    void harm(QueryId query, std::uint64_t run) { harmed_.emplace(query, run); }
    [[nodiscard]] bool is_harmed(QueryId query, std::uint64_t run) const {
        return harmed_.contains({query, run});
    }

private:
    std::map<FragmentKey, Incarnation> processes_;
    std::set<FragmentKey> ended_;
    std::set<std::pair<QueryId, std::uint64_t>> harmed_;
};

class SimWorker {
public:
    using Session = sessions::Session;
    // The worker's messages on a session: the Welcome or its refusal, then the others.
    using Said = std::function<void(Session, sessions::GreetingAnswer)>;
    using Replied = std::function<void(Session, control::Up)>;

    SimWorker(World& world, std::string name, FragmentRuns& ran, std::uint64_t& incarnations,
              std::int64_t drift_ppm = 0)
        : world_(world),
          name_(std::move(name)),
          ran_(ran),
          incarnations_(incarnations),
          clock_(world.agenda, drift_ppm) {
        start();
    }

    void listen(Said said, Replied replied) {
        said_ = std::move(said);
        replied_ = std::move(replied);
    }

    void start();  // nothing if it runs
    void kill();
    void pause();
    void resume();
    [[nodiscard]] bool is_up() const { return machine_.has_value(); }
    [[nodiscard]] const std::string& name() const { return name_; }

    // `obeyed` is called whenever the worker welcomes or obeys a coordinator of this epoch.
    void watch(std::function<void(Epoch)> obeyed) { obeyed_ = std::move(obeyed); }

    // The worker's allegiance, as it is on its disk.
    [[nodiscard]] const control::Allegiance& kept() const { return kept_; }
    // While the worker lies it refuses every greeting, for an epoch that cannot be.
    void set_lying(bool lies) { lies_ = lies; }
    // Gives the worker, on this session, other fragments under these numbers, as they were before a
    // restore.
    void haunt(Session session, const std::vector<FragmentKey>& keys);

    // Nothing happens if the process is not there; it waits while the process is paused.
    void take(const worker::station::Event& event);

    // Fragments that are being prepared, or can produce data: each is a zombie if it is not wanted.
    // Without those of another history.
    [[nodiscard]] std::set<FragmentKey> alive() const;
    [[nodiscard]] std::size_t remembered() const;
    // The partitions that it works on just now; none while it is paused. The user of partitions
    // looks at the time: one that wakes up too late does no more work, even before it has reported
    // the release.
    [[nodiscard]] std::set<PartitionKey> partitions() const;
    // Grows whenever partitions() may have become more.
    [[nodiscard]] std::uint64_t partition_changes() const { return partition_changes_; }
    [[nodiscard]] std::optional<Incarnation> incarnation() const;

private:
    enum class Phase : std::uint8_t { preparing, prepared, running };
    struct Work {
        Phase phase = Phase::preparing;
        std::uint64_t change = 0;  // what was planned before the last change is void
    };

    void step(const worker::station::Event& event);
    void schedule_tick();
    void release(const PartitionKey& partition);
    void say_what_was_released();
    void tell(const worker::station::Effect& effect);
    void note_obedience(const worker::station::Event& event, const worker::station::Effect& effect);
    void perform(const worker::station::Effect& effect);
    void prepare(const worker::engine_calls::Prepare& order);
    void run(const worker::engine_calls::Start& order);
    void halt(const FragmentKey& key);
    // Runs an action on the work later, unless the work or the process has changed by then.
    void later(const FragmentKey& key, Duration delay, const std::function<void(Work&)>& action);
    void report(const FragmentKey& key, const fragments::Event& event);

    World& world_;
    const std::string name_;
    FragmentRuns& ran_;
    std::uint64_t& incarnations_;
    const DriftingClock clock_;
    Said said_;
    Replied replied_;
    std::function<void(Epoch)> obeyed_;
    std::optional<worker::Station> machine_;  // none: killed
    control::Allegiance kept_;                // on its disk
    control::Hello greeted_;                  // last
    std::map<FragmentKey, Work> engine_;
    std::uint64_t life_ = 0;
    std::uint64_t changes_ = 0;
    bool paused_ = false;
    bool lies_ = false;
    std::set<FragmentKey> ghosts_;  // of engine_: of another history
    // The partitions of the worker. With a time: it is being released, and no longer used from then
    // on, by the world's clock.
    std::map<PartitionKey, std::optional<Instant>> partitions_;
    Instant lease_ends_{};  // as it last counted, by its clock
    std::uint64_t partition_changes_ = 0;
    std::optional<Instant> tick_at_;
    std::vector<worker::station::Event> waiting_;  // while paused
};

}  // namespace baton::sim
