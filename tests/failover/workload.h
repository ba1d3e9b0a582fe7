// What runs on the workers of a long run: queries that outlast it, and small ones of clients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton::failover {

inline constexpr std::size_t kWorkers = 4;
inline constexpr std::size_t kLongQueries = 4;

// A query of this name that counts slowly, for nobody.
[[nodiscard]] std::string small_query(const std::string& name);

// LONG1 .. from each worker to the last, into files of the directory.
[[nodiscard]] std::string long_queries(const std::string& directory);
// What is wrong with what they have written so far: each counts from 0, leaves out nothing and
// begins once. `counts`: how far each has come.
[[nodiscard]] std::vector<std::string> wrong_in_files(const std::string& directory,
                                                      std::vector<std::uint64_t>& counts);

}  // namespace baton::failover
