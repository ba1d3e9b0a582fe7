// columns_for() says which columns of a table the columns of a query fill: by name, in any case and
// any order. Columns of the table that the query does not give are NULL.
//
// A type fits if the column holds each of its values as it is: whole numbers in wider ones, in
// DECIMAL with room and in DOUBLE up to 32 bits, FLOAT32 in DOUBLE, texts in VARCHAR. UINT64 also
// goes into BIGINT: a value above its range is an error when it comes.
#pragma once

#include "base/result.h"
#include "model/entities.h"
#include "model/schema.h"

namespace baton::analysis {

// The same schema, with the names as the table spells them. Fails with not_supported for a table
// that is read only, unknown_field, schema for a column twice or one that is missing, and
// type_mismatch, which names both columns and their types.
[[nodiscard]] Result<Schema> columns_for(const Sink& table, Schema given, Position at);

// Whether the type of a column of a table takes the values of a stream.
[[nodiscard]] bool takes(const SqlType& column, DataType values);

}  // namespace baton::analysis
