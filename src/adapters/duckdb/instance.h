// Instance is a DuckDB of its own, in memory and without a way out: no extension, no setting after
// the opening, no file but those of the question that it answers, and its folder to spill into.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <duckdb.hpp>

#include "adapters/duckdb/relations.h"
#include "base/result.h"

namespace baton::duckdb_engine {

struct InstanceLimits {
    std::uint64_t memory_max = 0;  // bytes
    unsigned threads = 1;
    std::string spill_folder;  // empty: it does not spill
    std::uint64_t spill_bytes_max = 0;
};

class Instance {
public:
    // Fails with out_of_memory or cannot_open.
    [[nodiscard]] static Result<std::unique_ptr<Instance>> open(const InstanceLimits& limits);

    // Between questions: the files that the next one may read or write, and its memory; 0: all.
    void allow(const std::vector<QuestionRelation>& relations, const std::string& written);
    void set_memory(std::uint64_t bytes);

    [[nodiscard]] duckdb::unique_ptr<duckdb::Connection> connect();
    [[nodiscard]] Relations& relations() { return *relations_; }
    [[nodiscard]] const InstanceLimits& limits() const { return limits_; }
    // Of files that its caches may remember.
    [[nodiscard]] std::uint64_t files_seen() const { return files_seen_; }

private:
    explicit Instance(const InstanceLimits& limits) : limits_(limits) {}

    InstanceLimits limits_;
    duckdb::shared_ptr<Relations> relations_ = duckdb::make_shared_ptr<Relations>();
    std::unique_ptr<duckdb::DuckDB> database_;
    std::uint64_t files_seen_ = 0;
};

}  // namespace baton::duckdb_engine
