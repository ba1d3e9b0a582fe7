// ParquetFiles reads and writes Parquet, with DuckDB.
//
// A source reads one chunk after the other; its text points into DuckDB's chunks. A sink is a COPY
// on a thread of its own that takes the rows from a short queue: memory does not grow with the
// file. It writes `<file>.part`, which becomes the file when it is complete and durable. A checksum
// stands beside the file (checksums.h).
//
// Types: whole numbers from whole numbers, real ones from real ones, BOOLEAN from BOOLEAN, CHAR and
// VARSIZED from VARCHAR. A number that the column's type cannot hold is an error, never rounded.
#pragma once

#include "adapters/file/allowed_files.h"
#include "engine/streams/table_files.h"

namespace baton::parquet {

class ParquetFiles final : public engine::TableFiles {
public:
    // The files outlive it and what it opens.
    explicit ParquetFiles(const files::AllowedFiles& files) : files_(files) {}

    Result<std::unique_ptr<engine::RowSource>> read(
        const std::string& path, const Schema& schema,
        const std::vector<std::size_t>& wanted) override;
    Result<std::unique_ptr<engine::RowSink>> write(const std::string& path,
                                                   const Schema& schema) override;

private:
    const files::AllowedFiles& files_;
};

// The two halves of it.
[[nodiscard]] Result<std::unique_ptr<engine::RowSource>> open_parquet_source(
    const files::AllowedFiles& files, const std::string& path, const Schema& schema,
    const std::vector<std::size_t>& wanted);
[[nodiscard]] Result<std::unique_ptr<engine::RowSink>> open_parquet_sink(
    const files::AllowedFiles& files, const std::string& path, const Schema& schema);

}  // namespace baton::parquet
