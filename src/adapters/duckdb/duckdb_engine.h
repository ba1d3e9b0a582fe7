// DuckDbEngine answers questions with DuckDB, which is in this process.
//
// Slots:   each has an instance of its own with its share of the memory, so that a question that
//          needs too much fails alone. A question waits for a slot, and keeps it until its answer
//          has ended or is destroyed.
// Reach:   an instance opens the files of its task's relations, its folder for spilling, and
//          nothing else; no extension, no setting, no other database. Trees are executed as they
//          are, so the caller checks them first (core/questions): DuckDB's functions know more
//          than a client may.
// Cancel:  a caller that gives up gets `cancelled` at once. The slot follows as soon as DuckDB
//          notices, which takes long where a single function makes a huge value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "ports/question_engine.h"

namespace baton::duckdb_engine {

struct EngineOptions {
    std::size_t slots = 2;
    unsigned threads = 1;                           // of each slot
    std::uint64_t memory_max = 1ULL << 30U;         // bytes, of each slot
    std::string spill_folder;                       // empty: questions do not spill
    std::uint64_t spill_bytes_max = 10ULL << 30U;   // of each slot
    Duration patience = std::chrono::seconds(10);   // for a slot
    std::size_t trees_max = 1'000;                  // that are remembered by their text
    std::size_t tree_cache_bytes_max = 64U << 20U;  // of them, texts and trees
};

// Fails with cannot_open.
[[nodiscard]] Result<std::unique_ptr<QuestionEngine>> open_engine(EngineOptions options);

}  // namespace baton::duckdb_engine
