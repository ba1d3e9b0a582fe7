// query_life prints docs/QUERY_LIFE.md from the rules of core/queries/lifecycle, so that the manual
// cannot drift.
//
//     build/dev/query_life > docs/QUERY_LIFE.md
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/queries/lifecycle_steps.h"

namespace {

using baton::FragmentState;
using baton::queries::lifecycle::Asker;
using baton::queries::lifecycle::Ending;
using baton::queries::lifecycle::Life;
using baton::queries::lifecycle::Step;

constexpr std::string_view kOpening = R"(# The life of a query

Printed from the rules in `src/core/queries/lifecycle.h`, which the catalog, the deployment of
queries, waits and row feeds share. Every step below was found by trying it.

Clients create, stop and drop queries. The leading coordinator's controller deploys them: it marks
their states, fails and restarts them, and releases what was dropped. Workers report how fragments
are; a worker that is lost or restarted interrupts the queries that run on it.

A life is a state, and what the query is to be if that is not RUNNING; a row that names a state
alone is about all lives with it. `gone` means that the row of the query is removed and its name is
free.

)";

constexpr std::string_view kTables = R"(
## Requests

A dash means that nothing happens, `no` that the request is refused with error 2042. Where a step
depends on the fragments, it says on which: `ended` if all of them have ended, `running` if each of
them is RUNNING on a worker that is ACTIVE, or TERMINATED.

)";

constexpr std::string_view kFragments = R"(
## Fragments

Workers report any state, in any order: a report may be lost, and a fragment that was given up may
turn out to live. One that comes back after it had ended needs its slots again, and is refused with
error 2300 if others have taken them.

)";

// The states of the fragment for which the steps end in the same way: "", "if ended", ..
std::string condition_of(const std::set<FragmentState>& states, std::size_t of_all) {
    if (states.size() == of_all) return "";
    bool ended = true;
    bool fine = true;
    for (const FragmentState state : states) {
        ended = ended && has_ended(state);
        fine = fine && (state == FragmentState::running || state == FragmentState::terminated);
    }
    if (ended) return " if ended";
    return fine ? " if running" : " otherwise";
}

std::string outcome_of(const Step& step) {
    switch (step.ending) {
        case Ending::refused:
            return "no";
        case Ending::unchanged:
            return "-";
        case Ending::gone:
            return "gone";
        case Ending::moved:
            break;
    }
    return step.to == step.from && !step.next_run
               ? "-"
               : to_string(step.to) + (step.next_run ? " (next run)" : "");
}

// What an event does in a life, whatever its stop mode is.
std::string cell(const std::vector<Step>& steps, const Life& life, std::string_view event) {
    std::map<std::string, std::set<FragmentState>> outcomes;
    std::set<FragmentState> all;
    for (const Step& step : steps) {
        if (step.from != life || !step.event.starts_with(event)) continue;
        outcomes[outcome_of(step)].insert(step.part);
        all.insert(step.part);
    }
    std::string text;
    for (const auto& [outcome, states] : outcomes) {
        if (outcome == "no" && outcomes.size() > 1) continue;  // otherwise
        text += (text.empty() ? "" : "; ") + outcome + condition_of(states, all.size());
    }
    return text.empty() ? "-" : text;
}

std::string in_full(const Life& life) {
    return std::string(to_string(life.state)) + ", to be " + std::string(to_string(life.desired));
}

// The lives that one row is about: a state alone means it whatever the query is to be.
std::string label_of(const std::vector<Life>& row, const std::set<Life>& lives) {
    std::string text;
    for (const auto& [state, name] : baton::StateNames<baton::QueryState>::kNames) {
        const auto has_state = [&, wanted = state](const Life& life) {
            return life.state == wanted;
        };
        const auto here = std::count_if(row.begin(), row.end(), has_state);
        if (here == std::count_if(lives.begin(), lives.end(), has_state)) {
            text += (text.empty() ? "" : "; ") + std::string(name);
            continue;
        }
        for (const Life& life : row) {
            if (life.state == state) text += (text.empty() ? "" : "; ") + in_full(life);
        }
    }
    return text;
}

void print_table(const std::vector<Step>& steps, const std::set<Life>& lives,
                 const std::vector<std::pair<std::string, std::string>>& columns) {
    std::string rule = "|---|";
    std::string text = "| life |";
    for (const auto& [event, title] : columns) {
        text += " " + title + " |";
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    std::vector<std::pair<std::string, std::vector<Life>>> rows;  // with the same cells
    for (const Life& life : lives) {
        std::string cells;
        for (const auto& [event, title] : columns) cells += " " + cell(steps, life, event) + " |";
        const auto known = std::find_if(rows.begin(), rows.end(),
                                        [&](const auto& row) { return row.first == cells; });
        if (known != rows.end()) {
            known->second.push_back(life);
        } else {
            rows.push_back({cells, {life}});
        }
    }
    for (const auto& [cells, row] : rows) {
        text += "| " + label_of(row, lives) + " |" + cells + "\n";
    }
    std::fputs(text.c_str(), stdout);
}

std::string name_of(const Step& step) {
    const std::size_t mode = step.event.find(" QUERY");
    return mode == std::string::npos ? step.event : step.event.substr(0, mode);
}

void print_diagram(const std::vector<Step>& steps) {
    std::map<std::pair<std::string, std::string>, std::set<std::string>> ways;
    for (const Step& step : steps) {
        const std::string from(to_string(step.from.state));
        const std::string to(to_string(step.to.state));
        if (step.ending == Ending::gone) ways[{from, "[*]"}].insert(name_of(step));
        if (step.ending == Ending::moved && (from != to || step.next_run)) {
            ways[{from, to}].insert(name_of(step));
        }
    }
    std::string text = "```mermaid\nstateDiagram-v2\n    [*] --> PENDING: CREATE\n";
    for (const auto& [way, events] : ways) {
        std::string label;
        bool fragments = false;
        for (const std::string& event : events) {
            const bool of_fragment = event.starts_with("fragment ");
            if (of_fragment && std::exchange(fragments, true)) continue;
            label += (label.empty() ? "" : ", ") + (of_fragment ? "fragment lost" : event);
        }
        text += "    " + way.first + " --> " + way.second + ": " + label + "\n";
    }
    std::fputs((text + "```\n").c_str(), stdout);
}

}  // namespace

int main() {
    const std::vector<Step> steps = baton::queries::lifecycle::all_steps();
    std::set<Life> lives;
    for (const Step& step : steps) lives.insert(step.from);
    std::fputs(kOpening.data(), stdout);
    print_diagram(steps);
    std::fputs(kTables.data(), stdout);
    print_table(steps, lives,
                {{"STOP QUERY", "STOP QUERY"},
                 {"DROP QUERY", "DROP QUERY"},
                 {"fail", "fail"},
                 {"restart", "restart"},
                 {"release", "release"},
                 {"worker lost", "worker lost"}});
    std::fputs("\n## States that the controller marks\n\n", stdout);
    std::vector<std::pair<std::string, std::string>> marks;
    for (const auto& [state, name] : baton::StateNames<baton::QueryState>::kNames) {
        marks.emplace_back("mark " + std::string(name), name);
    }
    print_table(steps, lives, marks);
    std::fputs(kFragments.data(), stdout);
    std::vector<std::pair<std::string, std::string>> reports;
    for (const auto& [state, name] : baton::StateNames<FragmentState>::kNames) {
        reports.emplace_back("fragment " + std::string(name), name);
    }
    print_table(steps, lives, reports);
    return 0;
}
