// How long planning a query takes: from its tree to the texts for the workers, on one thread.
//
//   edges     a tree of workers: every tenth one is a hub of its ten neighbours, up to one root; a
//             query over sources on some edges
//   mesh      layers of 20 workers, each linked to all of the next layer: many paths of one length
//
// The query has about 30 operators: joins of aggregations over unions, with filters and
// expressions. The target is 50 ms over 1,000 workers.
#include <string>

#include "bench/harness.h"
#include "core/planning/planner.h"
#include "sql/parser.h"

namespace baton::bench {
namespace {

constexpr std::size_t kSourcesPerLogical = 4;

std::string worker_name(std::size_t index) {
    return "W" + std::to_string(index);
}

struct Shape {
    std::string name;
    std::size_t workers = 0;
    std::vector<NetworkLink> links;
    std::vector<std::size_t> edges;  // where sources are
};

// Worker 0 is the root; the parent of i is (i - 1) / 10.
Shape tree_of(std::size_t workers) {
    Shape shape{.name = "edges", .workers = workers, .links = {}, .edges = {}};
    for (std::size_t i = 1; i < workers; ++i) {
        shape.links.push_back({worker_name(i), worker_name((i - 1) / 10)});
    }
    for (std::size_t i = 0; i < 16; ++i) shape.edges.push_back(workers - 1 - i * (workers / 20));
    return shape;
}

// Worker 0 is the sink's; layer n follows layer n - 1.
Shape mesh_of(std::size_t workers) {
    constexpr std::size_t kWide = 20;
    Shape shape{.name = "mesh", .workers = workers, .links = {}, .edges = {}};
    for (std::size_t i = 1; i < workers; ++i) {
        const std::size_t layer = (i - 1) / kWide;
        if (layer == 0) shape.links.push_back({worker_name(i), worker_name(0)});
        for (std::size_t j = 0; layer > 0 && j < kWide; ++j) {
            shape.links.push_back({worker_name(i), worker_name((layer - 1) * kWide + 1 + j)});
        }
    }
    for (std::size_t i = 0; i < 16; ++i) shape.edges.push_back(workers - 1 - i);
    return shape;
}

planning::PlanningView view_of(const Shape& shape) {
    auto cluster = std::make_shared<topology::Cluster>();
    planning::PlanningView view;
    for (std::size_t i = 0; i < shape.workers; ++i) {
        Worker& worker = cluster->workers[worker_name(i)];
        worker.name = worker_name(i);
        worker.capacity = 100;
        view.used[worker.name] = i % 100;
    }
    cluster->topology = topology::Topology(shape.links);
    view.cluster = cluster;
    const Schema schema{.columns = {{.name = "TS", .type = DataType::uint64, .nullable = false},
                                    {.name = "K", .type = DataType::int32, .nullable = false},
                                    {.name = "V", .type = DataType::float64, .nullable = true},
                                    {.name = "X", .type = DataType::varsized, .nullable = true}}};
    std::uint64_t id = 0;
    for (const char* name : {"A", "B", "C", "D"}) {
        view.logical_sources[name] = {.name = name, .schema = schema, .revision = {}};
        for (std::size_t i = 0; i < kSourcesPerLogical; ++i, ++id) {
            view.physical_sources.push_back({.id = PhysicalSourceId(id + 1),
                                             .logical = name,
                                             .worker = worker_name(shape.edges.at(id)),
                                             .type = "File",
                                             .source = {{"FILE_PATH", std::string("in.csv")}},
                                             .format = {{"TYPE", std::string("CSV")}},
                                             .revision = {}});
        }
    }
    for (const PhysicalSource& source : view.physical_sources) view.used[source.worker] = 0;
    return view;
}

sql::CreateQuery query() {
    const auto part = [](const std::string& source, const std::string& name) {
        return "(SELECT ts, k AS " + name + ", v * 2.0 + 1.0 AS v" + name + " FROM " + source +
               " WHERE v > 1.0 + 2.0 AND k <> INT32(7))";
    };
    const std::string text =
        "SELECT k1, SUM(vk1) AS a, AVG(vk2) AS b, COUNT(*) AS c FROM " + part("a", "k1") +
        " JOIN " + part("b", "k2") + " ON k1 = k2 WINDOW TUMBLING(ts, SIZE 1 SEC)" +
        " WHERE vk1 > vk2 AND k1 > INT32(3) GROUP BY k1 WINDOW TUMBLING(start, SIZE 10 SEC)" +
        " HAVING k1 < INT32(100) UNION SELECT k, MIN(v) AS a, AVG(v) AS b, COUNT(*) AS c FROM " +
        "(SELECT ts, k, v FROM c WHERE v > 5.0 UNION SELECT ts, k, v FROM d WHERE v < 5.0)" +
        " GROUP BY k WINDOW TUMBLING(ts, SIZE 10 SEC) INTO Void('W0' AS SINK.HOST)";
    return std::get<sql::CreateQuery>(must(sql::parse_one(text)).node);
}

std::size_t operators_in(const PlanNode& node) {
    std::size_t count = 1;
    for (const PlanNode& input : node.inputs) count += operators_in(input);
    return count;
}

void run(const Arguments& arguments) {
    const sql::CreateQuery tree = query();
    const std::optional<sql::SinkTarget> sink = tree.sink;
    Table table({"workers", "shape", "operators", "fragments", "median", "p99", "bytes of plans"});
    for (const std::size_t workers : {std::size_t{100}, std::size_t{1'000}, std::size_t{10'000}}) {
        if (arguments.tiny && workers > 1'000) continue;
        for (const Shape& shape : {tree_of(workers), mesh_of(workers)}) {
            const planning::PlanningView view = view_of(shape);
            Latencies latencies;
            planning::QueryPlan made;
            const int times = arguments.tiny ? 3 : 300;
            for (int i = 0; i < times; ++i) {
                const auto start = Clock::now();
                made = must(plan(tree, view));
                latencies.add(Seconds(Clock::now() - start).count() * 1e6);
            }
            const planning::PlanSteps steps = must(planning::plan_steps(
                {.query = tree.query, .sink = sink, .settings = tree.settings}, view));
            std::size_t bytes = 0;
            for (const planning::PlannedFragment& fragment : made.fragments)
                bytes += fragment.plan.size();
            table.add({text(static_cast<double>(workers)), shape.name,
                       std::to_string(operators_in(steps.logical)) + " to " +
                           std::to_string(operators_in(steps.physical)),
                       std::to_string(made.fragments.size()),
                       milliseconds(latencies.percentile(50)),
                       milliseconds(latencies.percentile(99)), text(static_cast<double>(bytes))});
        }
    }
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::run(baton::bench::arguments_of(count, values));
}
