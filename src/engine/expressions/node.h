// The parts of compiled expressions: nodes that give a column each, and the kernels that compute
// one column from others.
//
// Rules:
//   - A constant stands for every row and has one element; a kernel whose arguments are all
//     constant is asked for one row.
//   - Where the result is NULL, the value underneath is zero or an empty text.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "engine/columns/batch.h"

namespace baton::expressions {

struct Operand {
    engine::ColumnVector column;
    bool constant = false;

    [[nodiscard]] bool is_null_constant() const { return constant && column.is_null(0); }
};

struct Arguments {
    std::span<const Operand> operands;
    std::size_t rows = 0;
    DataType type = DataType::int64;  // of the result
};

using Kernel = Result<engine::ColumnVector> (*)(const Arguments&);

class Node {
public:
    virtual ~Node() = default;
    // Over all rows of a batch that has some.
    [[nodiscard]] virtual Result<Operand> run(const engine::Batch& batch) const = 0;
    [[nodiscard]] virtual bool can_fail() const = 0;
};

// The elements, one for each row.
[[nodiscard]] engine::ColumnVector expanded(const Operand& operand, std::size_t rows);
// Nothing but NULL.
[[nodiscard]] engine::ColumnVector nulls(DataType type, std::size_t rows);

// NULL in `out` wherever an argument is; the value there becomes zero or an empty text.
void take_nulls(engine::ColumnVector& out, std::span<const Operand> operands);
// Only where they are: afterwards take_nulls has nothing left to do but to clear.
void mark_nulls(engine::ColumnVector& out, std::span<const Operand> operands);
void clear_under_nulls(engine::ColumnVector& out);

[[nodiscard]] inline bool any_null_constant(std::span<const Operand> operands) {
    for (const Operand& operand : operands) {
        if (operand.is_null_constant()) return true;
    }
    return false;
}

// Kleene's AND (`decides` false) or OR (`decides` true) of columns of BOOLEAN.
[[nodiscard]] engine::ColumnVector decided(std::span<const Operand> operands, std::size_t rows,
                                           bool decides);

}  // namespace baton::expressions
