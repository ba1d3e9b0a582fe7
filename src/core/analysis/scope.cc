#include "core/analysis/scope.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace baton::analysis {

namespace {

std::vector<std::string> relations_of(const Scope& scope) {
    std::set<std::string> relations;
    for (const ScopeColumn& column : scope.columns) {
        if (column.relation) relations.insert(*column.relation);
    }
    return {relations.begin(), relations.end()};
}

Error unknown(const std::string& what, Position at, std::string hint) {
    return Error{.code = ErrorCode::unknown_field,
                 .message = "unknown " + what,
                 .at = at,
                 .hint = std::move(hint)};
}

Error unknown_relation(const Scope& scope, const std::string& name, Position at) {
    const std::vector<std::string> known = relations_of(scope);
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) {
        hint = known.empty() ? "these columns belong to none: write the name of the column alone"
                             : "here are " + enumerate(known);
    }
    return unknown("relation " + in_quotes(name), at, std::move(hint));
}

Error unknown_column(const Scope& scope, const sql::ColumnRef& name, Position at) {
    std::vector<std::string> known;
    const std::string& wanted = name.parts.back();
    for (const ScopeColumn& column : scope.columns) {
        const bool seen = name.parts.size() == 1 || column.relation == name.parts.front();
        if (seen) known.push_back(column.column.name);
    }
    std::string hint = did_you_mean(wanted, known);
    const bool bound = wanted == "START" || wanted == "END";
    if (bound && hint.empty()) hint = "START and END can be selected after a window";
    if (hint.empty()) hint = "the columns are " + enumerate(known);
    return unknown("column " + in_quotes(join(name.parts, ".")), at, std::move(hint));
}

Error ambiguous(const Scope& scope, const sql::ColumnRef& name,
                const std::vector<std::size_t>& found, Position at) {
    std::vector<std::string> candidates;
    candidates.reserve(found.size());
    for (const std::size_t index : found) candidates.push_back(full_name(scope.columns[index]));
    const bool told_apart =
        std::set<std::string>(candidates.begin(), candidates.end()).size() == candidates.size();
    return Error{.code = ErrorCode::unknown_field,
                 .message = "column " + in_quotes(join(name.parts, ".")) +
                            " is ambiguous: it can be " + enumerate(candidates),
                 .at = at,
                 .hint = told_apart ? "write one of these" : "give each relation a name with AS",
                 .related = candidates};
}

}  // namespace

Schema schema_of(const Scope& scope) {
    Schema schema;
    schema.columns.reserve(scope.columns.size());
    for (const ScopeColumn& column : scope.columns) schema.columns.push_back(column.column);
    return schema;
}

Result<std::size_t> find_column(const Scope& scope, const sql::ColumnRef& name, Position at) {
    const bool qualified = name.parts.size() > 1;
    bool relation_known = false;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < scope.columns.size(); ++i) {
        const ScopeColumn& column = scope.columns[i];
        if (qualified && column.relation != name.parts.front()) continue;
        relation_known = true;
        if (column.column.name != name.parts.back()) continue;
        if (column.of_window && !qualified) return i;
        found.push_back(i);
    }
    if (qualified && !relation_known) return unknown_relation(scope, name.parts.front(), at);
    if (found.empty()) return unknown_column(scope, name, at);
    if (found.size() > 1) return ambiguous(scope, name, found, at);
    return found.front();
}

Result<std::vector<std::size_t>> find_star(const Scope& scope, const sql::Star& star, Position at) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < scope.columns.size(); ++i) {
        if (!star.qualifier || scope.columns[i].relation == star.qualifier) found.push_back(i);
    }
    if (found.empty()) return unknown_relation(scope, star.qualifier.value_or("*"), at);
    return found;
}

std::string full_name(const ScopeColumn& column) {
    return column.relation ? *column.relation + "." + column.column.name : column.column.name;
}

void forget_window(Scope& scope) {
    for (ScopeColumn& column : scope.columns) column.of_window = false;
}

std::vector<ScopeColumn> window_columns() {
    const auto bound = [](const char* name) {
        return ScopeColumn{.column = {.name = name, .type = DataType::uint64, .nullable = false},
                           .of_window = true};
    };
    return {bound("START"), bound("END")};
}

}  // namespace baton::analysis
