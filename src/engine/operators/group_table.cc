#include "engine/operators/group_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/columns/elements.h"

namespace baton::engine {

namespace {

template <class T>
std::uint64_t word_of(T value) {
    if constexpr (std::is_same_v<T, float>) {
        if (std::isnan(value)) return std::bit_cast<std::uint32_t>(std::nanf(""));
        return std::bit_cast<std::uint32_t>(value == 0 ? 0.0F : value);
    } else if constexpr (std::is_same_v<T, double>) {
        if (std::isnan(value)) return std::bit_cast<std::uint64_t>(std::nan(""));
        return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
    } else {
        return static_cast<std::make_unsigned_t<T>>(value);
    }
}

template <class T>
T value_of(std::uint64_t word) {
    if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(word));
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<double>(word);
    } else {
        return static_cast<T>(word);
    }
}

}  // namespace

GroupTable::GroupTable(std::vector<DataType> types)
    : types_(std::move(types)),
      words_(types_.size() + (types_.size() + 63) / 64),
      texts_(types_.size()),
      tuples_(types_.size() == 1 ? 1 : words_) {}

void GroupTable::encode(std::span<const ColumnVector> keys, std::span<const std::uint32_t> rows) {
    encoded_.assign(rows.size() * words_, 0);
    for (std::size_t k = 0; k < types_.size(); ++k) {
        const ColumnVector& key = keys[k];
        std::uint64_t* to = encoded_.data() + k;
        if (is_text(types_[k])) {
            for (std::size_t i = 0; i < rows.size(); ++i, to += words_) {
                *to = key.is_null(rows[i]) ? texts_[k].number_of_null()
                                           : texts_[k].number_of(key.texts()[rows[i]]);
            }
            continue;
        }
        with_element(types_[k], [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            if constexpr (std::is_arithmetic_v<T>) {
                const T* values = key.data<T>();
                for (std::size_t i = 0; i < rows.size(); ++i, to += words_) {
                    *to = word_of(values[rows[i]]);
                }
            }
        });
        if (key.valid() == nullptr) continue;
        std::uint64_t* bits = encoded_.data() + types_.size() + k / 64;
        for (std::size_t i = 0; i < rows.size(); ++i, bits += words_) {
            if (key.is_null(rows[i])) *bits |= std::uint64_t{1} << (k % 64);
        }
    }
}

void GroupTable::groups_of(std::span<const ColumnVector> keys, std::span<const std::uint32_t> rows,
                           std::uint32_t* groups) {
    CHECK(keys.size() == types_.size());
    if (types_.empty()) {
        any_ = any_ || !rows.empty();
        std::fill_n(groups, rows.size(), 0U);
        return;
    }
    const ColumnVector& first = keys[0];
    const std::uint8_t* valid = first.valid();
    if (single_text()) {
        TextTable& table = texts_[0];
        const std::string_view* texts = first.texts();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const bool null = valid != nullptr && valid[rows[i]] == 0;
            groups[i] = null ? table.number_of_null() : table.number_of(texts[rows[i]]);
        }
        return;
    }
    if (types_.size() > 1) {
        encode(keys, rows);
        const std::uint64_t* tuple = encoded_.data();
        for (std::size_t i = 0; i < rows.size(); ++i, tuple += words_) {
            groups[i] = tuples_.number_of(tuple);
        }
        return;
    }
    with_element(types_[0], [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_arithmetic_v<T>) {
            const T* values = first.data<T>();
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const bool null = valid != nullptr && valid[rows[i]] == 0;
                groups[i] =
                    null ? tuples_.number_of_null() : tuples_.number_of(word_of(values[rows[i]]));
            }
        }
    });
}

void GroupTable::groups_of(const GroupTable& other, std::uint32_t* groups) {
    const std::size_t count = other.size();
    while (all_rows_.size() < count) {
        all_rows_.push_back(static_cast<std::uint32_t>(all_rows_.size()));
    }
    std::vector<ColumnVector> keys;
    for (std::size_t k = 0; k < types_.size(); ++k) keys.push_back(other.key(k, 0, count));
    groups_of(keys, std::span(all_rows_).first(count), groups);
}

std::size_t GroupTable::size() const {
    if (types_.empty()) return any_ ? 1 : 0;
    return single_text() ? texts_[0].size() : tuples_.size();
}

ColumnVector GroupTable::key(std::size_t column, std::size_t from, std::size_t count) const {
    ColumnVector out(types_[column], count);
    const bool single = types_.size() == 1;
    const auto word = [&](std::size_t i) { return tuples_.tuple(from + i)[column]; };
    if (is_text(types_[column])) {
        const TextTable& table = texts_[column];
        std::string_view* texts = out.mutable_data<std::string_view>();
        for (std::size_t i = 0; i < count; ++i) {
            const auto number = static_cast<std::uint32_t>(single ? from + i : word(i));
            texts[i] = table.text(number);
            if (table.is_null(number)) out.set_null(i);
        }
        out.hold(table.holder());
        return out;
    }
    with_element(types_[column], [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        if constexpr (std::is_arithmetic_v<T>) {
            T* values = out.mutable_data<T>();
            for (std::size_t i = 0; i < count; ++i) values[i] = value_of<T>(word(i));
        }
    });
    for (std::size_t i = 0; i < count; ++i) {
        const bool null =
            single ? tuples_.is_null(from + i)
                   : (tuples_.tuple(from + i)[types_.size() + column / 64] >> (column % 64) & 1U);
        if (null) out.set_null(i);
    }
    return out;
}

std::size_t GroupTable::memory() const {
    std::size_t bytes = tuples_.memory();
    for (std::size_t k = 0; k < types_.size(); ++k) {
        if (is_text(types_[k])) bytes += texts_[k].memory();
    }
    return bytes;
}

}  // namespace baton::engine
