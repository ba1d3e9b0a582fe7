// The gate decides whether a tree may be executed. It is the only way from a client's text to the
// engine:
//
//     check_text(text)                     before parsing: size, nesting, literals
//     engine.parse(text)
//     gate(tree, constants)                every node, function and type is on a list
//     mentioned(tree)                      the relations, which the caller resolves and permits
//     bind_relations(tree, names)                    the relations get the names of the task
//     engine.answer(task)
//
// Anything unknown is refused, with its name. Relations are not judged here: a tree that passes
// names tables, and nothing else that would be opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/json/json.h"

namespace baton::questions {

constexpr std::size_t kTextBytesMax = std::size_t{1} << 20U;
constexpr std::size_t kTokensMax = 50'000;
constexpr std::size_t kTextNestingMax = 100;  // of parentheses, brackets and braces
constexpr std::size_t kMaterializedMax = 4;   // the parser repeats each of them three times
constexpr std::size_t kTreeNestingMax = 900;  // of the tree's JSON; an expression takes two
constexpr std::size_t kTreeNodesMax = 200'000;
constexpr std::uint64_t kRepeatMax = 1'000'000;         // of one value
constexpr std::uint64_t kRepeatTotalMax = 100'000'000;  // all of a question multiplied

// Before the text reaches a parser, which recurses. Fails with too_large and syntax.
[[nodiscard]] Result<Done> check_text(std::string_view text);

// Values that functions of PostgreSQL about the server and the session have.
struct Constants {
    std::string version;  // "PostgreSQL 15.0 (Baton ..)"
    std::string database;
    std::string schema = "public";
    std::string user;
    // The time of the question in UTC, "2026-01-01 00:00:00.5+00", for now() and current_date: the
    // same in all its parts. Empty: the engine's clock.
    std::string now;
};

// Fails with not_supported, function_refused, unknown_function, type_mismatch and too_large. Puts
// the constants into the tree. `text` is for the places of errors.
[[nodiscard]] Result<Done> gate(json::Value& tree, const Constants& constants,
                                std::string_view text);

// A relation that the tree names. CTEs are none.
struct Mention {
    std::string catalog;  // as written, or empty
    std::string schema;
    std::string name;
    std::string alias;
    std::optional<Position> at;
    // AT (VERSION => ..) or AT (TIMESTAMP => ..): the unit and the literal's text.
    struct Moment {
        enum class Unit : std::uint8_t { version, timestamp };
        Unit unit = Unit::version;
        std::string value;
    };
    std::optional<Moment> moment;
};

// In the order of the tree; a relation that is named twice is there twice. Any tree of the parser,
// also one that has not passed the gate. Fails as gate() does for what is not known.
[[nodiscard]] Result<std::vector<Mention>> mentioned(const json::Value& tree,
                                                     std::string_view text);

// Gives each mention the name that it has in the task, in the same order. Columns that are written
// with the table, or the schema, stay valid. A name of the task cannot be written by a client if
// it begins with kTaskPrefix.
constexpr std::string_view kTaskPrefix = "__baton_";
[[nodiscard]] Result<Done> bind_relations(json::Value& tree, const std::vector<std::string>& names);

}  // namespace baton::questions
