// The types of parameters that a client leaves open, from the columns that they are compared with.
//
// Clients send most parameters as text of no type, and expect the server to know: 5 in `WHERE id =
// $1` is a number because ID is one. A parameter that is not compared with a column of a view is
// text. Pure: no I/O.
#pragma once

#include <string_view>
#include <vector>

#include "doors/pg/wire/messages.h"

namespace baton::pgserver {

// `given` as the client gave them, 0 for open ones; the result has `count`, and none is 0.
[[nodiscard]] std::vector<pgwire::TypeId> parameter_types_of(std::string_view text,
                                                             std::vector<pgwire::TypeId> given,
                                                             std::size_t count);

}  // namespace baton::pgserver
