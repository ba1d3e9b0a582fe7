// Any bytes as JSON objects: the decoder answers, and what it says does not depend on where the
// parts end. The first byte chooses the parts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "engine/formats/decoding_test.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using baton::testing::decode;
    if (size < 2) return 0;
    const bool skips = (data[0] & 1U) != 0;
    baton::testing::Decoding how{.format = {{"TYPE", std::string("JSON")},
                                            {"ON_MALFORMED", std::string(skips ? "SKIP" : "FAIL")}},
                                 .schema = {{{"ID", baton::DataType::int32, true},
                                             {"A/B", baton::DataType::varsized, true},
                                             {"A", baton::DataType::character, true},
                                             {"F", baton::DataType::float32, false}}},
                                 .wanted = {}};
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto whole = decode(how, bytes);
    how.part = 1 + data[0] / 2U % 16;
    how.block_bytes = 1 + data[0] / 16U;
    const auto parts = decode(how, bytes);
    CHECK(parts.rows.size() == whole.rows.size());  // a NaN is not equal to itself
    CHECK(parts.skipped == whole.skipped);
    CHECK(parts.error == whole.error);
    return 0;
}
