#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/columns/elements.h"
#include "engine/expressions/kernels.h"
#include "engine/expressions/loops.h"

namespace baton::expressions {

namespace {

Error fails(const char* why) {
    return Error{.code = ErrorCode::arithmetic, .message = why};
}

// Wide enough that nothing is promoted to a type that must not overflow.
template <class T>
struct Wide {
    using type = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
};
template <>
struct Wide<float> {
    using type = float;
};
template <>
struct Wide<double> {
    using type = double;
};

template <class T, class Op>
T wrapped(T a, T b, Op op) {
    using W = typename Wide<T>::type;
    return static_cast<T>(op(static_cast<W>(a), static_cast<W>(b)));
}

struct Add {
    template <class T>
    static T apply(T a, T b) {
        return wrapped(a, b, [](auto x, auto y) { return x + y; });
    }
};
struct Subtract {
    template <class T>
    static T apply(T a, T b) {
        return wrapped(a, b, [](auto x, auto y) { return x - y; });
    }
};
struct Multiply {
    template <class T>
    static T apply(T a, T b) {
        return wrapped(a, b, [](auto x, auto y) { return x * y; });
    }
};

template <class T, class Op>
Result<engine::ColumnVector> total(const Arguments& of) {
    if (any_null_constant(of.operands)) return nulls(of.type, of.rows);
    engine::ColumnVector out(of.type, of.rows);
    each_pair<T>(of.operands[0], of.operands[1], of.rows, out.mutable_data<T>(),
                 [](T a, T b) { return Op::apply(a, b); });
    take_nulls(out, of.operands);
    return out;
}

// Never of zero.
template <class T, bool kModulo>
T divided(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return kModulo ? std::fmod(a, b) : a / b;
    } else {
        if constexpr (std::is_signed_v<T>) {
            // The quotient of the smallest integer wraps around to itself.
            if (b == static_cast<T>(-1)) return kModulo ? T{0} : Subtract::apply(T{0}, a);
        }
        return static_cast<T>(kModulo ? a % b : a / b);
    }
}

template <class T, bool kModulo>
Result<engine::ColumnVector> division(const Arguments& of) {
    if (any_null_constant(of.operands)) return nulls(of.type, of.rows);
    engine::ColumnVector out(of.type, of.rows);
    mark_nulls(out, of.operands);
    if constexpr (std::is_integral_v<T>) {
        const Operand& by = of.operands[1];
        const T* divisors = by.column.data<T>();
        const std::uint8_t* valid = out.valid();
        bool zero = false;
        for (std::size_t i = 0; i < of.rows; ++i) {
            const bool is_zero = divisors[by.constant ? 0 : i] == T{0};
            zero |= is_zero && (valid == nullptr || valid[i] != 0);
        }
        if (zero) return fails("division by zero");
        each_pair<T>(of.operands[0], by, of.rows, out.mutable_data<T>(),
                     [](T a, T b) { return divided<T, kModulo>(a, b == T{0} ? T{1} : b); });
    } else {
        each_pair<T>(of.operands[0], of.operands[1], of.rows, out.mutable_data<T>(),
                     [](T a, T b) { return divided<T, kModulo>(a, b); });
    }
    clear_under_nulls(out);
    return out;
}

template <class T>
Result<engine::ColumnVector> negation(const Arguments& of) {
    engine::ColumnVector out(of.type, of.rows);
    each<T>(of.operands[0], of.rows, out.mutable_data<T>(), [](T a) {
        if constexpr (std::is_floating_point_v<T>) {
            return -a;
        } else {
            return Subtract::apply(T{0}, a);
        }
    });
    take_nulls(out, of.operands);
    return out;
}

template <class T>
Result<engine::ColumnVector> absolute(const Arguments& of) {
    if constexpr (std::is_unsigned_v<T>) {
        return of.operands[0].column;
    } else {
        engine::ColumnVector out(of.type, of.rows);
        if constexpr (std::is_integral_v<T>) {
            const T* values = of.operands[0].column.data<T>();
            bool smallest = false;  // never NULL: that is zero underneath
            for (std::size_t i = 0; i < of.rows; ++i) {
                smallest |= values[i] == std::numeric_limits<T>::min();
            }
            if (smallest) return fails("ABS of the smallest integer");
        }
        each<T>(of.operands[0], of.rows, out.mutable_data<T>(), [](T a) {
            if constexpr (std::is_floating_point_v<T>) {
                return std::abs(a);
            } else {
                return static_cast<T>(a < 0 ? -a : a);
            }
        });
        take_nulls(out, of.operands);
        return out;
    }
}

template <class T>
Kernel whole_arithmetic(Function function) {
    if (function == Function::add) return total<T, Add>;
    if (function == Function::subtract) return total<T, Subtract>;
    if (function == Function::multiply) return total<T, Multiply>;
    if (function == Function::divide) return division<T, false>;
    if (function == Function::modulo) return division<T, true>;
    if (function == Function::negate) return negation<T>;
    return function == Function::abs ? absolute<T> : nullptr;
}

// ---- real functions -----------------------------------------------------------------------------

template <class T, class Op>
Result<engine::ColumnVector> real_unary(const Arguments& of) {
    engine::ColumnVector out(of.type, of.rows);
    each<T>(of.operands[0], of.rows, out.mutable_data<T>(), [](T a) { return Op::apply(a); });
    take_nulls(out, of.operands);
    return out;
}

template <class T>
Result<engine::ColumnVector> power(const Arguments& of) {
    if (any_null_constant(of.operands)) return nulls(of.type, of.rows);
    engine::ColumnVector out(of.type, of.rows);
    each_pair<T>(of.operands[0], of.operands[1], of.rows, out.mutable_data<T>(),
                 [](T a, T b) { return std::pow(a, b); });
    take_nulls(out, of.operands);
    return out;
}

struct Ceil {
    template <class T>
    static T apply(T a) {
        return std::ceil(a);
    }
};
struct Floor {
    template <class T>
    static T apply(T a) {
        return std::floor(a);
    }
};
struct Round {  // halves away from zero
    template <class T>
    static T apply(T a) {
        return std::round(a);
    }
};
struct Exp {
    template <class T>
    static T apply(T a) {
        return std::exp(a);
    }
};
struct Sqrt {
    template <class T>
    static T apply(T a) {
        return std::sqrt(a);
    }
};

Result<engine::ColumnVector> unchanged(const Arguments& of) {
    return of.operands[0].column;
}

template <class T>
Kernel real_arithmetic(Function function) {
    if (function == Function::ceil) return real_unary<T, Ceil>;
    if (function == Function::floor) return real_unary<T, Floor>;
    if (function == Function::round) return real_unary<T, Round>;
    if (function == Function::exp) return real_unary<T, Exp>;
    if (function == Function::sqrt) return real_unary<T, Sqrt>;
    return function == Function::pow ? power<T> : nullptr;
}

}  // namespace

Kernel arithmetic_kernel(Function function, DataType type) {
    if (!is_number(type)) return nullptr;
    return engine::with_element(type, [&](auto* none) -> Kernel {
        using T = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_arithmetic_v<T>) {
            return whole_arithmetic<T>(function);
        } else {
            return nullptr;
        }
    });
}

Kernel real_kernel(Function function, DataType type) {
    const bool rounds =
        function == Function::ceil || function == Function::floor || function == Function::round;
    if (is_integer(type)) return rounds ? unchanged : nullptr;
    if (type == DataType::float32) return real_arithmetic<float>(function);
    return type == DataType::float64 ? real_arithmetic<double>(function) : nullptr;
}

}  // namespace baton::expressions
