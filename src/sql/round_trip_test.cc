// What is printed parses to the same tree: over trees that are made, not parsed.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/overload.h"
#include "sql/parser.h"
#include "sql/printer.h"
#include "sql/vocabulary.h"

namespace baton::sql {
namespace {

// Each function draws one tree that the parser could give. `depth` bounds what lies below.

std::size_t up_to(std::size_t most) {
    return *rc::gen::inRange<std::size_t>(0, most + 1);
}

bool coin() {
    return up_to(1) == 1;
}

template <class T>
T one_of(const std::vector<T>& choices) {
    return choices[up_to(choices.size() - 1)];
}

template <class F>
auto list_of(std::size_t fewest, std::size_t most, F draw) {
    std::vector<decltype(draw())> list;
    const std::size_t size = fewest + up_to(most - fewest);
    for (std::size_t i = 0; i < size; ++i) list.push_back(draw());
    return list;
}

template <class F>
auto maybe(F draw) {
    std::optional<decltype(draw())> result;
    if (coin()) result = draw();
    return result;
}

std::string any_text() {
    static const std::vector<std::string> kPieces = {
        "a",      "Z",      "0",          "_",  " ", "'", "''", "\"", "`",
        "\\",     "\\\\",   "\\n",        "\n", ".", ";", "--", "/*", "*/",
        "\u00fc", "\u20ac", "\U0001d11e", "\t", "%", "-", "E",  "5"};
    std::string text;
    for (std::size_t i = up_to(6); i > 0; --i) text += one_of(kPieces);
    return text;
}

std::string any_name() {
    static const std::vector<std::string> kNames = {
        "A",      "B",        "ORDERS", "_X1",   "lower",    "SELECT",  "FROM",   "NOT",    "NULL",
        "TRUE",   "AND",      "AS",     "CASE",  "DISTINCT", "ALL",     "EXISTS", "VALUES", "CAST",
        "INT8",   "UNSIGNED", "COUNT",  "SIZE",  "START",    "END",     "SOURCE", "SINK",   "HOST",
        "TYPE",   "SCHEMA",   "FORMAT", "STATE", "MODE",     "QUERY",   "IF",     "SET",    "INTO",
        "WINDOW", "LEFT",     "MS",     "MIN",   "BY",       "FOR",     "ORDER",  "LIMIT",  "LIKE",
        "NAN",    "IS",       "IN",     "SINCE", "WHERE",    "TIMEOUT", "1A"};
    if (up_to(4) != 0) return one_of(kNames);
    return "x" + any_text();
}

Literal any_literal() {
    switch (up_to(5)) {
        case 0:
            return Null{};
        case 1:
            return coin();
        case 2:
            return Integer{.magnitude = *rc::gen::arbitrary<std::uint64_t>()};
        case 3:
            return Integer{
                .negative = true,
                .magnitude = *rc::gen::inRange<std::uint64_t>(1, (std::uint64_t{1} << 63U) + 1)};
        case 4:
            return any_text();
        default:
            return one_of<double>({0.0, 0.1, 2.0, -1.5, 1e300, 5e-324, 1e21, 123456.789,
                                   *rc::gen::arbitrary<double>()});
    }
}

DataType any_type() {
    return all_data_types()[up_to(all_data_types().size() - 1)];
}

Schema any_schema() {
    return {.columns = list_of(1, 3, [] {
                return Column{.name = any_name(), .type = any_type(), .nullable = coin()};
            })};
}

ColumnRef any_column() {
    return {.parts = list_of(1, 2, any_name)};
}

Expr any_expr(std::size_t depth);

std::vector<Expr> exprs(std::size_t fewest, std::size_t most, std::size_t depth) {
    return list_of(fewest, most, [&] { return any_expr(depth); });
}

Call any_call(std::size_t depth) {
    static const std::vector<std::string> kFunctions = {"SUM", "MIN", "F", "ABS", "CONCAT", "IF"};
    switch (up_to(3)) {
        case 0:
            return {.function = "COUNT", .star = true};
        case 1:
            return {.function = "COUNT", .distinct = true, .arguments = exprs(1, 1, depth)};
        default:
            return {.function = one_of(kFunctions), .arguments = exprs(0, 3, depth)};
    }
}

Logical any_logical(std::size_t depth) {
    Logical node{.op = coin() ? LogicalOp::logical_and : LogicalOp::logical_or};
    for (Expr& operand : exprs(2, 4, depth)) {
        const auto* same = std::get_if<Logical>(&operand.node);
        if (same != nullptr && same->op == node.op) operand = {.node = any_column()};
        node.operands.push_back(std::move(operand));
    }
    return node;
}

Expr any_expr(std::size_t depth) {
    if (depth == 0) {
        switch (up_to(2)) {
            case 0:
                return {.node = any_literal()};
            case 1:
                return {.node = TypedLiteral{.type = any_type(), .value = any_literal()}};
            default:
                return {.node = any_column()};
        }
    }
    const std::size_t below = depth - 1;
    switch (up_to(9)) {
        case 0:
            return {.node = any_call(below)};
        case 1:
            return {.node = Cast{.operand = exprs(1, 1, below), .type = any_type()}};
        case 2:
        case 3:
            return {.node = Unary{.op = one_of<UnaryOp>(
                                      {UnaryOp::plus, UnaryOp::minus, UnaryOp::logical_not}),
                                  .operand = exprs(1, 1, below)}};
        case 4:
        case 5:
            return {.node = Binary{
                        .op = static_cast<BinaryOp>(up_to(static_cast<std::size_t>(BinaryOp::ge))),
                        .operands = exprs(2, 2, below)}};
        case 6:
            return {.node = any_logical(below)};
        case 7:
            return {.node = Between{.negated = coin(), .operands = exprs(3, 3, below)}};
        case 8:
            return {.node = InList{.negated = coin(), .operands = exprs(2, 4, below)}};
        default:
            return {.node = IsTest{.what = coin() ? IsWhat::null : IsWhat::nan,
                                   .negated = coin(),
                                   .operand = exprs(1, 1, below)}};
    }
}

std::vector<Setting> any_settings(std::size_t fewest) {
    return list_of(fewest, 3, [] {
        Setting setting{.key = list_of(1, 3, any_name)};
        if (coin()) {
            setting.value = any_schema();
        } else {
            setting.value = any_literal();
        }
        return setting;
    });
}

TimeSpan any_span() {
    return {.count = 1 + *rc::gen::inRange<std::uint64_t>(0, 100'000'000),
            .unit = static_cast<TimeUnit>(up_to(static_cast<std::size_t>(TimeUnit::day)))};
}

Window any_window() {
    const bool sliding = coin();
    Window window{.timestamps = list_of(sliding ? 1 : 0, 2, any_column), .size = any_span()};
    if (sliding) window.advance = any_span();
    return window;
}

Query any_query(std::size_t depth);

Relation any_relation(std::size_t depth, bool joins = true) {
    if (depth > 0 && coin()) {
        if (joins && coin()) {
            Join join{.kind = static_cast<JoinKind>(up_to(3)),
                      .on = any_expr(depth - 1),
                      .window = any_window()};
            join.sides.push_back(any_relation(depth - 1));
            join.sides.push_back(any_relation(depth - 1, false));
            return {.node = std::move(join)};
        }
        Subquery subquery{.alias = maybe(any_name)};
        subquery.query.push_back(any_query(depth - 1));
        return {.node = std::move(subquery)};
    }
    if (coin()) return {.node = NamedRelation{list_of(1, 2, any_name), maybe(any_name)}};
    return {.node = InlineSource{any_name(), any_settings(0), maybe(any_name)}};
}

SelectItem any_item(std::size_t depth) {
    if (up_to(4) == 0) return {.expr = {.node = Star{.qualifier = maybe(any_name)}}};
    return {.expr = any_expr(depth), .alias = maybe(any_name)};
}

Select any_select(std::size_t depth) {
    const auto expr = [&] { return any_expr(depth); };
    return {.items = list_of(1, 3, [&] { return any_item(depth); }),
            .from = any_relation(depth),
            .where = maybe(expr),
            .group_by = exprs(0, 2, depth),
            .window = maybe(any_window),
            .having = maybe(expr)};
}

Query any_query(std::size_t depth) {
    if (up_to(3) != 0) return {.node = any_select(depth)};
    return {.node = Union{list_of(2, 3, [&] { return Query{.node = any_select(depth)}; })}};
}

SinkTarget any_sink() {
    if (coin()) return {.node = any_name()};
    return {.node = InlineSink{.type = any_name(), .settings = any_settings(0)}};
}

Target any_name_or_number() {
    if (coin()) return *rc::gen::arbitrary<std::uint64_t>();
    return any_name();
}

std::optional<StopMode> any_mode() {
    return maybe([] { return coin() ? StopMode::graceful : StopMode::forceful; });
}

std::optional<OutputFormat> any_format() {
    return maybe([] { return coin() ? OutputFormat::text : OutputFormat::json; });
}

Drop any_drop() {
    Drop drop{.kind = kKinds.at(up_to(kKinds.size() - 1)).kind, .if_exists = coin()};
    if (drop.kind == EntityKind::query) drop.mode = any_mode();
    if (coin()) {
        drop.target = any_name_or_number();
    } else {
        drop.target = AttributeIs{.attribute = any_name(), .value = any_literal()};
    }
    return drop;
}

Show any_show() {
    Show show{.what = kShown.at(up_to(kShown.size() - 1)).what,
              .where = maybe([] { return any_expr(2); }),
              .format = any_format()};
    if (show.what == ShowWhat::physical_sources) show.for_name = maybe(any_name);
    return show;
}

Explain any_explain() {
    Explain explain{.format = any_format(), .query = any_query(2), .sink = maybe(any_sink)};
    for (const ExplainLevel level :
         {ExplainLevel::distributed, ExplainLevel::logical, ExplainLevel::optimized}) {
        if (coin()) explain.levels.push_back(level);
    }
    if (explain.sink) explain.settings = any_settings(0);
    return explain;
}

Watch any_watch() {
    Watch watch{.since = maybe([] { return *rc::gen::arbitrary<std::uint64_t>(); })};
    if (coin()) {
        watch.source = any_show();
        return watch;
    }
    Select select{.items = list_of(1, 3, [] { return any_item(2); }),
                  .from = {.node = NamedRelation{list_of(1, 2, any_name), maybe(any_name)}},
                  .where = maybe([] { return any_expr(2); })};
    watch.source = Query{.node = std::move(select)};
    return watch;
}

CreateQuery any_create_query() {
    return {.name = maybe(any_name),
            .settings = any_settings(0),
            .query = any_query(2),
            .sink = any_sink()};
}

WaitForQuery any_wait() {
    return {.target = any_name_or_number(),
            .state = maybe([] {
                const auto& names = StateNames<QueryState>::kNames;
                return names[up_to(names.size() - 1)].first;
            }),
            .timeout = maybe(any_span)};
}

LockStatement any_lock() {
    LockStatement statement{.name = any_name(), .act = {}};
    switch (up_to(5)) {
        case 0:
            statement.act = lock::Acquire{.owner = any_name(), .ttl = any_span()};
            break;
        case 1:
            statement.act =
                lock::Renew{.owner = any_name(), .epoch = up_to(5000), .ttl = any_span()};
            break;
        case 2:
            statement.act = lock::Release{.owner = any_name(), .epoch = up_to(5000)};
            break;
        case 3:
            statement.act = lock::Enable{};
            break;
        case 4:
            statement.act = lock::Disable{};
            break;
        default:
            statement.act = lock::Drop{};
            break;
    }
    return statement;
}

Statement any_statement() {
    switch (up_to(19)) {
        case 0:
            return {CreateLogicalSource{coin(), any_name(), any_schema()}};
        case 1:
            return {CreatePhysicalSource{any_name(), any_name(), any_settings(0)}};
        case 2:
            return {CreateSink{coin(), any_name(), any_schema(), any_name(), any_settings(0)}};
        case 3:
            return {CreateWorker{any_name(), any_settings(0)}};
        case 4:
            return {any_create_query()};
        case 5:
            return {SelectOnce{any_query(3), maybe([] { return std::uint64_t{up_to(9)} + 1; })}};
        case 6:
            return {any_drop()};
        case 7:
            return {StopQuery{any_name_or_number(), any_mode()}};
        case 8:
            return {DrainWorker{any_name()}};
        case 9:
            return {ResumeWorker{any_name()}};
        case 10:
            return {any_show()};
        case 11:
            return {any_explain()};
        case 12:
            return {any_watch()};
        case 13:
            return {Begin{}};
        case 14:
            return {Commit{}};
        case 15:
            return {Rollback{}};
        case 16:
            return {
                Cancel{coin() ? CancelWhat::query : CancelWhat::connection, any_name_or_number()}};
        case 17:
            return {CreateTaskList{coin(), any_name(), up_to(5000)}};
        case 18:
            return {any_lock()};
        default:
            return {any_wait()};
    }
}

void check_round_trip(const Statement& statement) {
    const std::string text = print(statement);
    RC_LOG(text);
    const Result<Statement> again = parse_one(text);
    if (!again) RC_LOG(to_string(again.error()));
    RC_ASSERT(again.has_value());
    RC_LOG(print(*again));
    RC_ASSERT(*again == statement);
    RC_ASSERT(print(*again) == text);
}

RC_GTEST_PROP(RoundTrip, GivesTheSameStatement, ()) {
    for (int i = 0; i < 5; ++i) check_round_trip(any_statement());
}

RC_GTEST_PROP(RoundTrip, GivesTheSameExpression, ()) {
    for (int i = 0; i < 5; ++i) check_round_trip({Show{.where = any_expr(4)}});
}

RC_GTEST_PROP(RoundTrip, GivesTheSameDecimal, (double value)) {
    RC_PRE(value == value && value - value == 0);
    check_round_trip({Show{.where = Expr{.node = Literal(value)}}});
}

}  // namespace
}  // namespace baton::sql
