// The aggregates of the dialect, and how the expressions of an aggregation are gathered.
//
//   COUNT(*) COUNT(x) COUNT(DISTINCT x)   anything; UINT64, never NULL
//   SUM                                   a number; INT64 or UINT64, floats keep their type
//   AVG MEDIAN                            a number; FLOAT64
//   STDDEV VARIANCE                       a number; FLOAT64, of a sample: NULL for a single row
//   MIN MAX                               a number; its own type
//   FIRST LAST                            anything; its own type
//
// Where nothing else is said, a result can be NULL if the argument can: no window is empty.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/operators.h"
#include "core/analysis/scope.h"
#include "model/plan.h"

namespace baton::analysis {

[[nodiscard]] std::span<const std::string_view> aggregate_names();
[[nodiscard]] bool is_aggregate(std::string_view function);

// `whole` holds a Call of an aggregate; `arguments` are its arguments.
// Fails with arity, type_mismatch, type_inference.
[[nodiscard]] Result<Aggregate> make_aggregate(const sql::Expr& whole,
                                               std::vector<Operand> arguments);

// Of keys, and of different aggregates: every expression is compared with all of them.
inline constexpr std::size_t kGroupingMax = 1000;

// The expressions of a SELECT with a window are bound in two steps, because whether a column may
// stand in them is known only when the whole is: GROUP BY A + 1 allows A + 1, but not A.
//
// First they are expressions over `before`: the columns of the input, START, END, then one column
// per aggregate, each distinct aggregate once. Then `after_grouping` makes them expressions over
// the output of the WindowAggregate: START, END, the keys, the aggregates.
class Grouping {
public:
    Grouping(const Scope& input, std::vector<Expression> keys);

    [[nodiscard]] const Scope& input() const { return input_; }
    // The columns of the input, START, END.
    [[nodiscard]] const Scope& before() const { return before_; }
    [[nodiscard]] const std::vector<Expression>& keys() const { return keys_; }
    [[nodiscard]] const std::vector<Aggregate>& aggregates() const { return aggregates_; }
    // Names of the columns of aggregates: FIELD_AGG, such as I_SUM; the aggregate of an expression
    // is _AGG_INPUT_0_SUM, counting those; COUNT(*) is COUNT.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

    // The column of that aggregate in the first step; one that is there already is not added.
    Expression column_of(Aggregate aggregate, const sql::Call& written);
    // Notes that a column of the input stands outside of aggregates.
    void stands_outside(std::size_t column, Position at) { outside_.try_emplace(column, at); }

    // Whether the expression, of the first step, is a key or a bound of the window.
    [[nodiscard]] bool is_grouped(const Expression& expression) const;

    // The second step. Fails with schema for a column that is neither grouped nor aggregated.
    [[nodiscard]] Result<Expression> after_grouping(const Expression& expression) const;

private:
    // The key that stands in a chain of AND or OR at that place: one in parentheses becomes part of
    // the chain around it.
    [[nodiscard]] std::optional<std::size_t> key_within(const Call& chain, std::size_t from) const;

    const Scope& input_;
    Scope before_;
    std::vector<Expression> keys_;
    std::vector<Aggregate> aggregates_;
    std::vector<std::string> names_;
    std::size_t computed_ = 0;  // aggregates of expressions
    std::map<std::size_t, Position> outside_;
};

}  // namespace baton::analysis
