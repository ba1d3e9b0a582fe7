// Worker processes and what can happen to them.
//
//     W4 -> W2 -> W1
//        -> W3 ->
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chaos/child.h"
#include "chaos/network.h"
#include "model/control.h"

namespace baton::chaos {

inline constexpr std::size_t kWorkers = 4;
using Time = std::chrono::steady_clock::time_point;

class Workers {
public:
    // Their directories and logs are below `directory`; each is a node of the network, if there is
    // one, by its number.
    Workers(std::string program, std::string directory, const Network* network);

    [[nodiscard]] static std::string name(std::size_t worker);
    // What tells a new catalog of them.
    [[nodiscard]] std::string statements() const;
    // Where rows of a source on that worker may go.
    [[nodiscard]] static std::vector<std::size_t> downstream_of(std::size_t worker);
    // The links, as sender and receiver.
    [[nodiscard]] static std::vector<std::pair<std::size_t, std::size_t>> links();

    void start(std::size_t worker);
    void kill(std::size_t worker, Time back_at);
    void pause(std::size_t worker, Time until);
    // Tells it to leave (once, or once more so that it does not wait); it comes back so much later.
    void dismiss(std::size_t worker, bool at_once, std::chrono::milliseconds away);
    [[nodiscard]] bool untroubled(std::size_t worker) const;
    // Starts and continues those whose time has come. "W2 ended by itself with status 134", or what
    // else should not be; empty: nothing.
    [[nodiscard]] std::string look(Time now);
    // All of them; those that are still leaving come back when they have left.
    void heal();

    // What the worker says that it has, asked by somebody else than the coordinator.
    [[nodiscard]] std::optional<std::vector<control::FragmentStatus>> held(
        std::size_t worker) const;

private:
    struct One {
        std::unique_ptr<Child> process;
        std::uint16_t port = 0;
        std::optional<Time> back_at;  // it is dead until then
        std::optional<Time> paused_until;
        std::optional<Time> left_by;  // it was asked to leave
        Time started;
        std::chrono::milliseconds away{0};
    };
    [[nodiscard]] std::string path(std::size_t worker) const;
    [[nodiscard]] std::string host(std::size_t worker) const;
    void resume(One& one, std::size_t worker, Time now);

    const std::string program_;
    const std::string directory_;
    const Network* const network_;
    std::array<One, kWorkers> workers_;
};

}  // namespace baton::chaos
