// split() divides a question into a leaf part, which runs once over each share of the objects of
// one relation, and a final part over the rows of all leaves together. It does so only where the
// answer is certainly that of the whole question (sums of REAL and DOUBLE up to rounding, and rows
// in another order where no ORDER BY says one). Everything else is `whole`.
//
// strategy      leaf                                  final
// scan          the same; no more rows than LIMIT     concatenation, ORDER BY, LIMIT
// top           its first rows by ORDER BY            the first of these
// distinct      its different rows                    the different ones of these
// aggregate     partial values of each group          combined, HAVING, ORDER BY, LIMIT
// distinct sets the different values of each group    their aggregates
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json/json.h"
#include "model/table.h"

namespace baton::questions {

// The relation of the final part, in its tree: the rows of all leaves. Its columns are those that
// the leaf's answer has.
constexpr std::string_view kLeaves = "__baton_leaves";

struct Split {
    std::string_view strategy;
    json::Value leaf;
    json::Value final;
};
struct Whole {
    std::string why;  // for EXPLAIN
};

struct SplitRequest {
    const json::Value& tree;                // has passed the gate, and is bound
    std::size_t shared = 0;                 // the mention whose objects are shared out
    const std::vector<SqlColumns>& tables;  // the columns of all mentions
    const SqlColumns& answer;               // the columns of the whole answer
};

[[nodiscard]] std::variant<Split, Whole> split(const SplitRequest& request);

}  // namespace baton::questions
