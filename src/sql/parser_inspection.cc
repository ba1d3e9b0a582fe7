// SHOW, EXPLAIN and WATCH: statements that change nothing.
#include <algorithm>

#include "sql/grammar.h"

namespace baton::sql {

Result<Grammar::Node> Grammar::show_statement() {
    TRY_ASSIGN(node, show());
    return Node(std::move(node));
}

// Behind the word SHOW.
Result<Show> Grammar::show() {
    Show node;
    TRY_ASSIGN(what, show_what());
    node.what = what;
    if (what == ShowWhat::physical_sources && tokens_.accept("FOR")) {
        TRY_ASSIGN(logical, tokens_.name_or_string("the name of a logical source"));
        node.for_name = std::move(logical);
    }
    if (what == ShowWhat::segments && tokens_.accept("FOR")) {
        TRY_ASSIGN(table, table_name());
        node.for_name = std::move(table);
    }
    if (tokens_.accept("WHERE")) {
        TRY_ASSIGN(where, expression());
        node.where = std::move(where.value);
    }
    TRY_ASSIGN(format, output_format());
    node.format = format;
    return node;
}

Result<ShowWhat> Grammar::show_what() {
    TRY_ASSIGN(row, row_among(kShown));
    if (row != nullptr) return row->what;
    Error error = tokens_.unexpected();
    if (tokens_.sees("SOURCES")) error.hint = "write LOGICAL SOURCES or PHYSICAL SOURCES";
    return error;
}

Result<std::optional<OutputFormat>> Grammar::output_format() {
    if (!tokens_.accept("FORMAT")) return std::optional<OutputFormat>();
    if (tokens_.accept("TEXT")) return std::optional(OutputFormat::text);
    if (tokens_.accept("JSON")) return std::optional(OutputFormat::json);
    return tokens_.unexpected();
}

Result<Grammar::Node> Grammar::explain() {
    Explain node;
    const bool query_follows = tokens_.sees("SELECT", 1) || tokens_.sees(Symbol::open, 1);
    if (tokens_.at(Symbol::open) && !query_follows) {
        TRY_ASSIGN(levels, explain_levels());
        node.levels = std::move(levels);
    }
    TRY_ASSIGN(format, output_format());
    node.format = format;
    if (tokens_.sees("CREATE")) {
        return tokens_.not_supported("EXPLAIN of CREATE", "explain the SELECT alone");
    }
    TRY(query(node.query));
    if (!tokens_.accept("INTO")) {
        if (tokens_.sees("SET")) return tokens_.refused("SET stands after INTO", "add INTO sink");
        return Node(std::move(node));
    }
    TRY_ASSIGN(sink, sink_target());
    node.sink = std::move(sink);
    TRY_ASSIGN(settings, settings_clause());
    node.settings = std::move(settings);
    return Node(std::move(node));
}

Result<std::vector<ExplainLevel>> Grammar::explain_levels() {
    tokens_.take();
    std::vector<ExplainLevel> levels;
    do {
        const Position at = tokens_.peek().at;
        ExplainLevel level = ExplainLevel::logical;
        if (tokens_.accept("LOGICAL")) {
            level = ExplainLevel::logical;
        } else if (tokens_.accept("OPTIMIZED")) {
            level = ExplainLevel::optimized;
        } else if (tokens_.accept("DISTRIBUTED")) {
            level = ExplainLevel::distributed;
        } else {
            return tokens_.unexpected();
        }
        if (std::find(levels.begin(), levels.end(), level) != levels.end()) {
            Error error = tokens_.refused("the level is named twice", "name each level once");
            error.at = at;
            return error;
        }
        levels.push_back(level);
    } while (tokens_.accept(Symbol::comma));
    TRY(tokens_.expect(Symbol::close));
    return levels;
}

Result<Grammar::Node> Grammar::watch() {
    Watch node;
    if (tokens_.accept("SHOW")) {
        TRY_ASSIGN(shown, show());
        node.source = std::move(shown);
    } else {
        TRY_ASSIGN(tree, watched_query());
        node.source = std::move(tree);
    }
    if (tokens_.accept("SINCE")) {
        TRY(tokens_.expect("REVISION"));
        if (tokens_.peek().kind != TokenKind::integer) {
            tokens_.note("a whole number");
            return tokens_.unexpected();
        }
        node.since = tokens_.take().integer;
    }
    return Node(std::move(node));
}

// SELECT cols FROM view [WHERE p]
Result<Query> Grammar::watched_query() {
    if (!tokens_.at("SELECT")) return tokens_.unexpected();
    Query tree;
    TRY(query(tree));
    if (tokens_.sees("INTO")) {
        return tokens_.refused("a watched query has no INTO", "leave out WATCH, or INTO");
    }
    const auto refuse = [&](std::string_view what) {
        Error error = tokens_.not_supported("WATCH of " + std::string(what),
                                            "write SELECT .. FROM baton.view [WHERE ..]");
        error.at = tree.at;
        return error;
    };
    const auto* select = std::get_if<Select>(&tree.node);
    if (select == nullptr) return refuse("a UNION");
    if (std::holds_alternative<Join>(select->from.node)) return refuse("a join");
    if (!std::holds_alternative<NamedRelation>(select->from.node)) {
        return refuse("anything but a view");
    }
    if (!select->group_by.empty()) return refuse("a GROUP BY");
    if (select->window) return refuse("a WINDOW");
    if (select->having) return refuse("a HAVING");
    return tree;
}

}  // namespace baton::sql
