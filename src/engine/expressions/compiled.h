// A CompiledExpression computes an expression over all rows of a batch at once.
//
// Its meaning is that of core/optimizer/evaluate, and where that leaves the answer to the engine:
//   - Whole numbers wrap around in the width of their type. Integer division truncates; division
//     and modulo by zero, and ABS of the smallest integer, fail with arithmetic (3013).
//   - Real numbers follow IEEE: division by zero gives infinity or NaN, which IS NaN tells.
//   - A cast between whole numbers keeps the low bits. From a real number it cuts off the fraction;
//     a value outside the range becomes the nearest end of it, and NaN becomes 0.
//   - A number as text is what CSV prints: reals with six decimals less trailing zeros, at least
//     one. Text that is no number of the wanted type, no time, or no base64 of valid UTF-8 fails
//     with cannot_format (4003).
//   - Everything of NULL is NULL but for IS NULL, and AND, OR, BETWEEN, IN and CONDITIONAL where
//     the rest decides.
//   - AND, OR and CONDITIONAL ask an argument only about the rows that it can still change, so that
//     `b <> 0 AND a / b > 1` never fails.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/columns/batch.h"
#include "model/expression.h"

namespace baton::expressions {

class Node;

class CompiledExpression {
public:
    // Fails with not_supported if a function has no meaning for the types it is given.
    [[nodiscard]] static Result<CompiledExpression> compile(const Expression& expression);

    CompiledExpression(CompiledExpression&&) noexcept;
    CompiledExpression& operator=(CompiledExpression&&) noexcept;
    ~CompiledExpression();

    // A column with as many rows as the batch. From any thread.
    [[nodiscard]] Result<engine::ColumnVector> evaluate(const engine::Batch& batch) const;
    // Of a BOOLEAN: the rows where it is TRUE, in order.
    [[nodiscard]] Result<std::vector<std::uint32_t>> select(const engine::Batch& batch) const;

    // Whether there are rows that make it fail.
    [[nodiscard]] bool can_fail() const;

private:
    explicit CompiledExpression(std::unique_ptr<const expressions::Node> root, DataType type);

    std::unique_ptr<const expressions::Node> root_;
    DataType type_ = DataType::int64;
};

// Whether some row could make the expression fail.
[[nodiscard]] bool fails_for_some(const Expression& expression);

}  // namespace baton::expressions
