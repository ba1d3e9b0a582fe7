#include "testing/reference/reference.h"

#include <algorithm>
#include <cmath>

#include "base/overload.h"
#include "base/text.h"
#include "core/optimizer/evaluate.h"
#include "model/aggregate_state.h"
#include "testing/reference/aggregation.h"

namespace baton::testing {

namespace {

using Rows = std::vector<Row>;

bool is_true(const Value& value) {
    const auto* known = std::get_if<bool>(&value);
    return known != nullptr && *known;
}

std::vector<std::uint64_t> starts_at(const WindowSpec& window, std::uint64_t time) {
    std::vector<std::uint64_t> starts;
    for (std::uint64_t start = time / window.advance * window.advance;;) {
        if (time - start >= window.size) return starts;
        starts.push_back(start);
        if (start < window.advance) return starts;
        start -= window.advance;
    }
}

// None for NULL and for times before 0.
std::vector<std::uint64_t> windows_of(const WindowSpec& window, std::optional<std::size_t> column,
                                      const Row& row) {
    if (!column) return starts_at(window, 0);
    const Value& time = row.at(*column);
    if (const auto* plain = std::get_if<std::uint64_t>(&time)) return starts_at(window, *plain);
    const auto* with_sign = std::get_if<std::int64_t>(&time);
    if (with_sign == nullptr || *with_sign < 0) return {};
    return starts_at(window, static_cast<std::uint64_t>(*with_sign));
}

class Run {
public:
    Run(const TestTables& tables, const std::vector<FragmentPlan>& fragments)
        : tables_(tables), fragments_(fragments) {}

    // `worker` is where the node runs.
    Result<Rows> rows_of(const PlanNode& node, const std::string& worker) const {
        std::vector<Rows> inputs;
        for (const PlanNode& input : node.inputs) {
            TRY_ASSIGN(rows, rows_of(input, worker));
            for (const Row& row : rows) CHECK(row.size() == input.schema.columns.size());
            inputs.push_back(std::move(rows));
        }
        using R = Result<Rows>;
        return std::visit(Overload{
                              [&](const LogicalScan& op) -> R { return scanned(op, node.schema); },
                              [&](const SourceScan& op) -> R { return scanned(op); },
                              [&](const Receive& op) -> R { return received(op, worker); },
                              [&](const Filter& op) -> R { return filtered(op, inputs.at(0)); },
                              [&](const Project& op) -> R { return projected(op, inputs.at(0)); },
                              [&](const WindowAggregate& op) -> R {
                                  if (op.stage == AggregateStage::final)
                                      return finished(op, inputs.at(0));
                                  return aggregated(op, inputs.at(0));
                              },
                              [&](const WindowJoin& op) -> R { return joined(op, node, inputs); },
                              [&](const UnionAll&) -> R { return united(inputs); },
                              [&](const Send&) -> R { return std::move(inputs.at(0)); },
                              [&](const SinkWrite&) -> R { return std::move(inputs.at(0)); },
                          },
                          node.op);
    }

private:
    [[nodiscard]] Rows scanned(const LogicalScan& scan, const Schema& asked) const {
        Rows rows;
        for (const auto& [id, table] : tables_) {
            if (table.logical != scan.source) continue;
            for (const Row& row : table.rows) {
                Row wanted;
                for (std::size_t i = 0; i < row.size(); ++i) {
                    const Column& column = table.schema.columns[i];
                    if (std::count(asked.columns.begin(), asked.columns.end(), column) != 0) {
                        wanted.push_back(row[i]);
                    }
                }
                rows.push_back(std::move(wanted));
            }
        }
        return rows;
    }

    [[nodiscard]] Rows scanned(const SourceScan& scan) const {
        Rows rows;
        for (const Row& row : tables_.at(scan.id.value()).rows) {
            Row wanted;
            for (const std::size_t column : scan.wanted) wanted.push_back(row.at(column));
            rows.push_back(std::move(wanted));
        }
        return rows;
    }

