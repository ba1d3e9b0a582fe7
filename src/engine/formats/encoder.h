// An Encoder writes batches as text.
//
// CSV: a row ends with TUPLE_DELIMITER, fields are separated by FIELD_DELIMITER. NULL is `NULL`,
// BOOLEAN true or false, a real number has six decimals less trailing zeros and at least one
// (`1.5`, `2.0`), or is nan, inf or -inf. Text stands as it is; with QUOTE_STRINGS between double
// quotes, those inside doubled.
//
// JSON: an object per line with all columns, `null` for NULL; real numbers so that reading them
// gives the same number, "NaN", "Infinity" and "-Infinity" as texts, because JSON has no such
// numbers.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/columns/batch.h"
#include "model/config.h"
#include "model/schema.h"

namespace baton::formats {

class Encoder {
public:
    virtual ~Encoder() = default;

    // The beginning of a file: for CSV `NAME:TYPE:IS_NULLABLE,...`, for JSON nothing.
    [[nodiscard]] virtual std::string header() const = 0;
    // Appends the rows.
    virtual void encode(const engine::Batch& batch, std::string& to) const = 0;
};

// Fails with invalid_configuration if there is no encoder for the format.
[[nodiscard]] Result<std::unique_ptr<Encoder>> make_encoder(const Config& format,
                                                            const Schema& schema);

// Appends the number as a CSV has it.
void append_decimal(std::string& to, double number);

}  // namespace baton::formats
