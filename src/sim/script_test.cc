// Scenes: what users, workers and the coordinator do to each other, told step by step.
//
//     ask STATEMENT | together STATEMENT; STATEMENT | run SECONDS | workers | queries | held
//     kill W | restart W | cut W | cut-to W | cut-from W | mend W     (W: EDGE, MID, HUB,
//     coordinator) prepares fail | prepares fail for now | prepares succeed
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
    Scene() : scenario_(small_cluster()), stage_(scenario_, false) {
        stage_.set_up();
        stage_.run_for(5s);
    }

    std::string answer(const std::string& command) {
        std::istringstream words(command);
        std::string verb;
        words >> verb;
        std::string rest;
        std::getline(words >> std::ws, rest);
        while (!rest.empty() && rest.back() == '\n') rest.pop_back();
        std::string text = act(verb, rest);
        for (const std::string& line : stage_.take_answers()) text += line + "\n";
        if (stage_.world().problem()) text += "NEVER: " + *stage_.world().problem() + "\n";
        return text.empty() ? "ok\n" : text;
    }

private:
    std::string act(const std::string& verb, const std::string& rest) {
        if (verb == "ask") {
            stage_.ask(rest);
            stage_.run_for(50ms);
            return "";
        }
        if (verb == "together") {
            const std::size_t cut = rest.find(';');
            stage_.ask(rest.substr(0, cut));
            stage_.ask(rest.substr(cut + 2));
            stage_.run_for(50ms);
            return "";
        }
        if (verb == "run") {
            stage_.run_for(Duration(std::chrono::seconds(std::stoul(rest))));
            return "";
        }
        if (verb == "workers") return workers();
        if (verb == "queries") return queries();
        if (verb == "held") return held();
        if (verb == "prepares") {
            Unkindness& unkindness = stage_.world().unkindness;
            unkindness.prepare_terminal = rest == "fail" ? 1000 : 0;
            unkindness.prepare_transient = rest == "fail for now" ? 1000 : 0;
            return "";
        }
        return incident(verb, rest);
    }

    std::string incident(const std::string& verb, const std::string& who) {
        if (verb == "mend" || verb == "restart") {
            const auto found = incidents_.find(who);
            if (found == incidents_.end()) return "nothing is wrong with " + who + "\n";
            stage_.end(found->second);
            incidents_.erase(found);
            return "";
        }
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
        stage_.begin(made);
        incidents_[who] = made;
        return "";
    }

    std::string queries() {
        std::string text;
        for (const Query& query : stage_.queries()) {
            text += query.name + " " + std::string(to_string(query.state)) + " run " +
                    std::to_string(query.run);
            if (!query.reason.empty()) text += ": " + query.reason;
            if (!query.lagging.empty()) text += " [" + join(query.lagging, ", ") + "]";
            text += "\n";
        }
        return text.empty() ? "none\n" : text;
    }

    std::string workers() {
        std::string text;
        for (const Worker& worker : stage_.catalog_workers()) {
            text += worker.name + " " + std::string(to_string(worker.state));
            if (!worker.reason.empty()) text += ": " + worker.reason;
            text += "\n";
        }
        return text;
    }

    std::string held() {
        std::string text;
        for (const auto& worker : stage_.workers()) {
            text += worker->name() + ":";
            for (const FragmentKey& key : worker->alive()) {
                text += " " + stage_.query_name(key.query) + "/" + std::to_string(key.run);
            }
            text += worker->is_up() ? "\n" : " (gone)\n";
        }
        return text;
    }

    const Scenario scenario_;
    Stage stage_;
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
