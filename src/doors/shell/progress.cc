#include "doors/shell/progress.h"

#include <algorithm>

namespace baton::shell {

namespace {

std::string cell(const views::Table& table, std::size_t row, std::size_t column) {
    return baton::kinds::shown(table.rows[row][column], table.columns[column].type);
}

// ["w1","w2"] as a person writes it.
std::string listed(std::string json) {
    std::erase_if(json, [](char c) { return c == '[' || c == ']' || c == '"'; });
    for (std::size_t i = 0; (i = json.find(',', i)) != std::string::npos; i += 2) {
        json.replace(i, 1, ", ");
    }
    return json;
}

std::string fragments_of(Counterpart& counterpart, const std::string& id, const std::string& run) {
    const auto fragments = counterpart.look(
        "SELECT STATE FROM baton.fragments WHERE QUERY = " + id + " AND RUN = " + run);
    if (!fragments || fragments->rows.empty()) return {};
    std::size_t running = 0;
    for (std::size_t i = 0; i < fragments->rows.size(); ++i) {
        running += cell(*fragments, i, 0) == "RUNNING" ? 1 : 0;
    }
    return ", " + std::to_string(running) + " of " + std::to_string(fragments->rows.size()) +
           (fragments->rows.size() == 1 ? " fragment runs" : " fragments run");
}

}  // namespace

std::string progress_of(Counterpart& counterpart) {
    const auto queries = counterpart.look(
        "SELECT ID, RUN, NAME, STATE, LAGGING, REASON FROM baton.queries WHERE STATE IN "
        "('PENDING', 'DEPLOYING', 'STOPPING')");
    if (!queries || queries->rows.empty()) return {};
    const std::size_t last = queries->rows.size() - 1;  // the newest is most likely ours
    std::string text = cell(*queries, last, 2) + ": " + cell(*queries, last, 3);
    text += fragments_of(counterpart, cell(*queries, last, 0), cell(*queries, last, 1));
    if (const std::string who = listed(cell(*queries, last, 4)); !who.empty()) {
        text += ", waiting for " + who;
    }
    if (const std::string why = cell(*queries, last, 5); !why.empty()) text += " (" + why + ")";
    if (last == 1) text += "; 1 more query";
    if (last > 1) text += "; " + std::to_string(last) + " more queries";
    return text;
}

}  // namespace baton::shell
