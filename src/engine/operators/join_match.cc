#include "engine/operators/join_match.h"

#include <algorithm>
#include <cmath>

namespace baton::engine {

namespace {

void collect_conjuncts(const Expression& predicate, std::vector<Expression>& parts) {
    const auto* call = std::get_if<Call>(&predicate.node);
    if (call == nullptr || call->function != Function::logical_and) {
        parts.push_back(predicate);
        return;
    }
    for (const Expression& argument : call->arguments) collect_conjuncts(argument, parts);
}

// Which sides the columns of an expression are of.
struct Uses {
    bool left = false;
    bool right = false;
};

void collect_uses(const Expression& expression, std::size_t left_width, Uses& uses) {
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) {
        (column->index < left_width ? uses.left : uses.right) = true;
    }
    if (const auto* call = std::get_if<Call>(&expression.node)) {
        for (const Expression& argument : call->arguments) {
            collect_uses(argument, left_width, uses);
        }
    }
}

Uses uses_of(const Expression& expression, std::size_t left_width) {
    Uses uses;
    collect_uses(expression, left_width, uses);
    return uses;
}

// The same over the columns of the right side alone.
Expression of_right(Expression expression, std::size_t left_width) {
    if (auto* column = std::get_if<ColumnIndex>(&expression.node)) column->index -= left_width;
    if (auto* call = std::get_if<Call>(&expression.node)) {
        for (Expression& argument : call->arguments) {
            argument = of_right(std::move(argument), left_width);
        }
    }
    return expression;
}

struct KeyPair {
    Expression left;
    Expression right;
};

std::optional<KeyPair> key_in(const Expression& part, std::size_t left_width) {
    const auto* call = std::get_if<Call>(&part.node);
    if (call == nullptr || call->function != Function::equal || expressions::fails_for_some(part)) {
        return std::nullopt;
    }
    const Expression& a = call->arguments[0];
    const Expression& b = call->arguments[1];
    const Uses of_a = uses_of(a, left_width);
    const Uses of_b = uses_of(b, left_width);
    if (of_a.left && !of_a.right && of_b.right && !of_b.left) {
        return KeyPair{.left = a, .right = of_right(b, left_width)};
    }
    if (of_b.left && !of_b.right && of_a.right && !of_a.left) {
        return KeyPair{.left = b, .right = of_right(a, left_width)};
    }
    return std::nullopt;
}

Expression all_of(std::vector<Expression> parts) {
    if (parts.size() == 1) return std::move(parts.front());
    return {.node = Call{.function = Function::logical_and, .arguments = std::move(parts)},
            .type = DataType::boolean,
            .nullable = true};
}

bool is_nan_at(const ColumnVector& column, std::uint32_t row) {
    if (column.type() == DataType::float64) return std::isnan(column.data<double>()[row]);
    return column.type() == DataType::float32 && std::isnan(column.data<float>()[row]);
}

// The rows that can be equal to others: NULL and NaN are to none.
std::vector<std::uint32_t> comparable(std::span<const ColumnVector> keys, std::size_t rows) {
    std::vector<std::uint32_t> result;
    result.reserve(rows);
    for (std::uint32_t row = 0; row < rows; ++row) {
        const bool none = std::any_of(keys.begin(), keys.end(), [&](const ColumnVector& key) {
            return key.is_null(row) || is_nan_at(key, row);
        });
        if (!none) result.push_back(row);
    }
    return result;
}

Result<std::vector<ColumnVector>> columns_of(
    const std::vector<expressions::CompiledExpression>& keys, const Batch& batch) {
    std::vector<ColumnVector> columns;
    for (const expressions::CompiledExpression& key : keys) {
        TRY_ASSIGN(column, key.evaluate(batch));
        columns.push_back(std::move(column));
    }
    return columns;
}

}  // namespace

// Candidates, asked about and passed on when enough have come together.
class JoinMatch::Pairs {
public:
    Pairs(const Batch& left, const Batch& right, const expressions::CompiledExpression* rest,
          Taker& taker)
        : left_(left), right_(right), rest_(rest), taker_(taker) {
        matched_left_.resize(left.rows);
        matched_right_.resize(right.rows);
        lefts_.reserve(kBatchRows);
        rights_.reserve(kBatchRows);
    }

    [[nodiscard]] Result<Done> add(std::uint32_t left, std::uint32_t right) {
        lefts_.push_back(left);
        rights_.push_back(right);
        if (lefts_.size() < kBatchRows) return Done{};
        return flush();
    }

    [[nodiscard]] Result<Done> flush() {
        if (lefts_.empty()) return Done{};
        if (rest_ != nullptr) {
            Batch both = gather(left_, lefts_);
            Batch more = gather(right_, rights_);
            std::move(more.columns.begin(), more.columns.end(), std::back_inserter(both.columns));
            TRY_ASSIGN(chosen, rest_->select(both));
            for (std::size_t i = 0; i < chosen.size(); ++i) {
                lefts_[i] = lefts_[chosen[i]];
                rights_[i] = rights_[chosen[i]];
            }
            lefts_.resize(chosen.size());
            rights_.resize(chosen.size());
        }
        for (const std::uint32_t row : lefts_) matched_left_[row] = 1;
        for (const std::uint32_t row : rights_) matched_right_[row] = 1;
        TRY(taker_.take(lefts_, rights_));
        lefts_.clear();
        rights_.clear();
        return Done{};
    }

