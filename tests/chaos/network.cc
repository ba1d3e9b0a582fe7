#include "chaos/network.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "base/check.h"
#include "chaos/isolation.h"

namespace baton::chaos {

namespace {

const std::string kSubnet = "10.77.0.";  // nobody else is in there
constexpr const char* kHere = "/proc/self/ns/net";

std::string hardware(std::size_t node) {
    return "02:00:00:00:00:" + std::to_string(10 + node);
}
constexpr const char* kNobody = "02:00:00:00:00:ff";

}  // namespace

std::optional<Network> Network::make(std::size_t nodes) {
    const bool made = run("ip link set dev lo up") && run("ip link add name hub type bridge") &&
                      run("ip address add " + kSubnet + "254/24 dev hub") &&
                      run("ip link set dev hub up");
    if (!made) return std::nullopt;
    Network network;
    for (std::size_t node = 0; node < nodes; ++node) {
        if (!network.join(node)) return std::nullopt;
    }
    for (std::size_t from = 0; from < nodes; ++from) {
        for (std::size_t to = 0; to < nodes; ++to) {
            if (from != to) network.set_open(from, to, true);
        }
    }
    return network;
}

Network::~Network() {
    for (const int space : spaces_) ::close(space);
}

bool Network::join(std::size_t node) {
    const int home = ::open(kHere, O_RDONLY | O_CLOEXEC);
    CHECK(home >= 0);
    if (::unshare(CLONE_NEWNET) != 0) return false;
    const int space = ::open(kHere, O_RDONLY | O_CLOEXEC);
    CHECK(space >= 0 && ::setns(home, CLONE_NEWNET) == 0);
    ::close(home);
    spaces_.push_back(space);
    const std::string port = "port" + std::to_string(node);
    const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(space);
    return run("ip link add name " + port + " type veth peer name eth0 address " + hardware(node) +
               " netns " + path) &&
           run("ip link set dev " + port + " master hub up") &&
           run("ip link set dev lo up", space) &&
           run("ip address add " + host(node) + "/24 dev eth0", space) &&
           run("ip link set dev eth0 up", space);
}

std::string Network::host(std::size_t node) {
    return kSubnet + std::to_string(node + 1);
}

void Network::set_open(std::size_t from, std::size_t to, bool open) const {
    CHECK(run("ip neighbour replace " + host(to) + " lladdr " + (open ? hardware(to) : kNobody) +
                  " nud permanent dev eth0",
              space(from)));
}

}  // namespace baton::chaos
