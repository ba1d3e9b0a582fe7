#include "doors/yaml/workers.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "doors/yaml/fields.h"

namespace baton::yaml {

namespace {

constexpr std::size_t kCycleMax = 20;  // workers of a cycle that a message names

struct Worker {
    std::string control;
    std::optional<std::string> data;
    std::optional<sql::Literal> capacity;
    std::vector<std::string> downstream;
    std::optional<std::string> name;
    Position at;
};

Result<Done> read_addresses(const Fields& fields, Worker& worker, Workers& workers) {
    TRY_ASSIGN(host, filled_text_of(fields.at("host"), "\"host\""));
    const Node* const data = fields.find("data_address");
    const Node* const grpc = fields.find("grpc");
    worker.control = host;
    if (grpc != nullptr) {
        if (data != nullptr) {
            return refusal(data->at,
                           "a worker with the older key \"grpc\" has its data address "
                           "under \"host\"",
                           "give \"host\" and \"data_address\"");
        }
        TRY_ASSIGN(control, filled_text_of(*grpc, "\"grpc\""));
        worker.control = std::move(control);
        worker.data = host;
    } else if (data != nullptr) {
        TRY_ASSIGN(address, filled_text_of(*data, "\"data_address\""));
        worker.data = std::move(address);
    }
    if (workers.addresses.contains(worker.control) || workers.addresses.contains(host)) {
        return Error{.code = ErrorCode::worker_exists,
                     .message = "worker " + shown(worker.control) + " is in the file twice",
                     .at = worker.at};
    }
    workers.addresses[worker.control] = worker.control;
    workers.addresses[host] = worker.control;
    return Done{};
}

Result<Done> read_capacity(const Node* node, Worker& worker) {
    if (node == nullptr) return Done{};
    TRY_ASSIGN(capacity, literal_of(*node, "\"max_operators\""));
    const auto* text = std::get_if<std::string>(&capacity);
    if (text != nullptr && equal_ignoring_case(*text, "unlimited")) return Done{};
    const auto* number = std::get_if<sql::Integer>(&capacity);
    if (number == nullptr || number->negative) {
        return refusal(node->at,
                       "\"max_operators\" must be a whole number of at least 0, or "
                       "Unlimited");
    }
    worker.capacity = std::move(capacity);
    return Done{};
}

Result<Done> check_no_config(const Node* node) {
    TRY_ASSIGN(settings, entries_of(node, "\"config\""));
    if (settings.empty()) return Done{};
    return refusal(settings.front().at,
                   "the settings of a worker process (\"config\", here " +
                       shown(settings.front().key) + ") cannot be set by a deployment file",
                   "give them to the worker when it is started");
}

Result<Worker> read_worker(const Node& node, Workers& workers) {
    static const std::vector<KnownKey> kKnown = {
        {.name = "host", .required = true, .older_names = {"host_addr"}},
        {.name = "data_address", .older_names = {"data", "data_addr"}},
        {.name = "max_operators", .older_names = {"capacity"}},
        {.name = "downstream"},
        {.name = "name"},
        {.name = "config"},
        {.name = "grpc"}};
    TRY_ASSIGN(fields, Fields::of(node, "a worker", kKnown));
    Worker worker{.at = node.at};
    TRY(read_addresses(fields, worker, workers));
    TRY(read_capacity(fields.find("max_operators"), worker));
    TRY(check_no_config(fields.find("config")));
    TRY_ASSIGN(downstream, texts_of(fields.find("downstream"), "\"downstream\""));
    worker.downstream = std::move(downstream);
    if (const Node* const name = fields.find("name")) {
        TRY_ASSIGN(text, text_of(*name, "\"name\""));
        worker.name = std::move(text);
    }
    return worker;
}

// For each worker, by its place in the file, the places of those that it sends to.
using Links = std::vector<std::vector<std::size_t>>;

Links links_of(const std::vector<Worker>& workers) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < workers.size(); ++i) places[workers[i].control] = i;
    Links links(workers.size());
    for (std::size_t i = 0; i < workers.size(); ++i) {
        for (const std::string& address : workers[i].downstream) {
            const auto place = places.find(address);
            if (place != places.end()) links[i].push_back(place->second);
        }
    }
    return links;
}

