// Feeds the parser any bytes. Built by scripts/fuzz with clang's libFuzzer and sanitizers.
//
// Whatever parses must print to text that parses to the same tree, within the same limits.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sql/parser.h"
#include "sql/printer.h"

namespace {

using namespace baton;  // NOLINT(google-build-using-namespace)

void check_error(const Error& error, std::string_view text) {
    CHECK(error.code == ErrorCode::syntax || error.code == ErrorCode::not_supported ||
          error.code == ErrorCode::too_large);
    CHECK(!error.message.empty());
    CHECK(error.at.has_value() && error.at->offset <= text.size());
}

void check_round_trip(std::string_view text, const sql::Limits& limits) {
    const Result<std::vector<sql::Statement>> parsed = sql::parse(text, limits);
    if (!parsed) return check_error(parsed.error(), text);
    for (const sql::Statement& statement : *parsed) {
        const std::string printed = sql::print(statement);
        const Result<sql::Statement> again = sql::parse_one(printed, limits);
        CHECK(again.has_value());
        CHECK(*again == statement);
        CHECK(sql::print(*again) == printed);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_round_trip(text, {});
    check_round_trip(text, {.depth_max = 8});
    (void)sql::without_strings(text);
    return 0;
}
