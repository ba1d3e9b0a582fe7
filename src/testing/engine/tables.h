// Rows of tests as batches, and back.
#pragma once

#include <vector>

#include "engine/columns/batch.h"
#include "model/schema.h"
#include "testing/reference/reference.h"

namespace baton::testing {

[[nodiscard]] engine::Batch batch_of(const Schema& schema, const std::vector<Row>& rows);
// In pieces of that many rows.
[[nodiscard]] std::vector<engine::Batch> batches_of(const Schema& schema,
                                                    const std::vector<Row>& rows, std::size_t size);
void append_rows(std::vector<Row>& rows, const engine::Batch& batch);

}  // namespace baton::testing