// Follows links among workers that each have one, until one comes up again.
std::string cycle_in(const Links& links, const std::vector<Worker>& workers,
                     const std::vector<bool>& placed) {
    std::vector<std::size_t> path;
    std::vector<bool> seen(workers.size());
    auto next =
        static_cast<std::size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
    while (!seen[next]) {
        seen[next] = true;
        path.push_back(next);
        const auto& downstream = links[next];
        const auto more = std::find_if(downstream.begin(), downstream.end(),
                                       [&](std::size_t i) { return !placed[i]; });
        CHECK(more != downstream.end());
        next = *more;
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), next));
    path.push_back(next);
    std::vector<std::string> names;
    names.reserve(path.size());
    for (const std::size_t i : path) names.push_back(shown(workers[i].control));
    if (names.size() <= kCycleMax) return join(names, " -> ");
    return join(std::span(names).first(kCycleMax), " -> ") + " and " +
           std::to_string(names.size() - kCycleMax) + " more";
}

// The places of the workers, those that receive first; among equals as in the file.
Result<std::vector<std::size_t>> creation_order(const std::vector<Worker>& workers) {
    const Links links = links_of(workers);
    Links upstream(workers.size());
    std::vector<std::size_t> waits_for(workers.size());
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        waits_for[i] = links[i].size();
        for (const std::size_t downstream : links[i]) upstream[downstream].push_back(i);
        if (links[i].empty()) ready.insert(i);
    }
    std::vector<std::size_t> order;
    std::vector<bool> placed(workers.size());
    while (!ready.empty()) {
        const std::size_t i = *ready.begin();
        ready.erase(ready.begin());
        order.push_back(i);
        placed[i] = true;
        for (const std::size_t waiting : upstream[i]) {
            waits_for[waiting] -= 1;
            if (waits_for[waiting] == 0) ready.insert(waiting);
        }
    }
    if (order.size() == workers.size()) return order;
    const auto left = std::find(placed.begin(), placed.end(), false) - placed.begin();
    return Error{
        .code = ErrorCode::invalid_topology,
        .message = "the links between workers form a cycle: " + cycle_in(links, workers, placed),
        .at = workers[static_cast<std::size_t>(left)].at};
}

sql::Statement statement_of(const Worker& worker) {
    sql::CreateWorker create{.address = worker.control};
    const auto set = [&](const char* key, sql::Literal value) {
        create.settings.push_back({.key = {key}, .value = std::move(value), .at = worker.at});
    };
    if (worker.data) set("DATA", *worker.data);
    if (worker.capacity) set("CAPACITY", *worker.capacity);
    for (const std::string& address : worker.downstream) set("DOWNSTREAM", address);
    if (worker.name) set("NAME", *worker.name);
    return {.node = std::move(create), .at = worker.at};
}

}  // namespace

std::string Workers::control_of(const std::string& address) const {
    const auto found = addresses.find(address);
    return found == addresses.end() ? address : found->second;
}

Result<Workers> read_workers(const Node* node) {
    Workers result;
    std::vector<Worker> workers;
    TRY_ASSIGN(items, items_of(node, "\"workers\""));
    for (const Node& item : items) {
        TRY_ASSIGN(worker, read_worker(item, result));
        workers.push_back(std::move(worker));
    }
    for (Worker& worker : workers) {
        for (std::string& address : worker.downstream) address = result.control_of(address);
    }
    TRY_ASSIGN(order, creation_order(workers));
    for (const std::size_t i : order) result.statements.push_back(statement_of(workers[i]));
    return result;
}

}  // namespace baton::yaml
