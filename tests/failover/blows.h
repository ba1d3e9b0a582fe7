// What is done to coordinators and their database in a long run, one blow after the other. All of
// it is mended again: who was killed is started, who was stopped goes on.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/prng.h"
#include "failover/cluster.h"
#include "failover/load.h"
#include "failover/witness.h"

namespace baton::failover {

class Blows {
public:
    Blows(Cluster& cluster, const Witness& witness, const Load& load, std::chrono::seconds ttl,
          std::uint64_t seed);

    // One, and waits until something is accepted again.
    void strike();

    [[nodiscard]] const std::map<std::string, int>& struck() const { return struck_; }
    [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
    // The longest time from a blow to the next change that was accepted.
    [[nodiscard]] double longest_s() const { return longest_s_; }

private:
    [[nodiscard]] std::optional<std::size_t> leader() const;
    // The one that leads, or one that does not; none if that cannot be known.
    [[nodiscard]] std::optional<std::size_t> draw(bool leads);
    // As a service manager would: who began while the database was away has ended.
    void start_who_gave_up();
    [[nodiscard]] std::string last_line(std::size_t coordinator) const;  // of its log
    // Whether it ended because there was no database when it began.
    [[nodiscard]] bool gave_up(std::size_t coordinator, int status) const;
    void kill(std::size_t coordinator);
    void stop_for_a_while(std::size_t coordinator);
    void tell_to_leave(std::size_t coordinator);
    void restart_database();
    void wait_for_a_change(const std::string& after);

    Cluster& cluster_;
    const Witness& witness_;
    const Load& load_;
    const std::chrono::seconds ttl_;
    Prng prng_;
    std::map<std::string, int> struck_;
    std::vector<std::string> problems_;
    double longest_s_ = 0;
};

}  // namespace baton::failover
