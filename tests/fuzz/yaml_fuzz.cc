// Any bytes as a deployment file: read_deployment answers, and what it accepts can be printed and
// parsed again to the same statements. The YAML library itself is not instrumented.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "doors/yaml/deployment.h"
#include "sql/parser.h"
#include "sql/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto deployment = baton::yaml::read_deployment(text);
    if (!deployment) return 0;
    for (const baton::sql::Statement& statement : deployment->statements) {
        const auto parsed = baton::sql::parse_one(baton::sql::print(statement));
        CHECK(parsed.has_value());
        CHECK(*parsed == statement);
    }
    return 0;
}
