// Plans and expressions written by hand, for tests: types and schemas are filled in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/plan.h"

namespace baton::testing {

// ---- expressions --------------------------------------------------------------------------------

[[nodiscard]] Expression column(const PlanNode& of, std::size_t index);
[[nodiscard]] Expression column(const Schema& schema, std::size_t index);
// A column of a join's predicate: left columns, then right ones.
[[nodiscard]] Expression join_column(const PlanNode& left, const PlanNode& right,
                                     std::size_t index);
[[nodiscard]] Expression number(std::int64_t value);  // INT64
[[nodiscard]] Expression truth(bool value);
[[nodiscard]] Expression null_of(DataType type);
// BOOLEAN for comparisons and logic, else the type of the last argument.
[[nodiscard]] Expression call(Function function, std::vector<Expression> arguments);
[[nodiscard]] Expression cast_to(DataType type, Expression argument);

// ---- operators ----------------------------------------------------------------------------------

[[nodiscard]] PlanNode logical_scan(const std::string& source, const Schema& schema);
[[nodiscard]] PlanNode source_scan(std::uint64_t id, const std::string& logical,
                                   const std::string& worker, const Schema& schema);
[[nodiscard]] PlanNode filter(PlanNode input, Expression predicate);
[[nodiscard]] PlanNode project(PlanNode input, std::vector<Expression> expressions,
                               std::vector<std::string> names = {});
[[nodiscard]] Aggregate aggregate(AggregateFunction function,
                                  std::optional<Expression> argument = {});
[[nodiscard]] PlanNode window_aggregate(PlanNode input, WindowSpec window,
                                        std::optional<std::size_t> time,
                                        std::vector<Expression> keys,
                                        std::vector<Aggregate> aggregates);
struct JoinOn {
    JoinSides sides = JoinSides::inner;
    Expression predicate;
    WindowSpec window;
    std::optional<std::size_t> left_time;
    std::optional<std::size_t> right_time;
};
[[nodiscard]] PlanNode window_join(PlanNode left, PlanNode right, JoinOn on);
[[nodiscard]] PlanNode union_all(std::vector<PlanNode> inputs);
[[nodiscard]] PlanNode sink(PlanNode input, const std::string& worker = "HUB");

}  // namespace baton::testing
