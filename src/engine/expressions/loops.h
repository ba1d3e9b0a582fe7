// The loops that kernels share: one or two arguments of one C++ type, element by element.
#pragma once

#include <cstddef>

#include "engine/expressions/node.h"

namespace baton::expressions {

template <class T, class Out, class Op>
void each(const Operand& a, std::size_t rows, Out* out, Op op) {
    const T* x = a.column.data<T>();
    for (std::size_t i = 0; i < rows; ++i) out[i] = op(x[i]);
}

template <class T, class Out, class Op>
void each_pair(const Operand& a, const Operand& b, std::size_t rows, Out* out, Op op) {
    const T* x = a.column.data<T>();
    const T* y = b.column.data<T>();
    if (b.constant) {
        const T right = y[0];
        for (std::size_t i = 0; i < rows; ++i) out[i] = op(x[i], right);
    } else if (a.constant) {
        const T left = x[0];
        for (std::size_t i = 0; i < rows; ++i) out[i] = op(left, y[i]);
    } else {
        for (std::size_t i = 0; i < rows; ++i) out[i] = op(x[i], y[i]);
    }
}

}  // namespace baton::expressions
