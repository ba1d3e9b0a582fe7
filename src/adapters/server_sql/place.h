// The name of a database, fit for messages and logs.
#pragma once

#include <string>

namespace baton::server_sql {

// The URL without its password and without what follows a `?`, where there may be another.
[[nodiscard]] std::string without_password(const std::string& url);

}  // namespace baton::server_sql
