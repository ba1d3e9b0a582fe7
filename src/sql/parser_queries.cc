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

// Unions within parentheses are taken apart: a bag has no order of adding. Returns the height that
// the whole has by this branch.
std::size_t append_branch(Union& whole, Query& branch, std::size_t height) {
    auto* inner = std::get_if<Union>(&branch.node);
    if (inner == nullptr) {
        whole.branches.push_back(std::move(branch));
        return height + 1;
    }
    for (Query& query : inner->branches) whole.branches.push_back(std::move(query));
    return height;
}

constexpr std::array<std::string_view, 4> kClauseWords = {"WHERE", "GROUP", "WINDOW", "HAVING"};

}  // namespace

Result<Grammar::Node> Grammar::query_statement() {
    Query tree;
    TRY(query(tree));
    if (!tokens_.at("INTO")) {
        TRY_ASSIGN(most, limit());
        if (tokens_.sees("SET")) return tokens_.refused("SET stands after INTO", "add INTO sink");
        return Node(SelectOnce{.query = std::move(tree), .limit = most});
    }
    tokens_.take();
    TRY_ASSIGN(sink, sink_target());
    TRY_ASSIGN(settings, settings_clause());
    return Node(CreateQuery{
        .settings = std::move(settings), .query = std::move(tree), .sink = std::move(sink)});
}

// LIMIT n; NULL, which only a parameter can be, is no limit.
Result<std::optional<std::uint64_t>> Grammar::limit() {
    const Position at = tokens_.peek().at;
    if (!tokens_.accept("LIMIT")) return std::optional<std::uint64_t>();
    const bool given_later = tokens_.peek().kind == TokenKind::parameter;
    const Position number_at = tokens_.peek().at;
    TRY_ASSIGN(value, literal());
    if (tokens_.sees("INTO")) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "LIMIT in a query with INTO is not supported",
                     .at = at,
                     .hint = "leave out INTO to get that many rows, or choose rows with WHERE"};
    }
    if (given_later && std::holds_alternative<Null>(value)) return std::optional<std::uint64_t>();
    const auto* number = std::get_if<Integer>(&value);
    if (number == nullptr || number->negative || number->magnitude == 0) {
        return Error{.code = ErrorCode::syntax,
                     .message = "LIMIT needs a whole number from 1",
                     .at = number_at};
    }
    return std::optional(number->magnitude);
}

Result<std::size_t> Grammar::query(Query& into) {
    const Level level(depth_);
    TRY(within_depth(1));
    TRY_ASSIGN(height, query_term(into));
    if (!tokens_.at("UNION")) return height;
    return union_of(into, height);
}

// The branches after the first, which is in `into` and becomes a part of the whole.
Result<std::size_t> Grammar::union_of(Query& into, std::size_t height) {
    Union whole;
    const Position at = into.at;
    std::size_t highest = append_branch(whole, into, height);
    while (tokens_.accept("UNION")) {
        if (tokens_.sees("ALL")) {
            return tokens_.not_supported("UNION ALL",
                                         "write UNION, which keeps duplicates by itself");
        }
        if (tokens_.sees("DISTINCT")) {
            return tokens_.not_supported("UNION DISTINCT", "UNION keeps duplicates");
        }
        Query next;
        TRY_ASSIGN(next_height, query_term(next));
        highest = std::max(highest, append_branch(whole, next, next_height));
    }
    TRY(within_depth(highest));
    into = Query{.node = std::move(whole), .at = at};
    return highest;
}

Result<std::size_t> Grammar::query_term(Query& into) {
    if (tokens_.at("SELECT")) return select(into);
    if (!tokens_.accept(Symbol::open)) return tokens_.unexpected();
    TRY_ASSIGN(height, query(into));
    if (tokens_.sees("INTO")) return refuse_into();
    TRY(tokens_.expect(Symbol::close));
    return height;
}

Error Grammar::refuse_into() {
    return tokens_.refused("INTO stands once, at the end of the whole query", "move it there");
}

