// Any bytes as the rows of COPY .. FROM STDIN, in each of its forms: they are read or refused, the
// same wherever they were cut. The first byte chooses the form and the cuts.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "doors/pg/server/copy_reader.h"

namespace {

using namespace baton;            // NOLINT
using namespace baton::pgserver;  // NOLINT

CopyFormat format_of(unsigned bits) {
    CopyFormat format;
    format.csv = bits % 3 == 1;
    format.binary = bits % 3 == 2;
    format.header = (bits & 4U) != 0;
    if (format.csv) {
        format.delimiter = ',';
        format.null = "";
    }
    if ((bits & 8U) != 0) format.escape = '\\';
    return format;
}

SqlColumns columns() {
    return {{.name = "A", .type = {.kind = SqlType::Kind::integer}},
            {.name = "B", .type = {.kind = SqlType::Kind::varchar}, .nullable = false}};
}

struct Outcome {
    std::string error;
    std::vector<CopyReader::Row> rows;
    bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(unsigned bits, std::string_view bytes, std::size_t portion) {
    CopyReader reader(format_of(bits), columns());
    for (std::size_t i = 0; i < bytes.size(); i += portion) {
        const auto fed = reader.feed(bytes.substr(i, portion));
        if (!fed) return {.error = to_string(fed.error()), .rows = {}};
    }
    const auto ended = reader.finish();
    if (!ended) return {.error = to_string(ended.error()), .rows = {}};
    return {.error = {}, .rows = reader.take()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const unsigned bits = data[0];
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const Outcome whole = outcome_of(bits, bytes, bytes.size() + 1);
    for (const auto& row : whole.rows) CHECK(row.size() == 2);
    CHECK(outcome_of(bits, bytes, 1 + (bits >> 4U)) == whole);
    return 0;
}
