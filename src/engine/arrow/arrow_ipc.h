// Batches in Arrow's stream format, which every implementation of Arrow can read.
//
// CHAR and VARSIZED are utf8, BOOLEAN is bool, numbers are the numbers of their width; NULLs are a
// bitmap. Every buffer begins at a multiple of 8 bytes of its message.
//
// Reading trusts nothing: every offset and length is checked, and text is valid UTF-8, or it fails
// with malformed_message. Columns of numbers without NULL, and the bytes of texts, stay where they
// are: the batch then holds on to the message.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/columns/batch.h"
#include "model/schema.h"

namespace baton::arrow {

inline constexpr std::size_t kArrowAlignment = 8;

using ArrowBytes = std::shared_ptr<const std::string>;

// A stream is the message of its schema, messages of batches, and the end.
[[nodiscard]] std::string write_arrow_schema(const Schema& schema);
// The columns have the types of the schema. Fails with too_large if the texts of a column are
// longer than 1 GB together.
[[nodiscard]] Result<std::string> write_arrow_batch(const Schema& schema,
                                                    const engine::Batch& batch);
[[nodiscard]] std::string_view arrow_end();

// One message with a batch of this schema, and nothing else.
[[nodiscard]] Result<engine::Batch> read_arrow_batch(const Schema& schema, const ArrowBytes& bytes);

// Reads a whole stream, batch by batch.
class ArrowReader {
public:
    [[nodiscard]] static Result<ArrowReader> open(ArrowBytes bytes);

    // All text is VARSIZED.
    [[nodiscard]] const Schema& schema() const { return schema_; }
    // None after the last.
    [[nodiscard]] Result<std::optional<engine::Batch>> next();

private:
    ArrowReader(ArrowBytes bytes, Schema schema, std::size_t at)
        : bytes_(std::move(bytes)), schema_(std::move(schema)), at_(at) {}

    ArrowBytes bytes_;
    Schema schema_;
    std::size_t at_ = 0;
};

}  // namespace baton::arrow
