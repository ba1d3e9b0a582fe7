#include <algorithm>
#include <cmath>
#include <limits>

#include "core/plan_format/fields.h"
#include "core/plan_format/names.h"
#include "core/plan_format/plan_format.h"
#include "model/aggregate_state.h"

namespace baton::plan_format {

namespace {

constexpr json::Limits kLimits{.bytes = std::size_t{16} << 20U, .depth = 2'000};

// ---- expressions --------------------------------------------------------------------------------

std::optional<double> real_of(const json::Value& json) {
    if (const auto* real = std::get_if<double>(&json.value)) return *real;
    const auto* text = std::get_if<std::string>(&json.value);
    if (text == nullptr) return std::nullopt;
    if (*text == "NaN") return std::nan("");
    if (*text == "Infinity") return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

// The value of a constant, as its type stores it.
std::optional<Value> value_of(const json::Value& json, DataType type) {
    if (std::holds_alternative<std::monostate>(json.value)) return Value();
    const auto* plain = std::get_if<std::uint64_t>(&json.value);
    switch (type) {
        case DataType::boolean:
            if (const auto* truth = std::get_if<bool>(&json.value)) return Value(*truth);
            return std::nullopt;
        case DataType::int8:
        case DataType::int16:
        case DataType::int32:
        case DataType::int64:
            if (const auto* number = std::get_if<std::int64_t>(&json.value)) return Value(*number);
            if (plain == nullptr || *plain > INT64_MAX) return std::nullopt;
            return Value(static_cast<std::int64_t>(*plain));
        case DataType::uint8:
        case DataType::uint16:
        case DataType::uint32:
        case DataType::uint64:
            if (plain == nullptr) return std::nullopt;
            return Value(*plain);
        case DataType::float32:
        case DataType::float64: {
            const auto real = real_of(json);
            if (!real) return std::nullopt;
            return Value(*real);
        }
        case DataType::character:
        case DataType::varsized:
            if (const auto* text = std::get_if<std::string>(&json.value)) return Value(*text);
            return std::nullopt;
    }
    return std::nullopt;
}

bool fits(Function function, std::size_t arguments) {
    switch (function) {
        case Function::logical_and:
        case Function::logical_or:
        case Function::in_list:
            return arguments >= 2;
        case Function::concat:
            return arguments >= 1;
        case Function::conditional:
            return arguments >= 3 && arguments % 2 == 1;
        case Function::between:
            return arguments == 3;
        case Function::add:
        case Function::subtract:
        case Function::multiply:
        case Function::divide:
        case Function::modulo:
        case Function::equal:
        case Function::not_equal:
        case Function::less:
        case Function::less_equal:
        case Function::greater:
        case Function::greater_equal:
        case Function::pow:
            return arguments == 2;
        case Function::negate:
        case Function::logical_not:
        case Function::is_null:
        case Function::is_nan:
        case Function::abs:
        case Function::ceil:
        case Function::floor:
        case Function::round:
        case Function::exp:
        case Function::sqrt:
        case Function::char_length:
        case Function::octet_length:
        case Function::to_base64:
        case Function::from_base64:
        case Function::cast_to_unix_ts:
        case Function::cast_from_unix_ts:
        case Function::day_of:
        case Function::month_of:
        case Function::year_of:
        case Function::cast:
            return arguments == 1;
    }
    return false;
}

// `columns` is how many there are to choose from.
Result<Expression> expression_of(const json::Value& json, const std::string& where,
                                 std::size_t columns);

Result<std::vector<Expression>> expressions_of(Fields& fields, std::string_view key,
                                               std::size_t columns) {
    TRY_ASSIGN(items, fields.list(key));
    std::vector<Expression> result;
    for (std::size_t i = 0; i < items->size(); ++i) {
        TRY_ASSIGN(expression, expression_of((*items)[i], fields.where(key, i), columns));
        result.push_back(std::move(expression));
    }
    return result;
}

Result<Expression> expression_of(const json::Value& json, const std::string& where,
                                 std::size_t columns) {
    TRY_ASSIGN(fields, Fields::of(json, where));
    TRY_ASSIGN(type, fields.type("type"));
    TRY_ASSIGN(nullable, fields.flag("nullable"));
    Expression result{.node = {}, .type = type, .nullable = nullable};
    TRY_ASSIGN(column, fields.optional_number("column"));
    if (column) {
        if (*column >= columns) return damaged_plan(where, "a column that its input does not have");
        result.node = ColumnIndex{*column};
    } else if (const json::Value* value = fields.find("value")) {
        auto constant = value_of(*value, type);
        if (!constant) return damaged_plan(where, "a value that is not of its type");
        result.node = Constant{*std::move(constant)};
    } else {
        TRY_ASSIGN(function, fields.word<Function>("call", kFunctionNames));
        TRY_ASSIGN(arguments, expressions_of(fields, "arguments", columns));
        if (!fits(function, arguments.size())) {
            return damaged_plan(where, "a wrong number of arguments");
        }
        result.node = Call{function, std::move(arguments)};
    }
    TRY(fields.end());
    return result;
}

Result<Expression> expression_at(Fields& fields, std::string_view key, std::size_t columns) {
    TRY_ASSIGN(json, fields.take(key));
    return expression_of(*json, fields.where(key), columns);
}

// ---- operators ----------------------------------------------------------------------------------

// An operator without its key "op", over inputs that were read already.
struct OperatorReader {
    Fields& fields;
    const PlanNode& node;  // inputs and schema

    [[nodiscard]] Error wrong(const std::string& why) const {
        return damaged_plan(fields.where(), why);
    }
    [[nodiscard]] std::size_t columns_in(std::size_t input) const {
        return node.inputs[input].schema.columns.size();
    }
    [[nodiscard]] Result<Done> inputs(std::size_t count) const {
        if (node.inputs.size() != count) return wrong("a wrong number of inputs");
        return Done{};
    }
    [[nodiscard]] Result<Done> same_width() const {
        if (node.schema.columns.size() != columns_in(0)) {
            return wrong("its schema is not that of its input");
        }
        return Done{};
    }

    [[nodiscard]] Result<WindowSpec> window() const {
        TRY_ASSIGN(size, fields.number("size"));
        TRY_ASSIGN(advance, fields.number("advance"));
        if (size == 0 || advance == 0) return wrong("a window of no length");
        return WindowSpec{.size = size, .advance = advance};
    }

    [[nodiscard]] Result<std::optional<std::size_t>> time(std::string_view key,
                                                          std::size_t input) const {
        TRY_ASSIGN(column, fields.optional_number(key));
        if (column && *column >= columns_in(input)) {
            return wrong("a column that its input does not have");
        }
        return column;
    }

    [[nodiscard]] Result<Operator> logical_scan() const {
        TRY(inputs(0));
        TRY_ASSIGN(source, fields.text("source"));
        return Operator(LogicalScan{source});
    }

    [[nodiscard]] Result<Operator> source_scan() const {
        TRY(inputs(0));
        SourceScan scan;
        TRY_ASSIGN(id, fields.optional_number("id"));
        if (id) scan.id = PhysicalSourceId(*id);
        TRY_ASSIGN(logical, fields.text("logical"));
        TRY_ASSIGN(worker, fields.text("worker"));
        TRY_ASSIGN(type, fields.text("type"));
        TRY_ASSIGN(source, fields.config("source"));
        TRY_ASSIGN(format, fields.config("format"));
        TRY_ASSIGN(parsed, fields.schema("parsed"));
        TRY_ASSIGN(wanted, fields.numbers("wanted"));
        const bool known = std::all_of(wanted.begin(), wanted.end(), [&](std::size_t column) {
            return column < parsed.columns.size();
        });
        if (!known || wanted.size() != node.schema.columns.size()) {
            return wrong("the wanted columns are not those of its schema");
        }
        scan.logical = std::move(logical);
        scan.worker = std::move(worker);
        scan.type = std::move(type);
        scan.source = std::move(source);
        scan.format = std::move(format);
        scan.parsed = std::move(parsed);
        scan.wanted = std::move(wanted);
        return Operator(std::move(scan));
    }

    [[nodiscard]] Result<Operator> receive() const {
        TRY(inputs(0));
        TRY_ASSIGN(exchange, fields.number("exchange"));
        TRY_ASSIGN(senders, fields.texts("senders"));
        if (senders.empty()) return wrong("it has no sender");
        return Operator(Receive{.exchange = exchange, .senders = std::move(senders)});
    }

    [[nodiscard]] Result<Operator> filter() const {
        TRY(inputs(1));
        TRY(same_width());
        TRY_ASSIGN(predicate, expression_at(fields, "predicate", columns_in(0)));
        return Operator(Filter{std::move(predicate)});
    }

    [[nodiscard]] Result<Operator> project() const {
        TRY(inputs(1));
        TRY_ASSIGN(expressions, expressions_of(fields, "expressions", columns_in(0)));
        if (expressions.size() != node.schema.columns.size()) {
            return wrong("its expressions are not the columns of its schema");
        }
        return Operator(Project{std::move(expressions)});
    }

    [[nodiscard]] Result<Aggregate> aggregate(const json::Value& json,
                                              const std::string& where) const {
        TRY_ASSIGN(own, Fields::of(json, where));
        TRY_ASSIGN(function, own.word<AggregateFunction>("function", kAggregateNames));
        TRY_ASSIGN(argument, expressions_of(own, "argument", columns_in(0)));
        TRY_ASSIGN(type, own.type("type"));
        TRY_ASSIGN(nullable, own.flag("nullable"));
        TRY(own.end());
        return Aggregate{.function = function,
                         .argument = std::move(argument),
                         .type = type,
                         .nullable = nullable};
    }

    // How many columns the aggregates take: in the input of a final, in the output of a partial.
    [[nodiscard]] Result<std::size_t> states(const std::vector<Aggregate>& aggregates) const {
        std::size_t count = 0;
        for (const Aggregate& each : aggregates) {
            const auto columns = states_of(each, "");
            if (!columns) return wrong("an aggregate that has no state");
            count += columns->size();
        }
        return count;
    }

    [[nodiscard]] Result<Done> check(const WindowAggregate& op) const {
        const std::size_t before = 2 + op.keys.size();
        std::size_t given = before + op.aggregates.size();
        for (const Aggregate& each : op.aggregates) {
            const bool none =
                op.stage == AggregateStage::final || each.function == AggregateFunction::count_all;
            if (each.argument.size() != (none ? 0 : 1)) return wrong("a wrong number of arguments");
        }
        if (op.stage != AggregateStage::whole) {
            TRY_ASSIGN(count, states(op.aggregates));
            if (op.stage == AggregateStage::partial) given = before + count;
            if (op.stage == AggregateStage::final && columns_in(0) != before + count) {
                return wrong("its input is not that of its states");
            }
        }
        if (given != node.schema.columns.size()) {
            return wrong("its keys and aggregates are not the columns of its schema");
        }
        return Done{};
    }

    [[nodiscard]] Result<Operator> window_aggregate() const {
        TRY(inputs(1));
        WindowAggregate op;
        TRY_ASSIGN(stage, fields.word<AggregateStage>("stage", kStageNames));
        TRY_ASSIGN(spec, window());
        TRY_ASSIGN(column, time("time", 0));
        TRY_ASSIGN(keys, expressions_of(fields, "keys", columns_in(0)));
        TRY_ASSIGN(items, fields.list("aggregates"));
        for (std::size_t i = 0; i < items->size(); ++i) {
            TRY_ASSIGN(one, aggregate((*items)[i], fields.where("aggregates", i)));
            op.aggregates.push_back(std::move(one));
        }
        op.stage = stage;
        op.window = spec;
        op.time = column;
        op.keys = std::move(keys);
        TRY(check(op));
        return Operator(std::move(op));
    }

    [[nodiscard]] Result<Operator> window_join() const {
        TRY(inputs(2));
        const std::size_t columns = columns_in(0) + columns_in(1);
        if (node.schema.columns.size() != 2 + columns) {
            return wrong("its schema is not that of its inputs");
        }
        TRY_ASSIGN(sides, fields.word<JoinSides>("sides", kSideNames));
        TRY_ASSIGN(predicate, expression_at(fields, "predicate", columns));
        TRY_ASSIGN(spec, window());
        TRY_ASSIGN(left, time("left_time", 0));
        TRY_ASSIGN(right, time("right_time", 1));
        return Operator(WindowJoin{.sides = sides,
                                   .predicate = std::move(predicate),
                                   .window = spec,
                                   .left_time = left,
                                   .right_time = right});
    }

    [[nodiscard]] Result<Operator> union_all() const {
        if (node.inputs.empty()) return wrong("a union of nothing");
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (columns_in(i) != node.schema.columns.size()) {
                return wrong("its schema is not that of its inputs");
            }
        }
        return Operator(UnionAll{});
    }

    [[nodiscard]] Result<Operator> send() const {
        TRY(inputs(1));
        TRY(same_width());
        TRY_ASSIGN(exchange, fields.number("exchange"));
        TRY_ASSIGN(to, fields.text("to"));
        TRY_ASSIGN(address, fields.text("address"));
        return Operator(Send{.exchange = exchange, .to = to, .address = address});
    }

    [[nodiscard]] Result<Operator> sink_write() const {
        TRY(inputs(1));
        TRY(same_width());
        SinkWrite sink;
        if (fields.find("name") != nullptr) {
            TRY_ASSIGN(name, fields.text("name"));
            sink.name = std::move(name);
        }
        TRY_ASSIGN(worker, fields.text("worker"));
        TRY_ASSIGN(type, fields.text("type"));
        TRY_ASSIGN(options, fields.config("sink"));
        TRY_ASSIGN(format, fields.config("format"));
        sink.worker = std::move(worker);
        sink.type = std::move(type);
        sink.sink = std::move(options);
        sink.format = std::move(format);
        return Operator(std::move(sink));
    }
};

using ReadOperator = Result<Operator> (OperatorReader::*)() const;

Result<Operator> operator_of(Fields& fields, const PlanNode& node) {
    static constexpr std::array<std::pair<std::string_view, ReadOperator>, 10> kOperators = {{
        {"logical_scan", &OperatorReader::logical_scan},
        {"source_scan", &OperatorReader::source_scan},
        {"receive", &OperatorReader::receive},
        {"filter", &OperatorReader::filter},
        {"project", &OperatorReader::project},
        {"window_aggregate", &OperatorReader::window_aggregate},
        {"window_join", &OperatorReader::window_join},
        {"union_all", &OperatorReader::union_all},
        {"send", &OperatorReader::send},
        {"sink_write", &OperatorReader::sink_write},
    }};
    TRY_ASSIGN(op, fields.text("op"));
    const OperatorReader reader{.fields = fields, .node = node};
    for (const auto& [name, read] : kOperators) {
        if (name == op) return (reader.*read)();
    }
    return damaged_plan(fields.where("op"), "an unknown operator");
}

Result<PlanNode> node_of(const json::Value& json, const std::string& where) {
    TRY_ASSIGN(fields, Fields::of(json, where));
    PlanNode node;
    TRY_ASSIGN(schema, fields.schema("schema"));
    node.schema = std::move(schema);
    TRY_ASSIGN(inputs, fields.list("inputs"));
    for (std::size_t i = 0; i < inputs->size(); ++i) {
        TRY_ASSIGN(input, node_of((*inputs)[i], fields.where("inputs", i)));
        node.inputs.push_back(std::move(input));
    }
    TRY_ASSIGN(op, operator_of(fields, node));
    node.op = std::move(op);
    TRY(fields.end());
    return node;
}

}  // namespace

Result<FragmentPlan> read_plan(std::string_view text) {
    TRY_ASSIGN(json, json::parse(text, kLimits));
    TRY_ASSIGN(fields, Fields::of(json, ""));
    TRY_ASSIGN(version, fields.number("version"));
    if (version != kPlanFormatVersion) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "cannot read the plan of a fragment: it has version " +
                                std::to_string(version) + ", only " +
                                std::to_string(kPlanFormatVersion) + " is known here",
                     .hint = "run the same version of baton everywhere"};
    }
    FragmentPlan plan;
    TRY_ASSIGN(worker, fields.text("worker"));
    TRY_ASSIGN(settings, fields.config("settings"));
    TRY_ASSIGN(roots, fields.list("roots"));
    for (std::size_t i = 0; i < roots->size(); ++i) {
        TRY_ASSIGN(root, node_of((*roots)[i], fields.where("roots", i)));
        plan.roots.push_back(std::move(root));
    }
    if (plan.roots.empty()) return damaged_plan("roots", "there is none");
    TRY(fields.end());
    plan.worker = std::move(worker);
    plan.settings = std::move(settings);
    return plan;
}

}  // namespace baton::plan_format
