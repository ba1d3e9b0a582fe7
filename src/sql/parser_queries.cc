// Queries: SELECT, UNION, relations, joins, windows and sinks.
#include <algorithm>
#include <array>
#include <limits>

#include "sql/grammar.h"

namespace baton::sql {

namespace {

struct Unit {
    std::string_view word;
    TimeUnit unit;
};

constexpr std::array kUnits = {
    Unit{"MS", TimeUnit::millisecond}, Unit{"SEC", TimeUnit::second},
    Unit{"SECS", TimeUnit::second},    Unit{"SECOND", TimeUnit::second},
    Unit{"SECONDS", TimeUnit::second}, Unit{"MIN", TimeUnit::minute},
    Unit{"MINS", TimeUnit::minute},    Unit{"MINUTE", TimeUnit::minute},
    Unit{"MINUTES", TimeUnit::minute}, Unit{"HOUR", TimeUnit::hour},
    Unit{"HOURS", TimeUnit::hour},     Unit{"DAY", TimeUnit::day},
    Unit{"DAYS", TimeUnit::day},
};

std::vector<std::string> unit_words() {
    std::vector<std::string> words;
    words.reserve(kUnits.size());
    for (const Unit& unit : kUnits) words.emplace_back(unit.word);
    return words;
}

std::uint64_t milliseconds_of(TimeUnit unit) {
    switch (unit) {
        case TimeUnit::millisecond:
            return 1;
        case TimeUnit::second:
            return 1'000;
        case TimeUnit::minute:
            return 60'000;
        case TimeUnit::hour:
            return 3'600'000;
        case TimeUnit::day:
            return 86'400'000;
    }
    return 1;
}

constexpr std::uint64_t kMillisecondsMax = std::numeric_limits<std::int64_t>::max() / 1000;

constexpr std::array<std::string_view, 4> kClauseWords = {"WHERE", "GROUP", "WINDOW", "HAVING"};

}  // namespace

Result<Grammar::Node> Grammar::query_statement() {
    TRY_ASSIGN(tree, query());
    if (!tokens_.accept("INTO")) {
        if (tokens_.sees("SET")) return tokens_.refused("SET stands after INTO", "add INTO sink");
        return Node(SelectOnce{.query = std::move(tree.value)});
    }
    TRY_ASSIGN(sink, sink_target());
    TRY_ASSIGN(settings, settings_clause());
    return Node(CreateQuery{
        .settings = std::move(settings), .query = std::move(tree.value), .sink = std::move(sink)});
}

Result<Tall<Query>> Grammar::query() {
    const Level level(depth_);
    TRY(within_depth(1));
    const Position at = tokens_.peek().at;
    TRY_ASSIGN(first, query_term());
    if (!tokens_.at("UNION")) return first;
    Union whole;
    std::size_t height = 0;
    // Unions within parentheses are taken apart: a bag has no order of adding.
    const auto append = [&](Tall<Query>&& branch) {
        if (auto* inner = std::get_if<Union>(&branch.value.node)) {
            height = std::max(height, branch.height);
            for (Query& query : inner->branches) whole.branches.push_back(std::move(query));
        } else {
            height = std::max(height, branch.height + 1);
            whole.branches.push_back(std::move(branch.value));
        }
    };
    append(std::move(first));
    while (tokens_.accept("UNION")) {
        if (tokens_.sees("ALL")) {
            return tokens_.not_supported("UNION ALL",
                                         "write UNION, which keeps duplicates by itself");
        }
        if (tokens_.sees("DISTINCT")) {
            return tokens_.not_supported("UNION DISTINCT", "UNION keeps duplicates");
        }
        TRY_ASSIGN(next, query_term());
        append(std::move(next));
    }
    TRY(within_depth(height));
    return Tall<Query>{.value = Query{.node = std::move(whole), .at = at}, .height = height};
}

Result<Tall<Query>> Grammar::query_term() {
    if (tokens_.at("SELECT")) return select();
    if (!tokens_.accept(Symbol::open)) return tokens_.unexpected();
    TRY_ASSIGN(inner, query());
    if (tokens_.sees("INTO")) return refuse_into();
    TRY(tokens_.expect(Symbol::close));
    return inner;
}

Error Grammar::refuse_into() {
    return tokens_.refused("INTO stands once, at the end of the whole query", "move it there");
}

Result<Tall<Query>> Grammar::select() {
    const Position at = tokens_.take().at;
    TRY(refuse_quantifier("SELECT"));
    Select select;
    std::size_t height = 0;
    do {
        TRY_ASSIGN(item, select_item());
        height = std::max(height, item.height);
        select.items.push_back(std::move(item.value));
    } while (tokens_.accept(Symbol::comma));
    TRY(tokens_.expect("FROM"));
    TRY_ASSIGN(from, relation());
    height = std::max(height, from.height);
    select.from = std::move(from.value);
    TRY(select_tail(select, height));
    TRY(within_depth(height + 1));
    return Tall<Query>{.value = Query{.node = std::move(select), .at = at}, .height = height + 1};
}

// DISTINCT and ALL before the items, unless it is a column of that name.
Result<Done> Grammar::refuse_quantifier(std::string_view after) {
    if (!tokens_.sees("DISTINCT") && !tokens_.sees("ALL")) return Done{};
    const bool column = tokens_.sees(Symbol::comma, 1) || tokens_.sees(Symbol::dot, 1) ||
                        tokens_.sees("FROM", 1) || tokens_.sees("AS", 1);
    if (column) return Done{};
    const bool distinct = tokens_.sees("DISTINCT");
    return tokens_.not_supported(std::string(after) + (distinct ? " DISTINCT" : " ALL"),
                                 distinct ? "group by the columns over a window" : "leave out ALL");
}

Result<Tall<SelectItem>> Grammar::select_item() {
    const Position at = tokens_.peek().at;
    std::optional<Star> star;
    if (tokens_.sees(Symbol::star)) {
        star = Star{};
    } else if (tokens_.sees_name() && tokens_.sees(Symbol::dot, 1) &&
               tokens_.sees(Symbol::star, 2)) {
        star = Star{.qualifier = tokens_.take().text};
        tokens_.take();
    }
    if (star) {
        tokens_.take();
        if (tokens_.sees("AS")) return tokens_.refused("a star cannot be given a name");
        Expr expr{.node = std::move(*star), .at = at};
        return Tall<SelectItem>{.value = SelectItem{.expr = std::move(expr)}, .height = 1};
    }
    TRY_ASSIGN(expr, expression());
    TRY_ASSIGN(name, alias());
    return Tall<SelectItem>{
        .value = SelectItem{.expr = std::move(expr.value), .alias = std::move(name)},
        .height = expr.height};
}

// [WHERE p] [GROUP BY ..] [WINDOW w] [HAVING p]; GROUP BY and WINDOW in either order.
Result<Done> Grammar::select_tail(Select& select, std::size_t& height) {
    if (tokens_.accept("WHERE")) {
        TRY_ASSIGN(where, expression());
        height = std::max(height, where.height);
        select.where = std::move(where.value);
    }
    while (true) {
        if (select.group_by.empty() && tokens_.accept("GROUP")) {
            TRY(tokens_.expect("BY"));
            TRY(group_by(select, height));
        } else if (!select.window && tokens_.accept("WINDOW")) {
            TRY_ASSIGN(spec, window());
            select.window = std::move(spec);
        } else {
            break;
        }
    }
    if (tokens_.accept("HAVING")) {
        TRY_ASSIGN(having, expression());
        height = std::max(height, having.height);
        select.having = std::move(having.value);
    }
    return refuse_second_clause();
}

Result<Done> Grammar::refuse_second_clause() {
    for (const std::string_view word : kClauseWords) {
        if (!tokens_.sees(word)) continue;
        const std::string name = word == "GROUP" ? "GROUP BY" : std::string(word);
        return tokens_.refused(
            name + " stands in the wrong place, or twice",
            "the order is SELECT, FROM, WHERE, GROUP BY, WINDOW, HAVING, INTO, SET");
    }
    return Done{};
}

// e, .. or (e, ..)
Result<Done> Grammar::group_by(Select& select, std::size_t& height) {
    for (const std::string_view word : {"ROLLUP", "CUBE", "GROUPING"}) {
        if (!tokens_.sees(word) || tokens_.sees(Symbol::comma, 1)) continue;
        if (!tokens_.sees(Symbol::open, 1) && !tokens_.sees("SETS", 1)) continue;
        const std::string name = "GROUP BY " + std::string(word);
        return tokens_.not_supported(tokens_.sees("SETS", 1) ? name + " SETS" : name,
                                     "write one query for each grouping");
    }
    if (!tokens_.accept_unlisted(Symbol::open)) {
        TRY_ASSIGN(highest, expressions_into(select.group_by));
        height = std::max(height, highest);
        return Done{};
    }
    TRY_ASSIGN(first, expression());
    if (tokens_.accept(Symbol::comma)) {  // the whole list is in parentheses
        height = std::max(height, first.height);
        select.group_by.push_back(std::move(first.value));
        TRY_ASSIGN(highest, expressions_into(select.group_by));
        height = std::max(height, highest);
        return tokens_.expect(Symbol::close);
    }
    TRY(tokens_.expect(Symbol::close));
    TRY_ASSIGN(whole, continued(std::move(first), Binding::logical_or));
    height = std::max(height, whole.height);
    select.group_by.push_back(std::move(whole.value));
    if (!tokens_.accept(Symbol::comma)) return Done{};
    TRY_ASSIGN(highest, expressions_into(select.group_by));
    height = std::max(height, highest);
    return Done{};
}

Result<Tall<Relation>> Grammar::relation() {
    const Position at = tokens_.peek().at;
    TRY_ASSIGN(left, relation_primary());
    while (true) {
        TRY_ASSIGN(kind, join_kind());
        if (!kind) break;
        Result<Tall<Relation>> whole = join(std::move(left), *kind, at);
        if (!whole) return whole;
        left = *std::move(whole);
    }
    if (tokens_.sees(Symbol::comma)) {
        return tokens_.not_supported("a list of relations after FROM",
                                     "write JOIN .. ON .. WINDOW ..");
    }
    return left;
}

Result<std::optional<JoinKind>> Grammar::join_kind() {
    std::optional<JoinKind> kind;
    if (tokens_.accept("JOIN")) return std::optional(JoinKind::inner);
    if (tokens_.accept_unlisted("INNER")) {
        kind = JoinKind::inner;
    } else if (tokens_.accept_unlisted("LEFT")) {
        kind = JoinKind::left;
    } else if (tokens_.accept_unlisted("RIGHT")) {
        kind = JoinKind::right;
    } else if (tokens_.accept_unlisted("FULL")) {
        kind = JoinKind::full;
    }
    if (!kind) return kind;
    if (*kind != JoinKind::inner) tokens_.accept("OUTER");
    TRY(tokens_.expect("JOIN"));
    return kind;
}

Result<Tall<Relation>> Grammar::join(Tall<Relation> left, JoinKind kind, Position at) {
    TRY_ASSIGN(right, relation_primary());
    TRY(tokens_.expect("ON"));
    TRY_ASSIGN(on, expression());
    if (!tokens_.accept("WINDOW")) return missing_join_window();
    TRY_ASSIGN(spec, window());
    Join node{.kind = kind, .on = std::move(on.value), .window = std::move(spec)};
    node.sides.push_back(std::move(left.value));
    node.sides.push_back(std::move(right.value));
    const std::size_t height = std::max({left.height, right.height, on.height}) + 1;
    TRY(within_depth(height));
    return Tall<Relation>{.value = Relation{.node = std::move(node), .at = at}, .height = height};
}

Error Grammar::missing_join_window() {
    const Token& token = tokens_.peek();
    bool ended = token.kind == TokenKind::end || tokens_.sees(Symbol::semicolon) ||
                 tokens_.sees(Symbol::close);
    for (const std::string_view word :
         {"WHERE", "GROUP", "HAVING", "INTO", "UNION", "JOIN", "INNER", "LEFT", "RIGHT", "FULL"}) {
        ended = ended || tokens_.sees(word);
    }
    if (!ended) return tokens_.unexpected();
    return tokens_.refused("a join needs a window",
                           "write JOIN .. ON .. WINDOW TUMBLING(ts, SIZE 10 SEC)");
}

Result<Tall<Relation>> Grammar::relation_primary() {
    const Position at = tokens_.peek().at;
    const auto made = [&](decltype(Relation::node) node, std::size_t height) {
        return Tall<Relation>{.value = Relation{.node = std::move(node), .at = at},
                              .height = height};
    };
    if (tokens_.accept(Symbol::open)) {
        TRY_ASSIGN(inner, query());
        if (tokens_.sees("INTO")) return refuse_into();
        TRY(tokens_.expect(Symbol::close));
        TRY_ASSIGN(name, alias());
        Subquery node{.alias = std::move(name)};
        node.query.push_back(std::move(inner.value));
        TRY(within_depth(inner.height + 1));
        return made(std::move(node), inner.height + 1);
    }
    if (tokens_.sees("VALUES") && tokens_.sees(Symbol::open, 1)) {
        return tokens_.not_supported("VALUES", "data comes from sources only");
    }
    TRY_ASSIGN(first, tokens_.name("a relation"));
    if (tokens_.accept_unlisted(Symbol::open)) {
        TRY_ASSIGN(settings, settings_until_close());
        TRY_ASSIGN(name, alias());
        return made(InlineSource{.type = std::move(first),
                                 .settings = std::move(settings),
                                 .alias = std::move(name)},
                    1);
    }
    NamedRelation node;
    node.parts.push_back(std::move(first));
    if (tokens_.accept_unlisted(Symbol::dot)) {
        TRY_ASSIGN(second, tokens_.name("the name of a view"));
        node.parts.push_back(std::move(second));
    }
    TRY_ASSIGN(name, alias());
    node.alias = std::move(name);
    return made(std::move(node), 1);
}

Result<std::optional<std::string>> Grammar::alias() {
    if (!tokens_.accept("AS")) return std::optional<std::string>();
    TRY_ASSIGN(name, tokens_.name("a new name"));
    return std::optional(std::move(name));
}

Result<Window> Grammar::window() {
    Window window;
    window.at = tokens_.peek().at;
    const bool tumbling = tokens_.accept("TUMBLING");
    if (!tumbling) TRY(tokens_.expect("SLIDING"));
    const bool sliding = !tumbling;
    TRY(tokens_.expect(Symbol::open));
    if (tokens_.peek().kind == TokenKind::integer) {
        return tokens_.not_supported("a window over a number of rows", "write SIZE n unit");
    }
    TRY(window_timestamps(window));
    if (sliding && window.timestamps.empty()) {
        return tokens_.refused("a sliding window needs a timestamp",
                               "write SLIDING(ts, SIZE .., ADVANCE BY ..)");
    }
    TRY(tokens_.expect("SIZE"));
    if (tokens_.peek().kind == TokenKind::integer && tokens_.peek().integer == 0) {
        return tokens_.refused("the size of a window cannot be 0");
    }
    TRY_ASSIGN(size, time_span());
    window.size = size;
    if (sliding) {
        TRY(tokens_.expect(Symbol::comma));
        TRY(tokens_.expect("ADVANCE"));
        TRY(tokens_.expect("BY"));
        if (tokens_.peek().kind == TokenKind::integer && tokens_.peek().integer == 0) {
            return tokens_.refused("the advance of a window cannot be 0");
        }
        TRY_ASSIGN(advance, time_span());
        window.advance = advance;
    } else if (tokens_.sees(Symbol::comma) && tokens_.sees("ADVANCE", 1)) {
        return tokens_.refused("a tumbling window has no ADVANCE BY", "write SLIDING");
    }
    TRY(tokens_.expect(Symbol::close));
    return window;
}

// Up to the word SIZE, which is a column if a comma or a dot follows it.
Result<Done> Grammar::window_timestamps(Window& window) {
    while (!tokens_.sees("SIZE") || tokens_.sees(Symbol::comma, 1) ||
           tokens_.sees(Symbol::dot, 1)) {
        if (window.timestamps.size() == 2) {
            return tokens_.refused("a window has at most two timestamps, one for each side",
                                   "write SIZE n unit");
        }
        if (!tokens_.sees_name()) (void)tokens_.at("SIZE");
        TRY_ASSIGN(column, column_ref());
        window.timestamps.push_back(std::move(column));
        if (tokens_.sees(Symbol::close)) {
            return tokens_.refused("a window needs a size", "write SIZE n unit");
        }
        TRY(tokens_.expect(Symbol::comma));
    }
    return Done{};
}

Result<TimeSpan> Grammar::time_span() {
    if (tokens_.peek().kind != TokenKind::integer) {
        tokens_.note("a whole number");
        return tokens_.unexpected();
    }
    const std::uint64_t count = tokens_.peek().integer;
    for (const Unit& unit : kUnits) {
        if (!tokens_.sees(unit.word, 1)) continue;
        if (count > kMillisecondsMax / milliseconds_of(unit.unit)) {
            return tokens_.refused("the time is too long", "at most 292000 years can be counted");
        }
        tokens_.take();
        tokens_.take();
        return TimeSpan{.count = count, .unit = unit.unit};
    }
    tokens_.take();
    return tokens_.unexpected_word("MS, SEC, MIN, HOUR or DAY", unit_words());
}

Result<SinkTarget> Grammar::sink_target() {
    SinkTarget target;
    target.at = tokens_.peek().at;
    TRY_ASSIGN(name, tokens_.name("a sink"));
    if (tokens_.accept_unlisted(Symbol::open)) {
        TRY_ASSIGN(settings, settings_until_close());
        target.node = InlineSink{.type = std::move(name), .settings = std::move(settings)};
    } else {
        target.node = std::move(name);
    }
    if (tokens_.sees(Symbol::comma)) {
        return tokens_.not_supported("more than one sink after INTO",
                                     "write one query for each sink");
    }
    if (tokens_.sees("UNION")) return refuse_into();
    TRY(refuse_second_clause());
    return target;
}

}  // namespace baton::sql
