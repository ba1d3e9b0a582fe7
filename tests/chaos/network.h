// A network of nodes, each in a network namespace of its own, joined by a switch in this process's.
//
// What goes from one node to another can be cut without either being told: as with a cable that was
// pulled somewhere on the way, packets are sent and never arrive. That is done by a wrong hardware
// address for the other node, which no kernel refuses and which has a direction.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace baton::chaos {

class Network {
public:
    // Where isolate() has led. None: it cannot be made, and `ip` has said why.
    [[nodiscard]] static std::optional<Network> make(std::size_t nodes);
    Network(Network&& other) noexcept = default;
    Network& operator=(Network&&) = delete;
    ~Network();

    // Of the node, as the others and this process see it.
    [[nodiscard]] static std::string host(std::size_t node);
    // The namespace in which its processes are started.
    [[nodiscard]] int space(std::size_t node) const { return spaces_[node]; }
    // What `from` sends to `to` arrives, or does not.
    void set_open(std::size_t from, std::size_t to, bool open) const;

private:
    Network() = default;
    [[nodiscard]] bool join(std::size_t node);

    std::vector<int> spaces_;
};

}  // namespace baton::chaos
