#include "core/tables/run_objects.h"

namespace baton::tables {

namespace {

constexpr std::string_view kMarked = "q-";
constexpr std::string_view kPart = "part-";

// The name without its folders and "part-"; empty for a key that is not ours.
std::string_view name_in(std::string_view key) {
    std::string_view name = key.substr(key.rfind('/') + 1);
    if (!name.starts_with(kPart)) return {};
    name.remove_prefix(kPart.size());
    return name;
}

}  // namespace

std::string mark_of_run(std::string_view stamp, std::uint64_t run) {
    return std::string(kMarked) + std::string(stamp) + "." + std::to_string(run) + "-";
}

bool is_of_a_run(std::string_view key) {
    return name_in(key).starts_with(kMarked);
}

bool is_of_another_run(std::string_view key, std::string_view stamp, std::uint64_t run) {
    const std::string_view name = name_in(key);
    return name.starts_with(std::string(kMarked) + std::string(stamp) + ".") &&
           !name.starts_with(mark_of_run(stamp, run));
}

}  // namespace baton::tables
