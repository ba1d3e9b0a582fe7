#include <cmath>
#include <cstring>
#include <type_traits>

#include "engine/columns/elements.h"
#include "engine/expressions/kernels.h"
#include "engine/expressions/loops.h"

namespace baton::expressions {

namespace {

struct Equal {
    template <class T>
    static bool apply(const T& a, const T& b) {
        return a == b;
    }
};
struct NotEqual {
    template <class T>
    static bool apply(const T& a, const T& b) {
        return a != b;
    }
};
struct Less {
    template <class T>
    static bool apply(const T& a, const T& b) {
        return a < b;
    }
};
struct LessEqual {
    template <class T>
    static bool apply(const T& a, const T& b) {
        return a <= b;
    }
};
struct Greater {
    template <class T>
    static bool apply(const T& a, const T& b) {
        return a > b;
    }
};
struct GreaterEqual {
    template <class T>
    static bool apply(const T& a, const T& b) {
        return a >= b;
    }
};

template <class T, class Op>
engine::ColumnVector compared(const Operand& a, const Operand& b, std::size_t rows) {
    const Operand both[] = {a, b};
    if (any_null_constant(both)) return nulls(DataType::boolean, rows);
    engine::ColumnVector out(DataType::boolean, rows);
    each_pair<T>(a, b, rows, out.mutable_data<std::uint8_t>(),
                 [](const T& x, const T& y) { return static_cast<std::uint8_t>(Op::apply(x, y)); });
    take_nulls(out, both);
    return out;
}

template <class T, class Op>
Result<engine::ColumnVector> comparison(const Arguments& of) {
    return compared<T, Op>(of.operands[0], of.operands[1], of.rows);
}

bool all_constant(const Operand& a, const Operand& b) {
    return a.constant && b.constant;
}

// A column of the comparison, as an operand: of constants it has one row.
template <class T, class Op>
Operand part(const Operand& a, const Operand& b, std::size_t rows) {
    const bool constant = all_constant(a, b);
    return {.column = compared<T, Op>(a, b, constant ? 1 : rows), .constant = constant};
}

template <class T>
Result<engine::ColumnVector> between(const Arguments& of) {
    const Operand ends[] = {part<T, GreaterEqual>(of.operands[0], of.operands[1], of.rows),
                            part<T, LessEqual>(of.operands[0], of.operands[2], of.rows)};
    return decided(ends, of.rows, false);
}

template <class T>
Result<engine::ColumnVector> in_list(const Arguments& of) {
    Operand found{.column = engine::ColumnVector(DataType::boolean, of.rows), .constant = false};
    for (std::size_t i = 1; i < of.operands.size(); ++i) {
        const Operand either[] = {found, part<T, Equal>(of.operands[0], of.operands[i], of.rows)};
        found.column = decided(either, of.rows, true);
    }
    return std::move(found.column);
}

Result<engine::ColumnVector> is_null(const Arguments& of) {
    engine::ColumnVector out(DataType::boolean, of.rows);
    if (const std::uint8_t* valid = of.operands[0].column.valid()) {
        std::uint8_t* values = out.mutable_data<std::uint8_t>();
        for (std::size_t i = 0; i < of.rows; ++i) values[i] = valid[i] ^ 1U;
    }
    return out;
}

template <class T>
Result<engine::ColumnVector> is_nan(const Arguments& of) {
    engine::ColumnVector out(DataType::boolean, of.rows);
    if constexpr (std::is_floating_point_v<T>) {
        each<T>(of.operands[0], of.rows, out.mutable_data<std::uint8_t>(),
                [](T a) { return static_cast<std::uint8_t>(std::isnan(a)); });
    }
    take_nulls(out, of.operands);
    return out;
}

template <class T>
Kernel comparison_of(Function function) {
    if (function == Function::equal) return comparison<T, Equal>;
    if (function == Function::not_equal) return comparison<T, NotEqual>;
    if (function == Function::less) return comparison<T, Less>;
    if (function == Function::less_equal) return comparison<T, LessEqual>;
    if (function == Function::greater) return comparison<T, Greater>;
    if (function == Function::greater_equal) return comparison<T, GreaterEqual>;
    if (function == Function::between) return between<T>;
    if (function == Function::in_list) return in_list<T>;
    return function == Function::is_nan ? is_nan<T> : nullptr;
}

Result<engine::ColumnVector> inverted(const Arguments& of) {
    engine::ColumnVector out(DataType::boolean, of.rows);
    each<std::uint8_t>(of.operands[0], of.rows, out.mutable_data<std::uint8_t>(),
                       [](std::uint8_t a) { return static_cast<std::uint8_t>(a ^ 1U); });
    take_nulls(out, of.operands);
    return out;
}

}  // namespace

Kernel comparison_kernel(Function function, DataType type) {
    if (function == Function::is_null) return is_null;
    return engine::with_element(type, [&](auto* none) -> Kernel {
        return comparison_of<std::remove_pointer_t<decltype(none)>>(function);
    });
}

Kernel not_kernel() {
    return inverted;
}

}  // namespace baton::expressions
