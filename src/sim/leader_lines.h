// LeaderLines carry orders from one coordinator to another and the answers back: late, cut short,
// or not at all. One end never knows more of the other than a connection tells: that it cannot be
// had, that it broke, or that it is silent for too long.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "ports/leader_line.h"
#include "sim/request_checks.h"
#include "sim/world.h"

namespace baton::sim {

class LeaderLines {
public:
    using Answered = std::function<void(const LineAnswer&)>;
    // A coordinator that orders come to. It answers at most once.
    struct Host {
        std::function<bool()> is_up;
        std::function<void(const std::string& order, std::function<void(const std::string&)>)> take;
    };
    struct ForwardedBundle {
        std::string from;  // addresses
        std::string to;
        std::string text;
        Duration patience{};  // in the time of the world
    };

    // Both outlive it.
    LeaderLines(World& world, RequestChecks& checks) : world_(world), checks_(checks) {}

    void add(const std::string& address, Host host) { hosts_[address] = std::move(host); }
    // Answered once.
    void ask(const ForwardedBundle& bundle, const Answered& answered);

private:
    class Call;

    World& world_;
    RequestChecks& checks_;
    std::map<std::string, Host> hosts_;
};

}  // namespace baton::sim
