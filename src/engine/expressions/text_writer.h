// A TextWriter makes a column of texts, row by row, with all bytes in one piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/columns/batch.h"

namespace baton::expressions {

class TextWriter {
public:
    explicit TextWriter(std::size_t rows) : rows_(rows), bytes_(std::make_shared<std::string>()) {
        ends_.reserve(rows);
    }

    // What is appended belongs to the row that the next end_row() ends.
    [[nodiscard]] std::string& bytes() { return *bytes_; }
    void end_row() { ends_.push_back(bytes_->size()); }

    [[nodiscard]] ColumnVector finish(DataType type) && {
        CHECK(ends_.size() == rows_);
        ColumnVector out(type, rows_);
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
    std::shared_ptr<std::string> bytes_;
    std::vector<std::size_t> ends_;
};

}  // namespace baton::expressions
