// Paths and circles against brute force, and what an address is.
#include "core/topology/topology.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/picks.h"
#include "properties/world.h"

namespace baton::properties {

namespace {

// Up to five workers with any links, also to themselves.
struct Graph {
    std::vector<NetworkLink> links;

    [[nodiscard]] bool has(const std::string& from, const std::string& to) const {
        return std::find(links.begin(), links.end(), NetworkLink{from, to}) != links.end();
    }
};

const std::vector<std::string>& workers() {
    static const std::vector<std::string> kWorkers = {"A", "B", "C", "D", "E"};
    return kWorkers;
}

void showValue(const Graph& graph, std::ostream& os) {
    for (const NetworkLink& link : graph.links)
        os << link.upstream << "->" << link.downstream << " ";
}

rc::Gen<Graph> any_graph() {
    return rc::gen::exec([] {
        const int percent = between(0, 50);
        Graph graph;
        for (const std::string& from : workers()) {
            for (const std::string& to : workers()) {
                if (chance(percent)) graph.links.push_back({from, to});
            }
        }
        return graph;
    });
}

// The length of the shortest walk of at least `least` links, by trying every number of links.
std::optional<std::size_t> distance(const Graph& graph, const std::string& from,
                                    const std::string& to, std::size_t least) {
    std::set<std::string> here = {from};
    for (std::size_t steps = 0; steps <= workers().size(); ++steps) {
        if (steps >= least && here.contains(to)) return steps;
        std::set<std::string> next;
        for (const NetworkLink& link : graph.links) {
            if (here.contains(link.upstream)) next.insert(link.downstream);
        }
        here = next;
    }
    return std::nullopt;
}

bool has_circle(const Graph& graph) {
    return std::any_of(workers().begin(), workers().end(), [&](const std::string& worker) {
        return distance(graph, worker, worker, 1).has_value();
    });
}

void require_circle(const Graph& graph, const std::vector<std::string>& circle) {
    require(circle.size() >= 2 && circle.front() == circle.back(), "not a circle");
    for (std::size_t i = 0; i + 1 < circle.size(); ++i) {
        require(graph.has(circle[i], circle[i + 1]), "a circle over a link that is not there");
    }
    const std::set<std::string> different(circle.begin(), circle.end());
    require(different.size() == circle.size() - 1, "a circle that comes by twice");
}

// One case is quick: each run has many.
constexpr int kGraphs = 30;

void require_shortest_path() {
    const Graph graph = *any_graph();
    const std::string from = *rc::gen::elementOf(workers());
    const std::string to = *rc::gen::elementOf(workers());
    const auto path = topology::Topology(graph.links).path(from, to);
    const auto expected = distance(graph, from, to, 0);
    RC_ASSERT(path.has_value() == expected.has_value());
    if (!path) return;
    RC_ASSERT(path->size() == *expected + 1);
    RC_ASSERT(path->front() == from);
    RC_ASSERT(path->back() == to);
    for (std::size_t i = 0; i + 1 < path->size(); ++i) {
        RC_ASSERT(graph.has((*path)[i], (*path)[i + 1]));
    }
}

RC_GTEST_PROP(TopologyProperty, APathIsAShortestWalkOverLinks, ()) {
    for (int i = 0; i < kGraphs; ++i) require_shortest_path();
}

void require_circle_found() {
    const Graph graph = *any_graph();
    const auto circle = topology::Topology(graph.links).cycle();
    RC_ASSERT(circle.has_value() == has_circle(graph));
    if (circle) require_circle(graph, *circle);
}

RC_GTEST_PROP(TopologyProperty, ACircleIsFoundExactlyIfThereIsOne, ()) {
    for (int i = 0; i < kGraphs; ++i) require_circle_found();
}

void require_new_circle_found() {
    Graph graph = *any_graph();
    if (has_circle(graph)) return;
    const auto peers =
        rc::gen::container<std::set<std::string>>(rc::gen::weightedElement<std::string>(
            {{9, "A"}, {9, "B"}, {9, "C"}, {9, "D"}, {9, "E"}, {1, "NEW"}}));
    const auto upstream = *rc::gen::resize(3, peers);
    const auto downstream = *rc::gen::resize(3, peers);
    const auto circle = topology::Topology(graph.links).cycle_with("NEW", upstream, downstream);
    for (const std::string& peer : upstream) graph.links.push_back({peer, "NEW"});
    for (const std::string& peer : downstream) graph.links.push_back({"NEW", peer});
    const bool closed = distance(graph, "NEW", "NEW", 1).has_value();
    RC_ASSERT(circle.has_value() == closed);
    if (circle) require_circle(graph, *circle);
}

RC_GTEST_PROP(TopologyProperty, ANewWorkerClosesACircleExactlyIfTheGraphWithItHasOne, ()) {
    for (int i = 0; i < kGraphs; ++i) require_new_circle_found();
}

TEST(Address, IsAHostAndAPort) {
    for (const auto& [text, host, port] :
         {std::tuple{"localhost:8080", "localhost", 8080}, std::tuple{"a:1", "a", 1},
          std::tuple{"w-1.example.org:65535", "w-1.example.org", 65535},
          std::tuple{"under_score:9", "under_score", 9}, std::tuple{"10.0.0.1:80", "10.0.0.1", 80},
          std::tuple{"[::1]:80", "[::1]", 80}, std::tuple{"[::]:80", "[::]", 80},
          std::tuple{"[fe80::1:2]:80", "[fe80::1:2]", 80},
          std::tuple{"[1:2:3:4:5:6:7:8]:80", "[1:2:3:4:5:6:7:8]", 80},
          std::tuple{"[::ffff:10.0.0.1]:80", "[::ffff:10.0.0.1]", 80},
          std::tuple{"[2001:DB8::A]:80", "[2001:DB8::A]", 80}}) {
        const auto address = topology::parse_address(text);
        ASSERT_TRUE(address) << text;
        EXPECT_EQ(address->host, host);
        EXPECT_EQ(address->port, port);
        EXPECT_EQ(to_string(*address), text);
    }
}

TEST(Address, IsRefusedWithAReason) {
    for (const char* text : {"",
                             ":",
                             "localhost",
                             "localhost:",
                             ":80",
                             "localhost:0",
                             "localhost:65536",
                             "localhost:99999999999999999999",
                             "localhost:-1",
                             "localhost:+1",
                             "localhost: 1",
                             "localhost:1 ",
                             "localhost:0x10",
                             "local host:1",
                             "-a:1",
                             ".a:1",
                             "a..b:1",
                             "a/b:1",
                             "a@b:1",
                             "ä:1",
                             "::1:80",
                             "[]:80",
                             "[::1:80",
                             "::1]:80",
                             "[::1]",
                             "[::1]80",
                             "[[::1]]:80",
                             "[:]:80",
                             "[:::]:80",
                             "[1:2]:80",
                             "[1:2:3:4:5:6:7:8:9]:80",
                             "[12345::]:80",
                             "[1::2::3]:80",
                             "[1:2:3:4:5:6:7:]:80",
                             "[:1:2:3:4:5:6:7]:80",
                             "[::1.2.3]:80",
                             "[::1.2.3.256]:80",
                             "[1.2.3.4::]:80",
                             "[1.2.3.4]:80",
                             "[g::]:80"}) {
        const auto address = topology::parse_address(text);
        ASSERT_FALSE(address) << text;
        EXPECT_EQ(address.error().code, ErrorCode::invalid_address) << text;
        EXPECT_FALSE(address.error().hint.empty()) << text;
    }
    EXPECT_FALSE(topology::parse_address(std::string(254, 'a') + ":1"));
    EXPECT_TRUE(topology::parse_address(std::string(253, 'a') + ":1"));
}

}  // namespace

}  // namespace baton::properties
