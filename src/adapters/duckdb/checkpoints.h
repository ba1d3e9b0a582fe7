// Checkpoints of tables as Parquet files, by DuckDB.
#pragma once

#include <memory>

#include "ports/checkpoint_files.h"

namespace baton::duckdb_engine {

[[nodiscard]] std::unique_ptr<CheckpointFiles> make_checkpoint_files();

}  // namespace baton::duckdb_engine
