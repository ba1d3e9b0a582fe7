// Errors in HTTP: a status, and application/problem+json (RFC 9457).
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "doors/http/message.h"

namespace baton::http {

// A request that cannot be understood.
[[nodiscard]] Error malformed(std::string message, std::string hint = {});

[[nodiscard]] unsigned status_of(ErrorCode code);

// {"type":..,"title":..,"status":..,"detail":..,"code":2030,"name":"unknown_source",..}; `status`
// where the situation says more than the code. `more` is further members as JSON: `"results":[]`.
[[nodiscard]] Response problem(const Error& error, std::optional<unsigned> status = {},
                               const std::string& more = {});

}  // namespace baton::http
