// The body of a request that brings statements as JSON: {"sql":"..","parameters":[..],"wait":"..",
// "timeout_ms":5}.
//
// It is read as a stream, without a tree of it in memory, and no further than to the first thing
// that does not belong there. So it takes no more memory than the text and its parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/ast.h"

namespace baton::http {

struct SqlBody {
    std::string sql;
    std::vector<sql::Literal> parameters;
    std::optional<std::string> wait;
    std::optional<std::uint64_t> timeout_ms;
};

// Fails with malformed_message, and with too_large if there are more parameters than a statement
// may have.
[[nodiscard]] Result<SqlBody> read_sql_body(std::string_view json);

}  // namespace baton::http
