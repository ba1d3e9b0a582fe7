// Prints statements in one normal form: parse(print(t)) == t for every tree the parser can give.
// It nests no deeper than what was parsed, but may be longer: quotes and spaces are added.
#pragma once

#include <functional>
#include <string>

#include "sql/ast.h"

namespace baton::sql {

// Says whether a setting's value is a secret; then '***' is printed instead. `type` is the type of
// the source or sink it belongs to, empty for a query's own settings.
using IsSecret = std::function<bool(const Setting& setting, const std::string& type)>;

// On one line, except for line ends within strings and quoted names; without a `;`.
[[nodiscard]] std::string print(const Statement& statement, const IsSecret& is_secret = nullptr);
[[nodiscard]] std::string print(const Query& query, const IsSecret& is_secret = nullptr);
[[nodiscard]] std::string print(const Expr& expr);
[[nodiscard]] std::string print(const Literal& literal);
[[nodiscard]] std::string print_name(const std::string& name);  // quoted where it has to be

}  // namespace baton::sql
