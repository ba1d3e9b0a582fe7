#include "model/schema.h"

#include <set>

#include "base/text.h"

namespace baton {

namespace {

constexpr std::size_t kColumnsMax = 1'600;  // and of what is parsed: sql::Limits

}  // namespace

Result<Done> validate(const Schema& schema, std::string_view of_what) {
    const auto refuse = [&](std::string_view why) {
        return Error{
            .code = ErrorCode::schema,
            .message = "invalid schema of " + std::string(of_what) + ": " + std::string(why)};
    };
    if (schema.columns.empty()) return refuse("it has no columns");
    if (schema.columns.size() > kColumnsMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "the schema of " + std::string(of_what) + " has " +
                                std::to_string(schema.columns.size()) + " columns; at most " +
                                std::to_string(kColumnsMax) + " are allowed",
                     .hint = "spread them over several"};
    }
    std::set<std::string> seen;
    for (const Column& column : schema.columns) {
        if (column.name.empty()) return refuse("a column has an empty name");
        if (!seen.insert(column.name).second) {
            return refuse("column " + in_quotes(column.name) + " appears twice");
        }
    }
    return Done{};
}

}  // namespace baton
