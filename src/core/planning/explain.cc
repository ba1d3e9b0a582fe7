#include "core/planning/explain.h"

#include <algorithm>
#include <array>

#include "base/overload.h"
#include "base/text.h"
#include "core/descriptors/descriptors.h"
#include "core/plan_format/plan_format.h"
#include "model/table_sink.h"
#include "sql/printer.h"

namespace baton::planning {

namespace {

using Words = std::vector<std::string>;

// ---- secrets ------------------------------------------------------------------------------------

Config masked_as(descriptors::DescriptorKind kind, const std::string& type, Config config) {
    const auto found = descriptors::descriptor_of(kind, type);
    if (found) return descriptors::masked(**found, std::move(config));
    return descriptors::masked(descriptors::Descriptor{}, std::move(config));
}

std::string format_of(const Config& format) {
    const auto type = format.find("TYPE");
    const auto* name = type == format.end() ? nullptr : std::get_if<std::string>(&type->second);
    return name == nullptr ? "" : *name;
}

PlanNode without_secrets(PlanNode node) {
    if (auto* scan = std::get_if<SourceScan>(&node.op)) {
        scan->source =
            masked_as(descriptors::DescriptorKind::source, scan->type, std::move(scan->source));
        const std::string format = format_of(scan->format);
        scan->format =
            masked_as(descriptors::DescriptorKind::input_format, format, std::move(scan->format));
    }
    if (auto* sink = std::get_if<SinkWrite>(&node.op)) {
        sink->sink =
            masked_as(descriptors::DescriptorKind::sink, sink->type, std::move(sink->sink));
        const std::string format = format_of(sink->format);
        sink->format =
            masked_as(descriptors::DescriptorKind::output_format, format, std::move(sink->format));
    }
    for (PlanNode& input : node.inputs) input = without_secrets(std::move(input));
    return node;
}

// ---- words --------------------------------------------------------------------------------------

std::string text_of(const Schema& schema) {
    Words columns;
    for (const Column& column : schema.columns) {
        columns.push_back(printed_name(column.name) + " " + std::string(to_string(column.type)) +
                          (column.nullable ? "" : " NOT NULL"));
    }
    return "(" + join(columns, ", ") + ")";
}

std::string text_of(const ConfigValue& value) {
    return std::visit(Overload{
                          [](bool v) -> std::string { return v ? "TRUE" : "FALSE"; },
                          [](std::int64_t v) { return std::to_string(v); },
                          [](double v) { return std::to_string(v); },
                          [](const std::string& v) { return sql::print(sql::Literal(v)); },
                      },
                      value);
}

// The options that are not as they would be by default: ", FILE_PATH = 'in.csv'".
std::string options_of(descriptors::DescriptorKind kind, const std::string& type,
                       const Config& config) {
    const auto found = descriptors::descriptor_of(kind, type);
    std::string text;
    for (const auto& [key, value] : config) {
        if (key == "TYPE") continue;
        bool by_default = false;
        if (found) {
            for (const descriptors::Option& option : (*found)->options) {
                if (option.key == key) by_default = option.default_value == value;
            }
        }
        if (!by_default) text += ", " + key + " = " + text_of(value);
    }
    return text;
}

std::string place_of(const std::string& worker) {
    return worker.empty() ? "" : " ON " + printed_name(worker);
}

std::string named(const Expression& expression, const Schema& input, const Column& column) {
    const std::string text = to_string(expression, input);
    const std::string name = printed_name(column.name);
    return text == name ? text : text + " AS " + name;
}

std::string window_of(const WindowSpec& window, const Words& times) {
    const bool tumbling = window.size == window.advance;
    Words parts = times;
    parts.push_back("SIZE " + std::to_string(window.size) + " MS");
    if (!tumbling) parts.push_back("ADVANCE BY " + std::to_string(window.advance) + " MS");
    return std::string(tumbling ? " TUMBLING(" : " SLIDING(") + join(parts, ", ") + ")";
}

std::string text_of(const Aggregate& aggregate, const Schema& input) {
    static constexpr std::array<std::string_view, 12> kNames = {
        "COUNT", "COUNT",  "COUNT",  "SUM",      "MIN",   "MAX",
        "AVG",   "MEDIAN", "STDDEV", "VARIANCE", "FIRST", "LAST"};
    std::string argument = "*";
    if (!aggregate.argument.empty()) argument = to_string(aggregate.argument.front(), input);
    const bool distinct = aggregate.function == AggregateFunction::count_distinct;
    return std::string(kNames.at(static_cast<std::size_t>(aggregate.function))) + "(" +
           (distinct ? "DISTINCT " : "") + argument + ")";
}

// ---- operators ----------------------------------------------------------------------------------

std::string line_of(const SourceScan& op, const PlanNode& node) {
    std::string text = op.id ? "SOURCE " + to_string(*op.id) + " OF " + printed_name(op.logical)
                             : std::string("INLINE SOURCE");
    text += " " + op.type + place_of(op.worker) + " " + text_of(node.schema);
    if (op.wanted.size() < op.parsed.columns.size()) {
        text += " OF " + std::to_string(op.parsed.columns.size()) + " COLUMNS";
    }
    const std::string format = format_of(op.format);
    text += options_of(descriptors::DescriptorKind::source, op.type, op.source);
    if (!format.empty()) text += ", " + format;
    return text + options_of(descriptors::DescriptorKind::input_format, format, op.format);
}

// A logical plan does not know yet where the table is written, and how.
std::string line_of_table(const SinkWrite& op, const PlanNode& node) {
    std::string text = "TABLE " + printed_name(op.name.value_or("")) + place_of(op.worker) + " " +
                       text_of(node.schema);
    for (const auto& [key, value] : op.sink) {
        if (key != kTableStamp && key != kTableReplaces && key != kTableManaged)
            text += ", " + key + " = " + text_of(value);
    }
    const auto replaces = op.sink.find(kTableReplaces);
    if (replaces == op.sink.end()) return text;
    return text + (std::get<bool>(replaces->second)
                       ? ", A NEW RUN REPLACES THE ROWS OF EARLIER RUNS"
                       : ", A NEW RUN KEEPS THE ROWS OF EARLIER RUNS");
}

std::string line_of(const SinkWrite& op, const PlanNode& node) {
    if (op.type == kTableSink) return line_of_table(op, node);
    std::string text = op.name ? "SINK " + printed_name(*op.name) : std::string("INLINE SINK");
    text += " " + op.type + place_of(op.worker) + " " + text_of(node.schema);
    const std::string format = format_of(op.format);
    text += options_of(descriptors::DescriptorKind::sink, op.type, op.sink);
    if (!format.empty()) text += ", " + format;
    return text + options_of(descriptors::DescriptorKind::output_format, format, op.format);
}

std::string line_of(const Project& op, const PlanNode& node) {
    Words items;
    for (std::size_t i = 0; i < op.expressions.size(); ++i) {
        items.push_back(named(op.expressions[i], node.inputs[0].schema, node.schema.columns.at(i)));
    }
    return "PROJECT " + join(items, ", ");
}

// The aggregates of a final read states, which have no names of their own.
std::string line_of(const WindowAggregate& op, const PlanNode& node) {
    const Schema& input = node.inputs[0].schema;
    const std::size_t keys_end = 2 + op.keys.size();
    const bool partial = op.stage == AggregateStage::partial;
    const bool final = op.stage == AggregateStage::final;
    Words items;
    for (std::size_t i = 0; i < op.aggregates.size(); ++i) {
        std::string text = text_of(op.aggregates[i], input);
        if (final) text.resize(text.find('('));
        if (!partial) text += " AS " + printed_name(node.schema.columns.at(keys_end + i).name);
        items.push_back(std::move(text));
    }
    Words keys;
    for (std::size_t i = 0; i < op.keys.size(); ++i) {
        keys.push_back(named(op.keys[i], input, node.schema.columns.at(2 + i)));
    }
    Words times;
    if (op.time) times.push_back(printed_name(input.columns.at(*op.time).name));
    std::string text = partial ? "PARTIAL AGGREGATE" : final ? "FINAL AGGREGATE" : "AGGREGATE";
    if (!items.empty()) text += " " + join(items, ", ");
    if (!keys.empty()) text += " BY " + join(keys, ", ");
    return text + window_of(op.window, times);
}

// The columns of both sides; a name that both have is told apart as L_ and R_.
Schema sides_of(const PlanNode& node) {
    const auto has = [](const Schema& schema, const std::string& name) {
        return std::any_of(schema.columns.begin(), schema.columns.end(),
                           [&](const Column& column) { return column.name == name; });
    };
    const Schema& left = node.inputs.at(0).schema;
    const Schema& right = node.inputs.at(1).schema;
    Schema both = left;
    for (Column& column : both.columns) {
        if (has(right, column.name)) column.name = "L_" + column.name;
    }
    for (Column column : right.columns) {
        if (has(left, column.name)) column.name = "R_" + column.name;
        both.columns.push_back(std::move(column));
    }
    return both;
}

std::string line_of(const WindowJoin& op, const PlanNode& node) {
    static constexpr std::array<std::string_view, 4> kSides = {"INNER", "LEFT", "RIGHT", "FULL"};
    const Schema both = sides_of(node);
    const std::size_t left = node.inputs[0].schema.columns.size();
    Words times;
    if (op.left_time) times.push_back(printed_name(both.columns.at(*op.left_time).name));
    if (op.right_time) times.push_back(printed_name(both.columns.at(left + *op.right_time).name));
    return std::string(kSides.at(static_cast<std::size_t>(op.sides))) + " JOIN ON " +
           to_string(op.predicate, both) + window_of(op.window, times);
}

std::string line_of(const Receive& op, const PlanNode& node) {
    Words senders;
    for (const std::string& sender : op.senders) senders.push_back(printed_name(sender));
    return "RECEIVE " + std::to_string(op.exchange) + " FROM " + join(senders, ", ") + " " +
           text_of(node.schema);
}

std::string line_of(const PlanNode& node) {
    return std::visit(Overload{
                          [&](const LogicalScan& op) {
                              return "SCAN " + printed_name(op.source) + " " + text_of(node.schema);
                          },
                          [&](const Filter& op) {
                              return "FILTER " + to_string(op.predicate, node.inputs[0].schema);
                          },
                          [&](const UnionAll&) { return std::string("UNION"); },
                          [&](const Send& op) {
                              return "SEND " + std::to_string(op.exchange) + " TO " +
                                     printed_name(op.to);
                          },
                          [&](const SourceScan& op) { return line_of(op, node); },
                          [&](const Receive& op) { return line_of(op, node); },
                          [&](const Project& op) { return line_of(op, node); },
                          [&](const WindowAggregate& op) { return line_of(op, node); },
                          [&](const WindowJoin& op) { return line_of(op, node); },
                          [&](const SinkWrite& op) { return line_of(op, node); },
                      },
                      node.op);
}

void draw(const PlanNode& node, const std::string& first, const std::string& rest, Words& lines) {
    lines.push_back(first + line_of(node));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const bool last = i + 1 == node.inputs.size();
        draw(node.inputs[i], rest + (last ? "└─ " : "├─ "), rest + (last ? "   " : "│  "), lines);
    }
}

// From where the data comes to where it goes.
std::vector<std::size_t> in_order(const PlanSteps& steps) {
    std::vector<std::size_t> order(steps.fragments.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return steps.stages[a] > steps.stages[b];
    });
    return order;
}

