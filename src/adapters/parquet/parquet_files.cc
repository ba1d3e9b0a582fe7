#include "adapters/parquet/parquet_files.h"

namespace baton {

Result<std::unique_ptr<RowSource>> ParquetFiles::read(const std::string& path, const Schema& schema,
                                                      const std::vector<std::size_t>& wanted) {
    return open_parquet_source(files_, path, schema, wanted);
}

Result<std::unique_ptr<RowSink>> ParquetFiles::write(const std::string& path,
                                                     const Schema& schema) {
    return open_parquet_sink(files_, path, schema);
}

}  // namespace baton
