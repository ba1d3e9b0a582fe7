// Errors of DuckDB under our numbers, with the place in the text of the question.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <duckdb.hpp>

#include "base/error.h"
#include "ports/question_engine.h"

namespace baton::duckdb_engine {

struct ErrorContext {
    std::string_view text;  // of the question; empty: only offsets are known
    std::span<const QuestionRelation> relations;
    std::uint64_t memory_max = 0;
    std::string_view spill_folder;
    std::string_view written;  // the file that the question writes
};

[[nodiscard]] Error error_of(const duckdb::ErrorData& problem, const ErrorContext& context);
[[nodiscard]] Error error_of(const std::exception& problem, const ErrorContext& context);

// DuckDB found a defect of its own: the instance is not to be used again.
[[nodiscard]] bool is_broken(const duckdb::ErrorData& problem);

[[nodiscard]] Position position_in(std::string_view text, std::uint64_t offset);

}  // namespace baton::duckdb_engine
