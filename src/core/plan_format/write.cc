#include "base/overload.h"
#include "base/text.h"
#include "core/json/json.h"
#include "core/plan_format/names.h"
#include "core/plan_format/plan_format.h"

namespace baton::plan_format {

namespace {

// Writes what write_plan's header describes; the order of the keys is part of the format.
class Writer {
public:
    std::string text;

    void fragment(const FragmentPlan& plan) {
        text += "{\"version\":" + std::to_string(kPlanFormatVersion);
        key("worker", plan.worker);
        key("settings", plan.settings);
        name("roots");
        list(plan.roots, [&](const PlanNode& root) { node(root); });
        text += '}';
    }

    void node(const PlanNode& whole) {
        text += '{';
        std::visit([&](const auto& op) { operation(op); }, whole.op);
        key("schema", whole.schema);
        name("inputs");
        list(whole.inputs, [&](const PlanNode& input) { node(input); });
        text += '}';
    }

private:
    void name(std::string_view key_name) {
        if (text.back() != '{') text += ',';
        append_json_string(text, key_name);
        text += ':';
    }
    void key(std::string_view key_name, std::string_view value) {
        name(key_name);
        append_json_string(text, value);
    }
    void flag(std::string_view key_name, bool value) {
        name(key_name);
        text += value ? "true" : "false";
    }
    void key(std::string_view key_name, std::uint64_t value) {
        name(key_name);
        text += std::to_string(value);
    }
    void key(std::string_view key_name, const std::optional<std::size_t>& value) {
        if (value) key(key_name, std::uint64_t{*value});
    }
    void key(std::string_view key_name, const Config& value) {
        name(key_name);
        config(value);
    }
    void key(std::string_view key_name, const Schema& value) {
        name(key_name);
        list(value.columns, [&](const Column& column) {
            text += '[';
            append_json_string(text, column.name);
            text += ',';
            append_json_string(text, to_string(column.type));
            text += column.nullable ? ",true]" : ",false]";
        });
    }
    void key(std::string_view key_name, const Expression& value) {
        name(key_name);
        expression(value);
    }
    void key(std::string_view key_name, const std::vector<Expression>& values) {
        name(key_name);
        list(values, [&](const Expression& value) { expression(value); });
    }

    template <class List, class Write>
    void list(const List& values, Write write) {
        text += '[';
        bool first = true;
        for (const auto& value : values) {
            if (!first) text += ',';
            first = false;
            write(value);
        }
        text += ']';
    }

    void config(const Config& values) {
        text += '{';
        for (const auto& [option, value] : values) {
            name(option);
            std::visit(Overload{
                           [&](bool v) { text += v ? "true" : "false"; },
                           [&](std::int64_t v) { text += std::to_string(v); },
                           [&](double v) { json::append_number(text, v); },
                           [&](const std::string& v) { append_json_string(text, v); },
                       },
                       value);
        }
        text += '}';
    }

    void value(const Value& value) {
        name("value");
        std::visit(Overload{
                       [&](std::monostate) { text += "null"; },
                       [&](bool v) { text += v ? "true" : "false"; },
                       [&](std::int64_t v) { text += std::to_string(v); },
                       [&](std::uint64_t v) { text += std::to_string(v); },
                       [&](double v) { json::append_number(text, v); },
                       [&](const std::string& v) { append_json_string(text, v); },
                   },
                   value);
    }

    void expression(const Expression& whole) {
        text += '{';
        std::visit(
            Overload{
                [&](const ColumnIndex& column) { key("column", std::uint64_t{column.index}); },
                [&](const Constant& constant) { value(constant.value); },
                [&](const Call& call) {
                    key("call", name_in(kFunctionNames, call.function));
                    key("arguments", call.arguments);
                },
            },
            whole.node);
        key("type", to_string(whole.type));
        flag("nullable", whole.nullable);
        text += '}';
    }

    void aggregate(const Aggregate& one) {
        text += '{';
        key("function", name_in(kAggregateNames, one.function));
        key("argument", one.argument);
        key("type", to_string(one.type));
        flag("nullable", one.nullable);
        text += '}';
    }

    void window(const WindowSpec& spec) {
        key("size", spec.size);
        key("advance", spec.advance);
    }

    void operation(const LogicalScan& op) {
        key("op", "logical_scan");
        key("source", op.source);
    }
    void operation(const SourceScan& op) {
        key("op", "source_scan");
        if (op.id) key("id", op.id->value());
        key("logical", op.logical);
        key("worker", op.worker);
        key("type", op.type);
        key("source", op.source);
        key("format", op.format);
        key("parsed", op.parsed);
        name("wanted");
        list(op.wanted, [&](std::size_t column) { text += std::to_string(column); });
    }
    void operation(const Receive& op) {
        key("op", "receive");
        key("exchange", op.exchange);
        name("senders");
        list(op.senders, [&](const std::string& sender) { append_json_string(text, sender); });
    }
    void operation(const Filter& op) {
        key("op", "filter");
        key("predicate", op.predicate);
    }
    void operation(const Project& op) {
        key("op", "project");
        key("expressions", op.expressions);
    }
    void operation(const WindowAggregate& op) {
        key("op", "window_aggregate");
        key("stage", name_in(kStageNames, op.stage));
        window(op.window);
        key("time", op.time);
        key("keys", op.keys);
        name("aggregates");
        list(op.aggregates, [&](const Aggregate& one) { aggregate(one); });
    }
    void operation(const WindowJoin& op) {
        key("op", "window_join");
        key("sides", name_in(kSideNames, op.sides));
        key("predicate", op.predicate);
        window(op.window);
        key("left_time", op.left_time);
        key("right_time", op.right_time);
    }
    void operation(const UnionAll&) { key("op", "union_all"); }
    void operation(const Send& op) {
        key("op", "send");
        key("exchange", op.exchange);
        key("to", op.to);
        key("address", op.address);
    }
    void operation(const SinkWrite& op) {
        key("op", "sink_write");
        if (op.name) key("name", *op.name);
        key("worker", op.worker);
        key("type", op.type);
        key("sink", op.sink);
        key("format", op.format);
    }
};

}  // namespace

std::string write_plan(const FragmentPlan& plan) {
    Writer writer;
    writer.fragment(plan);
    return std::move(writer.text);
}

std::string write_node(const PlanNode& root) {
    Writer writer;
    writer.node(root);
    return std::move(writer.text);
}

}  // namespace baton::plan_format
