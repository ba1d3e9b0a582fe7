#include "doors/shell/completion.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"
#include "catalog/views/views.h"
#include "sql/vocabulary.h"

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

// The words that begin a statement which is carried out.
Words starts() {
    Words words;
    for (const sql::Form& form : sql::kForms) {
        if (form.effect != sql::Effect::none) words.emplace_back(form.opening.verb);
    }
    return words;
}

// Those that may stand behind its first one; none if they are not of a few.
Words objects_of(std::string_view verb) {
    Words words;
    for (const sql::Form& form : sql::kForms) {
        const auto& [first, object, in_tag] = form.opening;
        if (first == verb && !object.empty()) words.emplace_back(object);
    }
    return words;
}

Words words_of_show() {
    Words words;
    for (const sql::Shown& one : sql::kShown) words.emplace_back(one.words);
    return words;
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
    for (const kinds::View& view : views::views())
        names.push_back("BATON." + std::string(view.name));
    return names;
}

bool end_with(const Words& words, std::string_view last) {
    return (" " + join(words, " ")).ends_with(" " + std::string(last));
}

// The kind of what has a name and is named next.
const sql::Kind* named_kind(const Words& before) {
    const std::string& last = before.back();
    if (last == "INTO") return &sql::row_of(sql::EntityKind::sink);
    const bool makes = before.front() == "CREATE" && before.size() <= 3 && last != "FOR";
    if (makes) return nullptr;
    if (last == "FOR") return &sql::row_of(sql::EntityKind::logical_source);
    for (const sql::Kind& kind : sql::kKinds) {
        if (kind.known_by != sql::KnownBy::number && end_with(before, kind.words)) return &kind;
    }
    return nullptr;
}

// Everything that may stand after these words.
Words candidates(const Words& before, const NamesOf& names) {
    if (before.empty()) return starts();
    const std::string& last = before.back();
    if (last == "SHOW") return words_of_show();
    if (last == "WATCH") return {"SELECT", "SHOW"};
    if (before.size() == 1) {
        if (Words objects = objects_of(last); !objects.empty()) return objects;
    }
    if (last == "FROM" || last == "JOIN") {
        return views_and(names(sql::EntityKind::logical_source));
    }
    if (const sql::Kind* kind = named_kind(before)) return names(kind->kind);
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
