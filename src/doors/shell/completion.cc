#include "doors/shell/completion.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"
#include "catalog/views.h"

namespace baton::shell {

namespace {

using Words = std::vector<std::string>;

bool breaks(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '(' || c == ')' || c == ',' ||
           c == ';' || c == '=' || c == '<' || c == '>';
}

// The words before the last one, in upper case, from the beginning of the statement.
Words words_before(std::string_view text) {
    Words words;
    std::string word;
    for (const char c : text) {
        if (!breaks(c)) {
            word += c;
            continue;
        }
        if (!word.empty()) words.push_back(to_upper(word));
        word.clear();
        if (c == ';') words.clear();
    }
    return words;
}

const Words& starts() {
    static const Words kWords = {"BEGIN",   "COMMIT", "CREATE",   "DRAIN",  "DROP",
                                 "EXPLAIN", "RESUME", "ROLLBACK", "SELECT", "SHOW",
                                 "STOP",    "WAIT",   "WATCH"};
    return kWords;
}

const Words& others() {
    static const Words kWords = {
        "AND",   "AS",       "AVG",    "BETWEEN", "BY",    "COUNT",   "FALSE", "FOR",  "FORMAT",
        "FROM",  "GROUP",    "HAVING", "IN",      "INNER", "INTO",    "IS",    "JOIN", "JSON",
        "LEFT",  "LIMIT",    "MAX",    "MEDIAN",  "MIN",   "NOT",     "NULL",  "ON",   "OR",
        "RIGHT", "SELECT",   "SET",    "SINCE",   "SIZE",  "SLIDING", "STATE", "SUM",  "TIMEOUT",
        "TRUE",  "TUMBLING", "TYPE",   "UNION",   "WHERE", "WINDOW"};
    return kWords;
}

Words views_and(Words names) {
    for (const View& view : views()) names.push_back("BATON." + std::string(view.name));
    return names;
}

bool acts_on_lock(std::string_view verb) {
    constexpr std::array kVerbs = {"ACQUIRE", "RENEW", "RELEASE", "ENABLE", "DISABLE"};
    return std::find(kVerbs.begin(), kVerbs.end(), verb) != kVerbs.end();
}

// Everything that may stand after these words.
Words candidates(const Words& before, const NamesOf& names) {
    if (before.empty()) return starts();
    const std::string& last = before.back();
    const std::string& first = before.front();
    if (last == "SHOW") {
        return {"COUNTERS",   "FORMAT TYPES",    "FRAGMENTS",  "LINKS",
                "LOCKS",      "LOGICAL SOURCES", "PARTITIONS", "PHYSICAL SOURCES",
                "QUERIES",    "SINK TYPES",      "SINKS",      "SOURCE TYPES",
                "STATEMENTS", "TASK LISTS",      "VERSION",    "WORKERS"};
    }
    if (last == "CREATE" || (last == "DROP" && before.size() == 1)) {
        Words kinds = {"LOGICAL SOURCE", "PHYSICAL SOURCE", "QUERY", "SINK", "TASK LIST", "WORKER"};
        if (last == "DROP") kinds.emplace_back("LOCK");
        return kinds;
    }
    if (before.size() == 1 && acts_on_lock(last)) return {"LOCK"};
    if (last == "WATCH") return {"SELECT", "SHOW"};
    if (last == "STOP") return {"QUERY"};
    if (last == "DRAIN" || last == "RESUME") return {"WORKER"};
    if (last == "WAIT") return {"FOR QUERY"};
    const bool makes = first == "CREATE" && before.size() <= 3 && last != "FOR";
    if (!makes && last == "QUERY") return names(Named::queries);
    if (!makes && last == "WORKER") return names(Named::workers);
    if (last == "INTO" || (!makes && last == "SINK")) return names(Named::sinks);
    if (last == "FROM" || last == "JOIN") return views_and(names(Named::sources));
    if (!makes && (last == "SOURCE" || last == "FOR")) return names(Named::sources);
    return others();
}

std::string in_lower_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool begins_with(std::string_view word, std::string_view start) {
    return word.size() >= start.size() && equal_ignoring_case(word.substr(0, start.size()), start);
}

}  // namespace

std::size_t last_word(std::string_view text) {
    std::size_t start = text.size();
    while (start > 0 && !breaks(text[start - 1])) --start;
    return start;
}

std::vector<std::string> completions(std::string_view text, const NamesOf& names) {
    const std::size_t start = last_word(text);
    const std::string_view word = text.substr(start);
    const bool lower =
        std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; });
    std::set<std::string> found;
    for (const std::string& candidate : candidates(words_before(text.substr(0, start)), names)) {
        if (!begins_with(candidate, word)) continue;
        found.insert(lower && !candidate.starts_with('"') ? in_lower_case(candidate) : candidate);
    }
    return {found.begin(), found.end()};
}

}  // namespace baton::shell
