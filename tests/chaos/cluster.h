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
#include "model/control.h"

namespace baton::chaos {

inline constexpr std::size_t kWorkers = 4;
using Time = std::chrono::steady_clock::time_point;

class Workers {
public:
    // Their directories and logs are below `directory`.
    Workers(std::string program, std::string directory);

    [[nodiscard]] static std::string name(std::size_t worker);
    // What tells a new catalog of them.
    [[nodiscard]] std::string statements() const;
    // Where rows of a source on that worker may go.
    [[nodiscard]] static std::vector<std::size_t> downstream_of(std::size_t worker);

    void start(std::size_t worker);
    void kill(std::size_t worker, Time back_at);
    void pause(std::size_t worker, Time until);
    [[nodiscard]] bool untroubled(std::size_t worker) const;
    // Starts and continues those whose time has come.
    void look(Time now);
    // All of them.
    void heal();
    // "W2 ended by itself with status 134"; empty if none did.
    [[nodiscard]] std::string crashed();

    // What the worker says that it has, asked by somebody else than the coordinator.
    [[nodiscard]] std::optional<std::vector<control::FragmentStatus>> held(
        std::size_t worker) const;

private:
    struct One {
        std::unique_ptr<Child> process;
        std::uint16_t port = 0;
        std::optional<Time> back_at;  // it is dead until then
        std::optional<Time> paused_until;
    };
    [[nodiscard]] std::string path(std::size_t worker) const;

    const std::string program_;
    const std::string directory_;
    std::array<One, kWorkers> workers_;
};

}  // namespace baton::chaos
