// Parses text of the dialect into statements.
//
// Input:   any bytes. Output: every statement of the text, or the first error, with its position,
//          what was expected there and the nearest known word. Nothing is skipped: a clause that is
//          known but not supported is the error `not_supported` naming it.
// Bounded: text beyond the Limits is refused with `too_large`, so that no input can exhaust the
//          stack or the memory, and no database is given a statement that it cannot hold.
// Pure: no I/O, no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/ast.h"

namespace baton::sql {

struct Limits {
    std::size_t bytes_max = std::size_t{1} << 20U;
    std::size_t depth_max = 256;  // of the tree and of the grammar's recursion; bounds the stack
    std::size_t statements_max = 10'000;  // of one text
    std::size_t columns_max = 1'600;      // of a schema, a SELECT, a GROUP BY
    // Of one statement: its expressions, columns, settings and SELECTs. Each constant is one, and
    // becomes a parameter of the database, which takes 32,766 at least.
    std::size_t parts_max = 32'000;
    // Of the parameters, counted at each place where one is used: each is a copy.
    std::size_t parameter_bytes_max = std::size_t{16} << 20U;
};

// Whether a SELECT, WITH or VALUES beyond the grammar of streams is a Question.
enum class Questions : std::uint8_t { refused, accepted };

// Statements separated by `;`; empty ones are dropped. An empty text gives no statements. `$1` is
// the first of the parameters, and may be wherever a constant may.
[[nodiscard]] Result<std::vector<Statement>> parse(std::string_view text, const Limits& limits = {},
                                                   std::span<const Literal> parameters = {},
                                                   Questions questions = Questions::refused);

// How many parameters the text needs: the highest of its $n, up to where it can be read.
[[nodiscard]] std::size_t parameter_count(std::string_view text);

// The parameters that the text uses, in their places; the others are NULL. Works on any bytes.
[[nodiscard]] std::vector<Literal> used_parameters(std::string_view text,
                                                   std::span<const Literal> parameters);

// Exactly one statement; a `;` may follow.
[[nodiscard]] Result<Statement> parse_one(std::string_view text, const Limits& limits = {},
                                          Questions questions = Questions::refused);

// The text with every string literal replaced by '***', fit to be shown to the client that wrote
// it. Works on any bytes.
[[nodiscard]] std::string without_strings(std::string_view text);

// The text of a statement that was refused, for a log: all quoted text, numbers, comments and the
// user of a URI are replaced by ***, because a refused statement may hold a secret that cannot be
// recognised, under a misspelt key or in wrong quotes. Works on any bytes.
[[nodiscard]] std::string without_literals(std::string_view text);
// A message about that statement, without the parts that without_literals() replaces.
[[nodiscard]] std::string without_literals_of(std::string_view text, std::string message);

}  // namespace baton::sql
