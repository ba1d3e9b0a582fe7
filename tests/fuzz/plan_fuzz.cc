// Any bytes as the plan of a fragment: read_plan answers, and what it accepts is written and read
// again to the same plan.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/plan_format/plan_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto plan = baton::plan_format::read_plan({reinterpret_cast<const char*>(data), size});
    if (!plan) return 0;
    const std::string text = baton::plan_format::write_plan(*plan);
    const auto again = baton::plan_format::read_plan(text);
    CHECK(again.has_value());
    CHECK(baton::plan_format::write_plan(*again) ==
          text);  // a NaN is not equal to itself, its text is
    return 0;
}
