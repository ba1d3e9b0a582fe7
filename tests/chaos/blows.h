// What is done to the cluster: blows that are drawn at random, each taken back when its time has
// come.
//
// Workers are killed and started again, paused, and asked to leave; the coordinator is killed and
// paused. In namespaces (isolation.h) the network is cut and the coordinator's disk is full, too:
// one worker from everyone, one from the coordinator alone, or two from each other; both ways or
// one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "chaos/cluster.h"
#include "chaos/coordinator.h"
#include "chaos/disk.h"
#include "chaos/network.h"

namespace baton::chaos {

// The node of the coordinator; those before it are the workers.
inline constexpr std::size_t kCoordinatorNode = kWorkers;

struct Struck {
    std::uint64_t worker_kills = 0;
    std::uint64_t worker_pauses = 0;
    std::uint64_t dismissals = 0;
    std::uint64_t coordinator_kills = 0;
    std::uint64_t coordinator_pauses = 0;
    std::uint64_t cuts_from_all = 0;
    std::uint64_t cuts_from_coordinator = 0;
    std::uint64_t cuts_between_workers = 0;
    std::uint64_t cuts_one_way = 0;  // of all of these
    std::uint64_t full_disks = 0;
    std::uint64_t starts_without_space = 0;  // of a coordinator, refused
};

struct Mood {
    std::int64_t length = 1;  // the longest blows last so many times as long as usual
    // A coordinator that is killed all the time never lives long enough to miss anybody.
    bool kills_coordinators = true;
};

class Blows {
public:
    struct Victims {
        Workers& workers;
        Coordinator& coordinator;
        const Network* network = nullptr;  // none: it is never cut
        const Disk* disk = nullptr;        // none: it is never full
    };
    using Tell = std::function<void(const std::string&)>;

    Blows(Victims victims, Prng& prng, Tell tell);

    // How it goes on from here.
    void set_mood(const Mood& mood) { mood_ = mood; }
    [[nodiscard]] const Mood& mood() const { return mood_; }
    void strike();
    // It was killed by somebody else, and is started again.
    void coordinator_is_gone();
    // Takes back what is over. What should not have happened meanwhile; empty: nothing.
    [[nodiscard]] std::string look(Time now);
    // Takes everything back.
    [[nodiscard]] std::string heal();
    [[nodiscard]] bool disk_is_full() const { return full_until_.has_value(); }

    [[nodiscard]] const Struck& struck() const { return struck_; }

private:
    using Way = std::pair<std::size_t, std::size_t>;  // from a node to a node
    struct Cut {
        std::vector<Way> ways;
        Time until;
    };

    void kill_worker();
    void pause_worker();
    void dismiss_worker();
    void kill_coordinator();
    void pause_coordinator();
    void draw_full_disk();
    void fill_disk(std::chrono::milliseconds time);
    void cut_network();
    [[nodiscard]] Cut draw_cut();
    [[nodiscard]] bool is_cut(const Way& way) const;
    void mend(Time now);
    [[nodiscard]] std::string start_coordinator(Time now);
    [[nodiscard]] std::chrono::milliseconds draw_time(std::uint64_t least, std::uint64_t most);

    Victims victims_;
    Prng& prng_;
    const Tell tell_;
    Mood mood_;
    std::optional<Time> coordinator_back_at_;
    std::optional<Time> coordinator_paused_until_;
    std::optional<Time> full_until_;
    // The disk is full for so long once the coordinator is back.
    std::optional<std::chrono::milliseconds> full_after_start_;
    std::vector<Cut> cuts_;
    Struck struck_;
};

}  // namespace baton::chaos
