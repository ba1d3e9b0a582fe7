// A TextWriter makes a column of texts, row by row, with all bytes in one piece.
//
// Texts are bounded, so that an expression that doubles its argument again and again ends with an
// error and not with the memory of the worker. Functions whose results may be longer than their
// arguments ask is_full() after whatever they append. That is no failure of a value: which rows an
// expression is computed for does not depend on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/columns/batch.h"

namespace baton::expressions {

inline constexpr std::size_t kTextBytesMost = std::size_t{16} << 20U;
inline constexpr std::size_t kColumnBytesMost = std::size_t{256} << 20U;  // of one batch

class TextWriter {
public:
    explicit TextWriter(std::size_t rows) : rows_(rows), bytes_(std::make_shared<std::string>()) {
        ends_.reserve(rows);
    }

    // Appended text belongs to the row that the next end_row() ends.
    [[nodiscard]] std::string& bytes() { return *bytes_; }
    void end_row() {
        ends_.push_back(bytes_->size());
        end_most_ = std::min(bytes_->size() + kTextBytesMost, kColumnBytesMost);
    }
    [[nodiscard]] bool is_full() const { return bytes_->size() > end_most_; }
    [[nodiscard]] Error too_long() const {
        const bool whole = end_most_ == kColumnBytesMost;
        return Error{
            .code = ErrorCode::out_of_memory,
            .message = std::string("cannot compute a text: ") +
                       (whole ? "the texts of rows that are computed at once would have more than "
                              : "it would have more than ") +
                       std::to_string(whole ? kColumnBytesMost : kTextBytesMost) + " bytes",
            .hint = "write an expression that gives shorter texts"};
    }

    [[nodiscard]] engine::ColumnVector finish(DataType type) && {
        CHECK(ends_.size() == rows_);
        engine::ColumnVector out(type, rows_);
        std::string_view* texts = out.mutable_data<std::string_view>();
        std::size_t start = 0;
        for (std::size_t i = 0; i < rows_; ++i) {
            texts[i] = std::string_view(*bytes_).substr(start, ends_[i] - start);
            start = ends_[i];
        }
        out.hold(std::move(bytes_));
        return out;
    }

private:
    std::size_t rows_;
    std::size_t end_most_ = kTextBytesMost;  // of the row at hand
    std::shared_ptr<std::string> bytes_;
    std::vector<std::size_t> ends_;
};

}  // namespace baton::expressions
