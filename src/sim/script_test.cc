// Scenes: what users, workers and the coordinator do to each other, told step by step.
//
//     ask STATEMENT | together STATEMENT; STATEMENT | run SECONDS | workers | queries | held |
//     partitions
//     kill W | restart W | cut W | cut-to W | cut-from W | mend W     (W: EDGE, MID, HUB,
//     coordinator) prepares fail | prepares fail for now | prepares succeed
//
//     forwarding          before all others: coordinators that follow forward requests
//     coordinators N      first of all: so many contend for a lease of 3 s
//     leader | wait       who leads; the same, as soon as somebody else does
//     kill C | pause C | leave C | cut C | cut-store C | store away | mend C     (C: A, B, C,
//     store) send C STATEMENT    asks this one, and goes on at once leases unknown | leases lost |
//     leases fine     what comes of calls of the lease store
//     lines lost | lines refused | lines fine     what comes of orders between coordinators
//
// Each scene begins with EDGE -> MID -> HUB, a source S on EDGE and sinks K and L on HUB, which has
// two slots.
#include "testing/script.h"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/text.h"
#include "sim/stage.h"

namespace baton::sim {
namespace {

using namespace std::chrono_literals;

Scenario small_cluster() {
    Scenario scenario;
    scenario.workers = {"EDGE:1", "MID:1", "HUB:1"};
    scenario.setup = {
        "CREATE WORKER 'HUB:1' SET (2 AS CAPACITY)",
        "CREATE WORKER 'MID:1' SET ('HUB:1' AS DOWNSTREAM)",
        "CREATE WORKER 'EDGE:1' SET ('MID:1' AS DOWNSTREAM)",
        "CREATE LOGICAL SOURCE S (X INT32 NOT NULL)",
        "CREATE PHYSICAL SOURCE FOR S TYPE File SET ('EDGE:1' AS \"SOURCE\".\"HOST\", "
        "'/in' AS \"SOURCE\".FILE_PATH, 'CSV' AS INPUT_FORMATTER.\"TYPE\")",
        "CREATE SINK K (X INT32 NOT NULL) TYPE Void SET ('HUB:1' AS \"SINK\".\"HOST\")",
        "CREATE SINK L (X INT32 NOT NULL) TYPE Void SET ('HUB:1' AS \"SINK\".\"HOST\")",
    };
    return scenario;
}

class Scene {
public:
    Scene() : scenario_(small_cluster()) { set_up(); }

    std::string answer(const std::string& command) {
        std::istringstream words(command);
        std::string verb;
        words >> verb;
        std::string rest;
        std::getline(words >> std::ws, rest);
        while (!rest.empty() && rest.back() == '\n') rest.pop_back();
        std::string text = act(verb, rest);
        for (const std::string& line : stage_->take_answers()) text += line + "\n";
        if (stage_->world().problem()) text += "NEVER: " + *stage_->world().problem() + "\n";
        return text.empty() ? "ok\n" : text;
    }

private:
    void set_up() {
        stage_ = std::make_unique<Stage>(scenario_, false);
        stage_->set_up();
        stage_->run_for(5s);
    }

    std::string act(const std::string& verb, const std::string& rest) {
        if (verb == "ask") {
            stage_->ask(rest);
            stage_->run_for(50ms);
            return "";
        }
        if (verb == "together") {
            const std::size_t cut = rest.find(';');
            stage_->ask(rest.substr(0, cut));
            stage_->ask(rest.substr(cut + 2));
            stage_->run_for(50ms);
            return "";
        }
        if (verb == "run") {
            stage_->run_for(Duration(std::chrono::seconds(std::stoul(rest))));
            return "";
        }
        if (verb == "workers") return workers();
        if (verb == "queries") return queries();
        if (verb == "held") return held();
        if (verb == "partitions") return partitions();
        if (verb == "prepares") {
            Unkindness& unkindness = stage_->world().unkindness;
            unkindness.prepare_terminal = rest == "fail" ? 1000 : 0;
            unkindness.prepare_transient = rest == "fail for now" ? 1000 : 0;
            return "";
        }
        return act_with_several(verb, rest);
    }

    std::string act_with_several(const std::string& verb, const std::string& rest) {
        if (verb == "coordinators") {
            scenario_.lease_ttl = 3s;
            scenario_.drifts.assign(std::stoul(rest), 0);
            set_up();
            return leader();
        }
        if (verb == "leader") return leader();
        if (verb == "wait") {
            const std::string before = leader();
            Duration waited{};
            for (; waited < 10s && (leader() == before || leader() == kNobody); waited += 10ms) {
                stage_->run_for(10ms);
            }
            return leader();
        }
        if (verb == "send") {
            stage_->ask_of(number_of(rest.substr(0, 1)), rest.substr(2));
            return "";
        }
        if (verb == "leases") {
            Unkindness& unkindness = stage_->world().unkindness;
            unkindness.lease_unknown = rest == "unknown" ? 1000 : 0;
            unkindness.lease_lost = rest == "lost" ? 1000 : 0;
            return "";
        }
        if (verb == "forwarding") {
            scenario_.forwards = true;
            return "";
        }
        if (verb == "lines") {
            Unkindness& unkindness = stage_->world().unkindness;
            unkindness.line_lost = rest == "lost" ? 1000 : 0;
            unkindness.line_refused = rest == "refused" ? 1000 : 0;
            return "";
        }
        return incident(verb, rest);
    }

