// Words that are more than names: the few that are reserved, and the many that other dialects have.
#pragma once

#include <string_view>

namespace baton::sql {

// Reserved words are names only when quoted. All other words of the grammar are names wherever no
// doubt arises. `word` is in upper case.
[[nodiscard]] bool is_reserved(std::string_view word);

// Words that are parsed as a name in most places but not in all, so that printing quotes them too.
[[nodiscard]] bool is_doubtful(std::string_view word);

// Something that SQL users know and this dialect does not have.
struct Unsupported {
    std::string_view word;     // its first word
    std::string_view name;     // how the error names it
    std::string_view instead;  // what to do; may be empty
};

// Each returns null if the word is not in its list.
[[nodiscard]] const Unsupported* unsupported_statement(std::string_view word);
[[nodiscard]] const Unsupported* unsupported_entity(std::string_view word);  // CREATE, DROP
[[nodiscard]] const Unsupported* unsupported_clause(std::string_view word);  // anywhere else

}  // namespace baton::sql
