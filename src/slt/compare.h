// The comparison of a query's rows with the expected ones.
//
// Rows are lines of cells with commas or spaces between them, in any order; repeated spaces count
// as one. An empty cell between commas is NULL. Numbers with a fraction are equal within a relative
// error of 1e-5, truth values are true and false or 1 and 0, everything else has to be the same.
#pragma once

#include <string>
#include <vector>

namespace baton::slt {

struct Difference {
    std::vector<std::string> missing;     // expected rows that did not come
    std::vector<std::string> unexpected;  // rows that came and were not expected

    [[nodiscard]] bool none() const { return missing.empty() && unexpected.empty(); }
};

[[nodiscard]] Difference compare_rows(const std::vector<std::string>& expected,
                                      const std::vector<std::string>& actual);

// At most so many lines of it, with - and + before them.
[[nodiscard]] std::string to_string(const Difference& difference, std::size_t lines_max = 20);

}  // namespace baton::slt
