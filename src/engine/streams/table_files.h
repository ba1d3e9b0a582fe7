// TableFiles opens files that hold columns rather than text, such as Parquet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/streams/row_sink.h"
#include "engine/streams/row_source.h"
#include "model/schema.h"

namespace baton::engine {

class TableFiles {
public:
    virtual ~TableFiles() = default;

    // The file has a column for each of the schema's, by name in any case, of a type whose values
    // fit it: else `schema`. A NULL in a NOT NULL column and a number out of range are
    // cannot_format. `wanted` are the columns of the batches.
    virtual Result<std::unique_ptr<RowSource>> read(const std::string& path, const Schema& schema,
                                                    const std::vector<std::size_t>& wanted) = 0;
    // The file is there as a whole once finish() succeeded, and not at all before.
    virtual Result<std::unique_ptr<RowSink>> write(const std::string& path,
                                                   const Schema& schema) = 0;
};

}  // namespace baton::engine
