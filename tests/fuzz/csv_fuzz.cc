// Any bytes as CSV: the decoder answers, and the rows, the count of skipped ones and the error do
// not depend on where the parts end. The first bytes choose the options.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "engine/formats/decoding_test.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using baton::testing::decode;
    if (size < 3) return 0;
    const auto has = [&](unsigned bit) { return (data[0] >> bit & 1U) != 0; };
    baton::testing::Decoding how{
        .format = {{"ALLOW_COMMAS_IN_STRINGS", has(0)},
                   {"HEADER", has(1)},
                   {"ON_MALFORMED", std::string(has(2) ? "SKIP" : "FAIL")},
                   {"FIELD_DELIMITER", std::string(has(3) ? "::" : ",")},
                   {"TUPLE_DELIMITER", std::string(has(4) ? "\r\n" : "\n")}},
        .schema = {{{"I", baton::DataType::int16, has(5)},
                    {"T", baton::DataType::varsized, has(6)},
                    {"F", baton::DataType::float64, true},
                    {"B", baton::DataType::boolean, true}}},
        .wanted = {}};
    how.schema.columns.resize(1 + data[1] % 4);
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
    const auto whole = decode(how, bytes);
    how.part = 1 + data[2] % 16;
    how.block_bytes = 1 + data[2] / 16U;
    const auto parts = decode(how, bytes);
    CHECK(parts.rows.size() == whole.rows.size());  // a NaN is not equal to itself
    CHECK(parts.skipped == whole.skipped);
    CHECK(parts.error == whole.error);
    return 0;
}
