// The statements of PostgreSQL about settings that a Runner answers by itself. The rest is in
// runner.cc.
#include <utility>

#include "base/text.h"
#include "doors/pg/server/runner.h"
#include "doors/pg/wire/sqlstate.h"
#include "sql/vocabulary.h"

namespace baton::pgserver {

using namespace pgwire::connection;  // NOLINT: its events and effects

void Runner::end_transaction(bool commit) {
    run_->next += 1;
    options_.tell(Noticed{{.severity = pgwire::Severity::warning,
                           .sqlstate = "25P01",
                           .message = "no transaction is open",
                           .code = ErrorCode::transaction_state}});
    complete(commit ? "COMMIT" : "ROLLBACK");
}

void Runner::set_parameter(const SetParameter& statement) {
    auto set = settings_.set(statement.name, statement.value);
    if (auto* refused = std::get_if<pgwire::Report>(&set)) return fail(std::move(*refused));
    const auto& changed = std::get<Settings::Changed>(set);
    if (changed.reported) {
        options_.tell(ParameterChanged{changed.reported->first, changed.reported->second});
    }
    if (!changed.warning.empty()) {
        options_.tell(Noticed{{.severity = pgwire::Severity::warning,
                               .sqlstate = "01000",
                               .message = changed.warning}});
    }
    complete(statement.tag);
}

void Runner::forget(const Forget& statement) {
    if (statement.parameters) settings_.reset();
    complete(statement.tag);
}

void Runner::show_parameter(const ShowParameter& shown, const Statement& statement) {
    if (shown.name == "all") {
        std::vector<SqlRow> rows;
        for (auto& [name, value] : settings_.all()) rows.push_back({name, value, std::string()});
        return give_rows({{"name"}, {"setting"}, {"description"}}, std::move(rows), "SHOW",
                         statement.copy);
    }
    const auto value = settings_.value(shown.name);
    if (!value) {
        const auto tokens = pg::tokens_of(statement.text);
        const std::size_t at = statement.at + (tokens.size() > 1 ? tokens[1].at : 0);
        return fail({.sqlstate = "42704",
                     .message = "unknown parameter " + in_quotes(shown.name),
                     .hint = "SHOW also lists " + sql::all_shown(),
                     .position = pgwire::character_at(run_->text, at),
                     .code = ErrorCode::syntax});
    }
    give_rows({{shown.name}}, {{*value}}, "SHOW", statement.copy);
}

}  // namespace baton::pgserver
