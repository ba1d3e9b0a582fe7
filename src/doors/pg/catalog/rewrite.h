// A statement in PostgreSQL's dialect, rewritten into SQLite's token by token.
//
// It knows the forms that clients use when they ask about the catalog: casts, operators with a
// schema, regular expressions, collations, arrays. It leaves unknown forms as they are, and SQLite
// will refuse them. Arrays are JSON texts on the way; functions that begin with baton_ are in
// functions.h. Pure: no I/O.
#pragma once

#include <string>
#include <string_view>

namespace baton::pg {

[[nodiscard]] std::string rewritten(std::string_view statement);

}  // namespace baton::pg
