#include "properties/follower.h"

#include "properties/world.h"

namespace baton::properties {

namespace {

std::string line_of(const SqlRow& row) {
    std::string line;
    for (const SqlValue& value : row) {
        const bool null = std::holds_alternative<std::monostate>(value);
        line += (line.empty() ? "" : " | ") + (null ? "NULL" : shown(value, kinds::ViewType::text));
    }
    return line;
}

}  // namespace

views::ViewQuery own_columns_of(const kinds::View& view, const std::optional<sql::Expr>& where) {
    sql::Select select;
    for (const kinds::ViewColumn& column : view.columns) {
        if (column.derived) continue;
        sql::SelectItem item;
        item.expr.node = sql::ColumnRef{{std::string(column.name)}};
        select.items.push_back(std::move(item));
    }
    select.from.node = sql::NamedRelation{.parts = {"BATON", std::string(view.name)}, .alias = {}};
    select.where = where;
    return require_value(views::ViewQuery::from(sql::Query{.node = std::move(select), .at = {}}));
}

std::set<std::string> lines_of(const views::Table& table) {
    std::set<std::string> lines;
    for (const SqlRow& row : table.rows) lines.insert(line_of(row));
    return lines;
}

Follower::Follower(coordinator::CoordinatorRuntime& coordinator, views::ViewQuery query)
    : coordinator_(coordinator), query_(std::move(query)) {
    watch_ = require_value(coordinator_.watch(query_));
    catch_up();
}

std::unique_ptr<Follower> Follower::resumed() const {
    auto other = std::make_unique<Follower>(coordinator_, query_);
    other->rows_ = rows_;
    other->revision_ = revision_;
    other->watch_ = require_value(coordinator_.watch(query_, watch_->revision()));
    return other;
}

void Follower::take(const coordinator::WatchEvent& event) {
    if (const auto* snapshot = std::get_if<coordinator::WatchSnapshot>(&event)) {
        rows_.clear();
        for (const SqlRow& row : snapshot->table.rows)
            rows_[kinds::key_of(query_.view(), row)] = row;
        revision_ = snapshot->revision;
        return;
    }
    const auto& change = std::get<coordinator::WatchChange>(event);
    const std::string what = std::string(to_string(change.op)) + " of " +
                             std::string(query_.view().name) + " " + change.key + " at revision " +
                             to_string(change.revision);
    require(change.revision >= revision_, what + " goes back");
    require(kinds::key_of(query_.view(), change.row) == change.key, what + " carries another row");
    const bool known = rows_.contains(change.key);
    require(known == (change.op != ChangeOp::create), what + " does not fit to what was told");
    if (change.op == ChangeOp::drop) {
        require(rows_[change.key] == change.row, what + " does not show the row as it was");
        rows_.erase(change.key);
    } else {
        rows_[change.key] = change.row;
    }
    revision_ = change.revision;
}

void Follower::catch_up(std::size_t most) {
    for (;;) {
        const auto events = require_value(watch_->poll(most));
        if (events.empty()) return;
        for (const coordinator::WatchEvent& event : events) take(event);
    }
}

void Follower::compare() {
    const coordinator::Snapshot now = require_value(coordinator_.snapshot());
    std::set<std::string> known;
    for (const auto& [key, row] : rows_) known.insert(line_of(row));
    require_same_lines(lines_of(require_value(query_.run(now.sql()))), known,
                       "what a watch of " + std::string(query_.view().name) + " tells");
    require(watch_->revision() == now.revision(), "a watch stands at another revision");
}

}  // namespace baton::properties