    [[nodiscard]] Result<Rows> received(const Receive& receive, const std::string& worker) const {
        Rows rows;
        std::vector<std::string> senders;
        for (const FragmentPlan& fragment : fragments_) {
            for (const PlanNode& root : fragment.roots) {
                const auto* send = std::get_if<Send>(&root.op);
                if (send == nullptr || send->exchange != receive.exchange) continue;
                CHECK(send->to == worker);
                senders.push_back(fragment.worker);
                TRY_ASSIGN(sent, rows_of(root, fragment.worker));
                rows.insert(rows.end(), sent.begin(), sent.end());
            }
        }
        std::sort(senders.begin(), senders.end());
        CHECK(senders == receive.senders);
        return rows;
    }

    static Result<Rows> filtered(const Filter& filter, const Rows& input) {
        Rows rows;
        for (const Row& row : input) {
            TRY_ASSIGN(keep, optimizer::evaluate(filter.predicate, row));
            if (is_true(keep)) rows.push_back(row);
        }
        return rows;
    }

    static Result<Row> computed(const std::vector<Expression>& expressions, const Row& row) {
        Row result;
        for (const Expression& expression : expressions) {
            TRY_ASSIGN(value, optimizer::evaluate(expression, row));
            result.push_back(std::move(value));
        }
        return result;
    }

    static Result<Rows> projected(const Project& project, const Rows& input) {
        Rows rows;
        for (const Row& row : input) {
            TRY_ASSIGN(result, computed(project.expressions, row));
            rows.push_back(std::move(result));
        }
        return rows;
    }

    // Whole results or, of a partial, states.
    static Result<Rows> aggregated(const WindowAggregate& op, const Rows& input) {
        // By START, END and keys: the arguments of each aggregate, row by row.
        std::map<Row, std::vector<std::vector<Value>>> groups;
        for (const Row& row : input) {
            const auto starts = windows_of(op.window, op.time, row);
            if (starts.empty()) continue;
            TRY_ASSIGN(keys, computed(op.keys, row));
            for (const std::uint64_t start : starts) {
                Row group = {start, start + op.window.size};
                group.insert(group.end(), keys.begin(), keys.end());
                auto& values = groups[group];
                values.resize(op.aggregates.size());
                for (std::size_t i = 0; i < op.aggregates.size(); ++i) {
                    TRY_ASSIGN(arguments, computed(op.aggregates[i].argument, row));
                    values[i].push_back(arguments.empty() ? Value(true) : arguments.front());
                }
            }
        }
        Rows rows;
        for (const auto& [group, values] : groups) {
            Row row = group;
            for (std::size_t i = 0; i < op.aggregates.size(); ++i) {
                if (op.stage == AggregateStage::whole) {
                    row.push_back(whole_of(op.aggregates[i], values[i]));
                    continue;
                }
                const auto state = state_over(op.aggregates[i], values[i]);
                row.insert(row.end(), state.begin(), state.end());
            }
            rows.push_back(std::move(row));
        }
        return rows;
    }

    static Result<Rows> finished(const WindowAggregate& op, const Rows& input) {
        const auto keys_end = static_cast<std::ptrdiff_t>(2 + op.keys.size());
        std::map<Row, Rows> groups;
        for (const Row& row : input) {
            groups[Row(row.begin(), row.begin() + keys_end)].emplace_back(row.begin() + keys_end,
                                                                          row.end());
        }
        Rows rows;
        for (const auto& [group, all] : groups) {
            Row row = group;
            std::ptrdiff_t at = 0;
            for (const Aggregate& aggregate : op.aggregates) {
                const auto size = static_cast<std::ptrdiff_t>(states_of(aggregate, "")->size());
                Rows states;
                for (const Row& state : all) {
                    states.emplace_back(state.begin() + at, state.begin() + at + size);
                }
                row.push_back(result_of(aggregate, states));
                at += size;
            }
            rows.push_back(std::move(row));
        }
        return rows;
    }

    static std::map<std::uint64_t, Rows> by_window(const WindowSpec& window,
                                                   std::optional<std::size_t> time,
                                                   const Rows& rows) {
        std::map<std::uint64_t, Rows> result;
        for (const Row& row : rows) {
            for (const std::uint64_t start : windows_of(window, time, row)) {
                result[start].push_back(row);
            }
        }
        return result;
    }

