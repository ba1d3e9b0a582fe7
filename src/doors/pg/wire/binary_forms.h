// The binary forms of types whose values come as text: numbers with a scale, dates, times,
// intervals, bytes, UUIDs; and arrays. Internal to pgwire.
//
// Input:   a text in PostgreSQL's form, as DateStyle ISO and TimeZone UTC have it.
// Output:  the bytes that a PostgreSQL server would send for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doors/pg/wire/values.h"

namespace baton::pgwire {

// Whether values of the type come as text, and have a binary form of their own.
[[nodiscard]] bool comes_as_text(ColumnType type);
// False: the text is not of the type, or the binary form has no room for it; nothing is appended
// then that is of use. The type comes as text.
[[nodiscard]] bool append_binary(std::string& out, ColumnType type, std::string_view text);

// The elements of "{1,NULL,\"a b\"}"; none if it is no array of one dimension.
using Elements = std::vector<std::optional<std::string>>;
[[nodiscard]] std::optional<Elements> elements_of(std::string_view array);

// The text of a binary form, for parameters: of bytea, date, time, interval, uuid and numeric. None
// if the bytes are not of the type.
[[nodiscard]] std::optional<std::string> text_of_binary(KnownType type, std::string_view bytes);

}  // namespace baton::pgwire
