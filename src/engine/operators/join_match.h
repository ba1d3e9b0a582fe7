// A JoinMatch finds the pairs of rows of one window that a join's predicate holds for.
//
// Parts of the predicate that say `left expression = right expression` become keys of a hash table;
// the rest is asked about what they leave. Only if there are none, every pair is looked at. Where
// computing a part could fail it is no key: a pair that the rest excludes must not fail.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/expressions/compiled.h"
#include "engine/operators/batches.h"
#include "engine/operators/group_table.h"
#include "model/plan.h"

namespace baton::engine {

class JoinMatch {
public:
    // Fails with not_supported.
    [[nodiscard]] static Result<JoinMatch> compile(const WindowJoin& join, std::size_t left_width);

    // The receiver of the pairs, some at a time: rows of the left, and of the right, kNoRow for
    // none.
    class Taker {
    public:
        virtual ~Taker() = default;
        virtual Result<Done> take(std::span<const std::uint32_t> left,
                                  std::span<const std::uint32_t> right) = 0;
    };

    // Gives each pair once, outer rows included. Fails with the errors of the predicate, or with
    // those of the taker.
    [[nodiscard]] Result<Done> run(const Batch& left, const Batch& right, Taker& taker) const;

private:
    class Pairs;
    struct Chains;

    [[nodiscard]] Result<Done> by_keys(const Batch& left, const Batch& right, Pairs& pairs) const;
    [[nodiscard]] static Result<Done> all_pairs(const Batch& left, const Batch& right,
                                                Pairs& pairs);

    std::vector<expressions::CompiledExpression> left_keys_;
    std::vector<expressions::CompiledExpression> right_keys_;
    std::vector<DataType> key_types_;
    std::optional<expressions::CompiledExpression> rest_;
    JoinSides sides_ = JoinSides::inner;
};

}  // namespace baton::engine
