// Rows of four numbers (time, key, kind, value) as CSV, and the continuous query over them that
// several benchmarks share: those of half of the kinds are counted by key in windows of 10 s.
#pragma once

#include <cstdint>
#include <string>

namespace baton::bench {

// The bytes that were written.
[[nodiscard]] std::uint64_t write_keyed_csv(const std::string& path, std::uint64_t rows);

// "(ts UINT64 NOT NULL, ..)"
[[nodiscard]] std::string keyed_schema();
// A SELECT from the source of that name into a CSV file.
[[nodiscard]] std::string keyed_query(const std::string& source, const std::string& out);
// How many groups it wrote there.
[[nodiscard]] std::uint64_t groups_in(const std::string& out);

}  // namespace baton::bench
