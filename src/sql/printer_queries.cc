// Queries, sinks, settings and schemas.
#include "base/overload.h"
#include "sql/printing.h"

namespace baton::sql {

namespace {

std::string_view text_of(JoinKind kind) {
    switch (kind) {
        case JoinKind::inner:
            return " JOIN ";
        case JoinKind::left:
            return " LEFT JOIN ";
        case JoinKind::right:
            return " RIGHT JOIN ";
        case JoinKind::full:
            return " FULL JOIN ";
    }
    return "?";
}

std::string_view text_of(TimeUnit unit) {
    switch (unit) {
        case TimeUnit::millisecond:
            return " MS";
        case TimeUnit::second:
            return " SEC";
        case TimeUnit::minute:
            return " MIN";
        case TimeUnit::hour:
            return " HOUR";
        case TimeUnit::day:
            return " DAY";
    }
    return "?";
}

}  // namespace

void Printing::names(const std::vector<std::string>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) put(".");
        name(parts[i]);
    }
}

void Printing::alias(const std::optional<std::string>& alias) {
    if (!alias) return;
    put(" AS ");
    name(*alias);
}

void Printing::query(const Query& query) {
    if (const auto* only = std::get_if<Select>(&query.node)) {
        select(*only);
        return;
    }
    const auto& branches = std::get<Union>(query.node).branches;
    for (std::size_t i = 0; i < branches.size(); ++i) {
        if (i > 0) put(" UNION ");
        this->query(branches[i]);
    }
}

void Printing::select(const Select& select) {
    put("SELECT ");
    for (std::size_t i = 0; i < select.items.size(); ++i) {
        if (i > 0) put(", ");
        expression(select.items[i].expr);
        alias(select.items[i].alias);
    }
    put(" FROM ");
    relation(select.from);
    if (select.where) {
        put(" WHERE ");
        expression(*select.where);
    }
    if (!select.group_by.empty()) {
        put(" GROUP BY ");
        expressions(select.group_by);
    }
    if (select.window) window(*select.window);
    if (select.having) {
        put(" HAVING ");
        expression(*select.having);
    }
}

void Printing::relation(const Relation& relation) {
    std::visit(Overload{
                   [&](const NamedRelation& node) {
                       names(node.parts);
                       alias(node.alias);
                   },
                   [&](const Subquery& node) {
                       put("(");
                       query(node.query.front());
                       put(")");
                       alias(node.alias);
                   },
                   [&](const InlineSource& node) {
                       name(node.type);
                       put("(");
                       settings(node.settings, node.type);
                       put(")");
                       alias(node.alias);
                   },
                   [&](const Join& node) { join(node); },
               },
               relation.node);
}

void Printing::join(const Join& join) {
    relation(join.sides[0]);
    put(text_of(join.kind));
    relation(join.sides[1]);
    put(" ON ");
    expression(join.on);
    window(join.window);
}

void Printing::window(const Window& window) {
    put(window.advance ? " WINDOW SLIDING(" : " WINDOW TUMBLING(");
    for (const ColumnRef& timestamp : window.timestamps) {
        names(timestamp.parts);
        put(", ");
    }
    put("SIZE ");
    span(window.size);
    if (window.advance) {
        put(", ADVANCE BY ");
        span(*window.advance);
    }
    put(")");
}

void Printing::span(const TimeSpan& span) {
    put(std::to_string(span.count));
    put(text_of(span.unit));
}

void Printing::sink(const SinkTarget& target) {
    if (std::holds_alternative<ToClient>(target.node)) return;
    put(" INTO ");
    if (const auto* named = std::get_if<std::string>(&target.node)) {
        name(*named);
        return;
    }
    const auto& node = std::get<InlineSink>(target.node);
    name(node.type);
    put("(");
    settings(node.settings, node.type);
    put(")");
}

void Printing::settings_clause(const std::vector<Setting>& settings, const std::string& type) {
    if (settings.empty()) return;
    put(" SET (");
    this->settings(settings, type);
    put(")");
}

void Printing::settings(const std::vector<Setting>& settings, const std::string& type) {
    for (std::size_t i = 0; i < settings.size(); ++i) {
        if (i > 0) put(", ");
        setting(settings[i], type);
    }
}

void Printing::setting(const Setting& setting, const std::string& type) {
    if (is_secret_ && is_secret_(setting, type)) {
        put("'***'");
    } else if (const auto* value = std::get_if<Literal>(&setting.value)) {
        literal(*value);
    } else {
        put("SCHEMA");
        schema(std::get<Schema>(setting.value));
    }
    put(" AS ");
    names(setting.key);
}

void Printing::schema(const Schema& schema) {
    put("(");
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
        const Column& column = schema.columns[i];
        if (i > 0) put(", ");
        name(column.name);
        put(" ");
        put(to_string(column.type));
        if (!column.nullable) put(" NOT NULL");
    }
    put(")");
}

}  // namespace baton::sql
