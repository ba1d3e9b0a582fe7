#include "catalog/kinds/kinds.h"
#include "catalog/kinds/reason_columns.h"

namespace baton::kinds {

std::string occupies_slots(std::string_view state_column) {
    // Those that do, not those that do not: an index can seek them.
    std::string list;
    for (const auto& [state, name] : StateNames<FragmentState>::kNames) {
        if (has_ended(state)) continue;
        if (!list.empty()) list += ",";
        list += "'" + std::string(name) + "'";
    }
    return std::string(state_column) + " IN (" + list + ")";
}

namespace {

// NULL as long as nothing is known.
KindColumn<Fragment> column_of_counter(const FragmentCounter& counter) {
    return {.name = to_lower(counter.name),
            .definition = "{int}",
            .value = [member = counter.member](const Fragment& f) -> SqlValue {
                return f.counts ? value_of((*f.counts).*member) : SqlValue();
            },
            .read = [member = counter.member](Fragment& f, const SqlValue& value) -> Result<Done> {
                if (std::holds_alternative<std::monostate>(value)) return Done{};
                if (!f.counts) f.counts.emplace();
                return read_value(value, (*f.counts).*member);
            },
            .changes = true};
}

std::vector<KindColumn<Fragment>> columns_of_fragments() {
    using enum ViewType;
    std::vector<KindColumn<Fragment>> columns = {
        column<&Fragment::id>("id", "{int} PRIMARY KEY")
            .shown("ID", integer, "its number, never used again")
            .in_brief(),
        column<&Fragment::query>("query", "{int} NOT NULL REFERENCES query (id) ON DELETE RESTRICT")
            .shown("QUERY", integer, "the query it is part of"),
        column<&Fragment::worker>("worker",
                                  "{key} NOT NULL REFERENCES worker (name) ON DELETE RESTRICT")
            .shown("WORKER", text, "where it runs")
            .in_brief(),
        column<&Fragment::run>("run", "{int} NOT NULL CHECK (run >= 1)")
            .shown("RUN", integer, "the run of the query it belongs to")
            .in_brief()
            .changing(),
        column<&Fragment::slots>("slots", "{int} NOT NULL CHECK (slots >= 0)")
            .shown("SLOTS", integer, "how many slots of the worker it takes")
            .in_brief(),
        column<&Fragment::stage>("stage", "{int} NOT NULL CHECK (stage >= 0)")
            .shown("STAGE", integer, "how many workers lie between it and the sink's"),
        column<&Fragment::plan>("plan", "{text} NOT NULL"),
        column<&Fragment::state>("state", "{key} NOT NULL " + one_of<FragmentState>("state"))
            .shown("STATE", text,
                   "PENDING, REGISTERED, STARTED, RUNNING, STOPPED, "
                   "TERMINATED or FAILED")
            .in_brief()
            .changing(),
        reason_text<Fragment>(),
        column<&Fragment::since>("since", "{key} NOT NULL")
            .shown("SINCE", time, "when it came into this state")
            .in_brief()
            .changing(),
        column<&Fragment::revision>("revision", "{int} NOT NULL")
            .shown("REVISION", integer, "of its last change")
            .changing()};
    for (const FragmentCounter& counter : kCounters) columns.push_back(column_of_counter(counter));
    columns.push_back(
        column<&Fragment::fingerprint>("fingerprint", "{key} NOT NULL DEFAULT ''").since(3));
    columns.push_back(reason_code<Fragment>());
    columns.push_back(reason_who<Fragment>());
    columns.push_back(reason_error<Fragment>());
    return columns;
}

}  // namespace

template <>
const KindTable<Fragment>& table_of() {
    using enum ViewType;
    static const KindTable<Fragment> kTable({
        .entity = Entity::fragment,
        .table = "fragment",
        .storage = "{table}",
        .columns = columns_of_fragments(),
        .constraints = {"UNIQUE (query, worker)"},
        .indexes = "CREATE INDEX fragment_worker ON fragment (worker, state, slots);\n",
        .view = "FRAGMENTS",
        .alias = "f",
        .joined = "JOIN query q ON q.id = f.query",
        .derived = {{.name = "QUERY_NAME",
                     .type = text,
                     .meaning = "the name of the query",
                     .expression = "q.name",
                     .brief = true}},
        .meaning = "the parts of queries on workers",
    });
    return kTable;
}

}  // namespace baton::kinds