Explained explain_plan(std::string level, const PlanNode& root) {
    Explained result{.level = std::move(level), .text = tree_of(root), .json = {}};
    result.json = "{\"level\":\"" + result.level +
                  "\",\"plan\":" + plan_format::write_node(without_secrets(root)) + "}";
    return result;
}

Explained explain_fragments(const PlanSteps& steps) {
    Explained result{.level = "DISTRIBUTED", .text = {}, .json = {}};
    for (const std::size_t i : in_order(steps)) {
        FragmentPlan fragment = steps.fragments[i];
        const std::string stage = std::to_string(steps.stages[i]);
        result.text.push_back("FRAGMENT ON " + printed_name(fragment.worker) + ", STAGE " + stage);
        for (PlanNode& root : fragment.roots) {
            root = without_secrets(std::move(root));
            draw(root, "  ", "  ", result.text);
        }
        result.json += (result.json.empty() ? "" : ",") + std::string("{\"stage\":") + stage +
                       ",\"fragment\":" + plan_format::write_plan(fragment) + "}";
    }
    result.json = "{\"level\":\"DISTRIBUTED\",\"fragments\":[" + result.json + "]}";
    return result;
}

}  // namespace

std::vector<std::string> tree_of(const PlanNode& root) {
    Words lines;
    draw(without_secrets(root), "", "", lines);
    return lines;
}

Explained explain(sql::ExplainLevel level, const PlanSteps& steps) {
    switch (level) {
        case sql::ExplainLevel::logical:
            return explain_plan("LOGICAL", steps.logical);
        case sql::ExplainLevel::optimized:
            return explain_plan("OPTIMIZED", steps.optimized);
        case sql::ExplainLevel::distributed:
            return explain_fragments(steps);
    }
    CHECK(false && "an unknown level");
}

}  // namespace baton::planning
