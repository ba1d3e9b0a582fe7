#include "adapters/parquet/parquet_files.h"

namespace baton::parquet {

Result<std::unique_ptr<engine::RowSource>> ParquetFiles::read(
    const std::string& path, const Schema& schema, const std::vector<std::size_t>& wanted) {
    return open_parquet_source(files_, path, schema, wanted);
}

Result<std::unique_ptr<engine::RowSink>> ParquetFiles::write(const std::string& path,
                                                             const Schema& schema) {
    return open_parquet_sink(files_, path, schema);
}

}  // namespace baton::parquet
