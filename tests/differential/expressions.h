// Random expressions that mean the same in Baton's dialect and in SQLite's: no overflow, no
// division by zero, real numbers that both compute exactly.
#pragma once

#include <string>
#include <vector>

#include "base/prng.h"

namespace baton::differential {

enum class Kind { whole, real, truth, text };

// The same thing in both dialects.
struct Both {
    std::string baton;
    std::string sqlite;
};

// Something of a known kind that expressions can be made of: a column, or what stands for one.
struct Field {
    Both written;
    Kind kind = Kind::whole;
};
using Fields = std::vector<Field>;

[[nodiscard]] Both column(const std::string& name);

[[nodiscard]] Kind any_kind(Prng& prng);

// Of at most that many levels. Whole numbers are INT64, real ones FLOAT64.
[[nodiscard]] Both expression(Prng& prng, const Fields& fields, Kind kind, unsigned depth);

}  // namespace baton::differential
