// A test script in the form that users of the dialect exchange: statements, the rows of sources,
// and what is expected of each query.
//
//     # name: ..                     comments, also with --
//     GlobalConfiguration k: [..]    and SEQUENTIAL_EXECUTION: noted, and skipped
//     CREATE ..;                     statements end with a semicolon
//     ATTACH INLINE                  rows follow until an empty line; or ATTACH FILE path
//     SELECT .. INTO x;
//     ----                           rows until an empty line; or ERROR 2003; or nothing: no rows
//     SELECT .. INTO x;
//     ====                           a second query follows that must give the same rows
//     SELECT .. INTO y;
//     EXPLAIN ..;
//     ----                           its text until ==END==, or <REGEX>..</REGEX>, <!REGEX>..
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace baton::slt {

struct ExpectRows {
    std::vector<std::string> rows;
    friend bool operator==(const ExpectRows&, const ExpectRows&) = default;
};
struct ExpectError {
    unsigned code = 0;
    friend bool operator==(const ExpectError&, const ExpectError&) = default;
};
struct ExpectSame {
    std::string query;  // that must give the same rows
    std::size_t line = 0;
    friend bool operator==(const ExpectSame&, const ExpectSame&) = default;
};
struct ExpectText {  // of an EXPLAIN
    std::string text;
    friend bool operator==(const ExpectText&, const ExpectText&) = default;
};
struct ExpectPattern {  // a line of an EXPLAIN matches, or none does
    struct Pattern {
        std::string regex;
        bool matches = true;
        friend bool operator==(const Pattern&, const Pattern&) = default;
    };
    std::vector<Pattern> patterns;
    friend bool operator==(const ExpectPattern&, const ExpectPattern&) = default;
};
using Expectation = std::variant<ExpectRows, ExpectError, ExpectSame, ExpectText, ExpectPattern>;

// The data of the physical source that was created just before.
struct Attach {
    std::optional<std::string> file;  // none: the rows below
    std::vector<std::string> rows;
    friend bool operator==(const Attach&, const Attach&) = default;
};

struct Item {
    std::size_t line = 0;  // where the statement begins
    std::string statement;
    std::optional<Attach> attached;
    std::optional<Expectation> expected;  // none: the statement must succeed
    friend bool operator==(const Item&, const Item&) = default;
};

struct Script {
    std::vector<Item> items;
    std::vector<std::string> notes;  // what was skipped
};

// Fails with syntax, at the line, if the form is not as above.
[[nodiscard]] Result<Script> read_script(std::string_view text);

}  // namespace baton::slt