    static std::size_t number_of(const std::string& coordinator) {
        return static_cast<std::size_t>(coordinator.at(0) - 'A');
    }
    [[nodiscard]] bool is_coordinator(const std::string& name) const {
        return name.size() == 1 && number_of(name) < scenario_.drifts.size();
    }

    std::string leader() {
        const SimCoordinator* leads = stage_->leader_checks().leader();
        if (leads == nullptr) return kNobody;
        return leads->name() + " leads, epoch " + to_string(*leads->acting()) + "\n";
    }

    std::string incident(const std::string& verb, const std::string& who) {
        if (verb == "mend" || verb == "restart") {
            const auto found = incidents_.find(who);
            if (found == incidents_.end()) return "nothing is wrong with " + who + "\n";
            stage_->end(found->second);
            incidents_.erase(found);
            return "";
        }
        if (verb == "store" || is_coordinator(who)) return incident_of_several(verb, who);
        const std::map<std::string, IncidentKind> kinds = {
            {"kill", IncidentKind::worker_killed},   {"cut", IncidentKind::cut_both},
            {"cut-to", IncidentKind::cut_to_worker}, {"cut-from", IncidentKind::cut_from_worker},
            {"pause", IncidentKind::worker_paused},
        };
        const auto kind = kinds.find(verb);
        if (kind == kinds.end()) return "unknown command " + verb + "\n";
        Incident made{.at = {}, .kind = kind->second, .worker = 0, .lasts = 24h};
        if (who == "coordinator") {
            made.kind = verb == "kill" ? IncidentKind::coordinator_killed
                                       : IncidentKind::coordinator_paused;
        } else {
            const auto& names = scenario_.workers;
            const auto found = std::find(names.begin(), names.end(), who + ":1");
            if (found == names.end()) return "unknown worker " + who + "\n";
            made.worker = static_cast<std::size_t>(found - names.begin());
        }
        stage_->begin(made);
        incidents_[who] = made;
        return "";
    }

    std::string incident_of_several(const std::string& verb, const std::string& who) {
        const std::map<std::string, IncidentKind> of = {
            {"kill", IncidentKind::coordinator_killed},
            {"pause", IncidentKind::coordinator_paused},
            {"leave", IncidentKind::coordinator_leaves},
            {"cut", IncidentKind::coordinator_cut_off},
            {"cut-store", IncidentKind::coordinator_storeless},
            {"store", IncidentKind::store_away},
        };
        const auto kind = of.find(verb);
        if (kind == of.end()) return "unknown command " + verb + "\n";
        const bool of_store = kind->second == IncidentKind::store_away;
        const Incident made{.at = {},
                            .kind = kind->second,
                            .worker = 0,
                            .lasts = 24h,
                            .coordinator = of_store ? 0 : number_of(who)};
        stage_->begin(made);
        incidents_[of_store ? "store" : who] = made;
        return "";
    }

    std::string queries() {
        std::string text;
        for (const Query& query : stage_->queries()) {
            text += query.name + " " + std::string(to_string(query.state)) + " run " +
                    std::to_string(query.run);
            if (!query.reason.text.empty()) text += ": " + query.reason.text;
            if (!query.lagging.empty()) text += " [" + join(query.lagging, ", ") + "]";
            text += "\n";
        }
        return text.empty() ? "none\n" : text;
    }

    std::string workers() {
        std::string text;
        for (const Worker& worker : stage_->catalog_workers()) {
            text += worker.name + " " + std::string(to_string(worker.state));
            if (!worker.reason.text.empty()) text += ": " + worker.reason.text;
            text += "\n";
        }
        return text;
    }

    std::string held() {
        std::string text;
        for (const auto& worker : stage_->workers()) {
            text += worker->name() + ":";
            for (const FragmentKey& key : worker->alive()) {
                text += " " + stage_->query_name(key.query) + "/" + std::to_string(key.run);
            }
            text += worker->is_up() ? "\n" : " (gone)\n";
        }
        return text;
    }

    std::string partitions() {
        std::string text;
        for (const auto& [key, ownership] : stage_->partition_checks().partitions()) {
            text += to_string(key) + " " + std::string(to_string(state_of(ownership)));
            if (const std::string* owner = owner_of(ownership)) text += " by " + *owner;
            for (const auto& worker : stage_->workers()) {
                if (worker->partitions().contains(key)) text += ", held by " + worker->name();
            }
            text += "\n";
        }
        return text.empty() ? "none\n" : text;
    }

    static constexpr const char* kNobody = "nobody leads\n";

    Scenario scenario_;
    std::unique_ptr<Stage> stage_;
    std::map<std::string, Incident> incidents_;
};

TEST(Scenes, GoAsTheTranscriptsSay) {
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(BATON_TESTDATA)) {
        paths.insert(entry.path().string());
    }
    EXPECT_FALSE(paths.empty());
    for (const std::string& path : paths) {
        Scene scene;
        testing::run_script(path,
                            [&](const std::string& command) { return scene.answer(command); });
    }
}

}  // namespace
}  // namespace baton::sim