    // After the last flush: rows that found nobody.
    [[nodiscard]] Result<Done> add_unmatched(JoinSides sides) {
        if (sides == JoinSides::left || sides == JoinSides::full) {
            TRY(give_unmatched(matched_left_, lefts_, rights_));
        }
        if (sides == JoinSides::right || sides == JoinSides::full) {
            TRY(give_unmatched(matched_right_, rights_, lefts_));
        }
        return Done{};
    }

private:
    Result<Done> give_unmatched(const std::vector<std::uint8_t>& matched,
                                std::vector<std::uint32_t>& own,
                                std::vector<std::uint32_t>& other) {
        for (std::uint32_t row = 0; row < matched.size(); ++row) {
            if (matched[row] == 0) own.push_back(row);
            const bool last = row + 1 == matched.size();
            if (own.size() < kBatchRows && !last) continue;
            other.assign(own.size(), kNoRow);
            TRY(taker_.take(lefts_, rights_));
            own.clear();
            other.clear();
        }
        return Done{};
    }

    const Batch& left_;
    const Batch& right_;
    const expressions::CompiledExpression* rest_;
    Taker& taker_;
    std::vector<std::uint32_t> lefts_;
    std::vector<std::uint32_t> rights_;
    std::vector<std::uint8_t> matched_left_;
    std::vector<std::uint8_t> matched_right_;
};

Result<JoinMatch> JoinMatch::compile(const WindowJoin& join, std::size_t left_width) {
    JoinMatch match;
    match.sides_ = join.sides;
    std::vector<Expression> parts;
    collect_conjuncts(join.predicate, parts);
    std::vector<Expression> rest;
    for (Expression& part : parts) {
        const auto key = key_in(part, left_width);
        if (!key) {
            rest.push_back(std::move(part));
            continue;
        }
        TRY_ASSIGN(left, expressions::CompiledExpression::compile(key->left));
        TRY_ASSIGN(right, expressions::CompiledExpression::compile(key->right));
        match.left_keys_.push_back(std::move(left));
        match.right_keys_.push_back(std::move(right));
        match.key_types_.push_back(key->left.type);
    }
    if (!rest.empty()) {
        TRY_ASSIGN(compiled, expressions::CompiledExpression::compile(all_of(std::move(rest))));
        match.rest_ = std::move(compiled);
    }
    return match;
}

// The right rows of each group, one after the other.
struct JoinMatch::Chains {
    std::vector<std::uint32_t> first;  // of each group
    std::vector<std::uint32_t> next;   // of each row

    Chains(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> groups,
           std::size_t group_count, std::size_t row_count)
        : first(group_count, kNoRow), next(row_count, kNoRow) {
        for (std::size_t i = rows.size(); i-- > 0;) {
            next[rows[i]] = first[groups[i]];
            first[groups[i]] = rows[i];
        }
    }
};

Result<Done> JoinMatch::by_keys(const Batch& left, const Batch& right, Pairs& pairs) const {
    TRY_ASSIGN(right_columns, columns_of(right_keys_, right));
    TRY_ASSIGN(left_columns, columns_of(left_keys_, left));
    const auto right_rows = comparable(right_columns, right.rows);
    const auto left_rows = comparable(left_columns, left.rows);
    GroupTable table(key_types_);
    std::vector<std::uint32_t> groups(std::max(right_rows.size(), left_rows.size()));
    table.groups_of(right_columns, right_rows, groups.data());
    const Chains chains(right_rows, groups, table.size(), right.rows);
    table.groups_of(left_columns, left_rows, groups.data());
    for (std::size_t i = 0; i < left_rows.size(); ++i) {
        if (groups[i] >= chains.first.size()) continue;
        for (std::uint32_t row = chains.first[groups[i]]; row != kNoRow; row = chains.next[row]) {
            TRY(pairs.add(left_rows[i], row));
        }
    }
    return Done{};
}

Result<Done> JoinMatch::all_pairs(const Batch& left, const Batch& right, Pairs& pairs) {
    for (std::uint32_t a = 0; a < left.rows; ++a) {
        for (std::uint32_t b = 0; b < right.rows; ++b) TRY(pairs.add(a, b));
    }
    return Done{};
}

Result<Done> JoinMatch::run(const Batch& left, const Batch& right, Taker& taker) const {
    Pairs pairs(left, right, rest_ ? &*rest_ : nullptr, taker);
    if (left.rows > 0 && right.rows > 0) {
        TRY(left_keys_.empty() ? all_pairs(left, right, pairs) : by_keys(left, right, pairs));
        TRY(pairs.flush());
    }
    return pairs.add_unmatched(sides_);
}

}  // namespace baton::engine
