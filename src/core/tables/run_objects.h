// The names of objects that a later run of a query may replace: they tell the query and its run.
//
// Such objects are not merged with others: a merged one would hold rows that are to be replaced
// beside rows that are not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace baton::tables {

// Begins the name of each object of the run; `stamp` is that of the query.
[[nodiscard]] std::string mark_of_run(std::string_view stamp, std::uint64_t run);

// Of the key of an object, as object_key() made it.
[[nodiscard]] bool is_of_a_run(std::string_view key);
[[nodiscard]] bool is_of_another_run(std::string_view key, std::string_view stamp,
                                     std::uint64_t run);

}  // namespace baton::tables