    static Result<Rows> joined(const WindowJoin& join, const PlanNode& node,
                               const std::vector<Rows>& inputs) {
        auto left = by_window(join.window, join.left_time, inputs.at(0));
        auto right = by_window(join.window, join.right_time, inputs.at(1));
        for (const auto& [start, rows] : left) right.try_emplace(start);
        for (const auto& [start, rows] : right) left.try_emplace(start);
        const Row no_left(node.inputs[0].schema.columns.size());
        const Row no_right(node.inputs[1].schema.columns.size());
        Rows result;
        for (const auto& [start, left_rows] : left) {
            const auto give = [&, start = start](const Row& a, const Row& b) {
                Row row = {start, start + join.window.size};
                row.insert(row.end(), a.begin(), a.end());
                row.insert(row.end(), b.begin(), b.end());
                result.push_back(std::move(row));
            };
            const Rows& right_rows = right.at(start);
            std::vector<bool> matched(right_rows.size());
            for (const Row& a : left_rows) {
                bool found = false;
                for (std::size_t i = 0; i < right_rows.size(); ++i) {
                    Row both = a;
                    both.insert(both.end(), right_rows[i].begin(), right_rows[i].end());
                    TRY_ASSIGN(match, optimizer::evaluate(join.predicate, both));
                    if (!is_true(match)) continue;
                    give(a, right_rows[i]);
                    found = true;
                    matched[i] = true;
                }
                const bool keep = join.sides == JoinSides::left || join.sides == JoinSides::full;
                if (!found && keep) give(a, no_right);
            }
            const bool keep = join.sides == JoinSides::right || join.sides == JoinSides::full;
            for (std::size_t i = 0; keep && i < right_rows.size(); ++i) {
                if (!matched[i]) give(no_left, right_rows[i]);
            }
        }
        return result;
    }

    static Rows united(const std::vector<Rows>& inputs) {
        Rows rows;
        for (const Rows& input : inputs) rows.insert(rows.end(), input.begin(), input.end());
        return rows;
    }

    const TestTables& tables_;
    const std::vector<FragmentPlan>& fragments_;
};

Result<Rows> sorted(Result<Rows> rows) {
    if (rows) std::sort(rows->begin(), rows->end());
    return rows;
}

bool same(const Value& a, const Value& b) {
    const auto* left = std::get_if<double>(&a);
    const auto* right = std::get_if<double>(&b);
    if (left == nullptr || right == nullptr) return a == b;
    constexpr double kNear = 1e-9;
    return std::abs(*left - *right) <= kNear * std::max({1.0, std::abs(*left), std::abs(*right)});
}

}  // namespace

Result<Rows> rows_of(const PlanNode& root, const TestTables& tables) {
    static const std::vector<FragmentPlan> kNone;
    return sorted(Run(tables, kNone).rows_of(root, ""));
}

Result<Rows> rows_of(const std::vector<FragmentPlan>& fragments, const TestTables& tables) {
    for (const FragmentPlan& fragment : fragments) {
        for (const PlanNode& root : fragment.roots) {
            if (!std::holds_alternative<SinkWrite>(root.op)) continue;
            return sorted(Run(tables, fragments).rows_of(root, fragment.worker));
        }
    }
    return Error{.code = ErrorCode::defect, .message = "no fragment has a sink"};
}

bool same_rows(const Rows& a, const Rows& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Row& x, const Row& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
    });
}

std::string to_string(const Rows& rows) {
    std::string text;
    for (const Row& row : rows) {
        std::vector<std::string> cells;
        for (const Value& value : row) {
            cells.push_back(std::visit(Overload{
                                           [](std::monostate) -> std::string { return "NULL"; },
                                           [](const std::string& v) { return "'" + v + "'"; },
                                           [](const auto& v) { return std::to_string(v); },
                                       },
                                       value));
        }
        text += join(cells, ", ") + "\n";
    }
    return text;
}

}  // namespace baton::testing