Result<std::size_t> Grammar::select(Query& into) {
    into.at = tokens_.take().at;
    TRY(one_more_part());
    TRY(refuse_quantifier("SELECT"));
    Select& select = into.node.emplace<Select>();
    std::size_t height = 0;
    do {
        TRY(one_more_column(select.items.size() + 1));
        TRY_ASSIGN(item_height, select_item(select.items.emplace_back()));
        height = std::max(height, item_height);
    } while (tokens_.accept(Symbol::comma));
    TRY(tokens_.expect("FROM"));
    TRY_ASSIGN(from_height, relation(select.from));
    height = std::max(height, from_height);
    TRY(select_tail(select, height));
    TRY(within_depth(height + 1));
    return height + 1;
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

Result<std::size_t> Grammar::select_item(SelectItem& into) {
    into.expr.at = tokens_.peek().at;
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
        into.expr.node = std::move(*star);
        return std::size_t{1};
    }
    TRY_ASSIGN(expr, expression());
    into.expr = std::move(expr.value);
    TRY_ASSIGN(name, alias());
    into.alias = std::move(name);
    return expr.height;
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
            TRY(one_more_column(select.group_by.size()));
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

Result<std::size_t> Grammar::relation(Relation& into) {
    TRY_ASSIGN(height, relation_primary(into));
    while (true) {
        TRY_ASSIGN(kind, join_kind());
        if (!kind) break;
        TRY_ASSIGN(joined_height, join(into, height, *kind));
        height = joined_height;
    }
    if (tokens_.sees(Symbol::comma)) {
        return tokens_.not_supported("a list of relations after FROM",
                                     "write JOIN .. ON .. WINDOW ..");
    }
    return height;
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

// Joins what is in `left` with what follows; the join takes its place.
Result<std::size_t> Grammar::join(Relation& left, std::size_t left_height, JoinKind kind) {
    const Position at = left.at;
    Join node{.kind = kind};
    node.sides.resize(2);
    node.sides[0] = std::move(left);
    TRY_ASSIGN(right_height, relation_primary(node.sides[1]));
    TRY(tokens_.expect("ON"));
    TRY_ASSIGN(on, expression());
    node.on = std::move(on.value);
    if (!tokens_.accept("WINDOW")) return missing_join_window();
    TRY_ASSIGN(spec, window());
    node.window = std::move(spec);
    const std::size_t height = std::max({left_height, right_height, on.height}) + 1;
    TRY(within_depth(height));
    left = Relation{.node = std::move(node), .at = at};
    return height;
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

Result<std::size_t> Grammar::relation_primary(Relation& into) {
    into.at = tokens_.peek().at;
    if (!tokens_.accept(Symbol::open)) {
        TRY(named_relation(into));
        return std::size_t{1};
    }
    auto& node = into.node.emplace<Subquery>();
    TRY_ASSIGN(height, query(node.query.emplace_back()));
    if (tokens_.sees("INTO")) return refuse_into();
    TRY(tokens_.expect(Symbol::close));
    TRY_ASSIGN(name, alias());
    node.alias = std::move(name);
    TRY(within_depth(height + 1));
    return height + 1;
}

// NAME, BATON.VIEW or Type( .. )
Result<Done> Grammar::named_relation(Relation& into) {
    if (tokens_.sees("VALUES") && tokens_.sees(Symbol::open, 1)) {
        return tokens_.not_supported("VALUES", "data comes from sources only");
    }
    TRY_ASSIGN(first, tokens_.name("a relation"));
    if (tokens_.accept_unlisted(Symbol::open)) {
        auto& node = into.node.emplace<InlineSource>();
        node.type = std::move(first);
        TRY_ASSIGN(settings, settings_until_close());
        node.settings = std::move(settings);
        TRY_ASSIGN(name, alias());
        node.alias = std::move(name);
        return Done{};
    }
    auto& node = into.node.emplace<NamedRelation>();
    node.parts.push_back(std::move(first));
    if (tokens_.accept_unlisted(Symbol::dot)) {
        TRY_ASSIGN(second, tokens_.name("the name of a view"));
        node.parts.push_back(std::move(second));
    }
    TRY_ASSIGN(name, alias());
    node.alias = std::move(name);
    return Done{};
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
