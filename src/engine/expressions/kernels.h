// Which kernel computes a function over arguments of a type; none if it has no meaning there.
//
// Loops are written for one C++ type each and without branches where they can be, so that the
// compiler makes vector instructions of them.
#pragma once

#include "engine/expressions/node.h"
#include "model/expression.h"

namespace baton::expressions {

// add to negate, and abs; arguments and result of one type
[[nodiscard]] Kernel arithmetic_kernel(Function function, DataType type);
// equal to greater_equal, between, in_list, is_null, is_nan; the type is that of the arguments
[[nodiscard]] Kernel comparison_kernel(Function function, DataType type);
// ceil to sqrt; arguments and result of one type
[[nodiscard]] Kernel real_kernel(Function function, DataType type);
// concat to from_base64
[[nodiscard]] Kernel text_kernel(Function function);
// cast_to_unix_ts to year_of
[[nodiscard]] Kernel time_kernel(Function function);
[[nodiscard]] Kernel cast_kernel(DataType from, DataType to);
[[nodiscard]] Kernel not_kernel();

}  // namespace baton::expressions
