// Gives a statement its meaning as a request, without looking at the catalog.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "catalog/requests.h"
#include "sql/ast.h"

namespace baton::coordinator {

// The request of a statement that changes the catalog (CREATE, DROP, STOP, DRAIN, RESUME).
// Fails with the errors of the settings' descriptors; with `defect` for any other statement.
// `token` is a text of random digits, which the folder of a table is named after.
[[nodiscard]] Result<catalog::Request> bind(const sql::Statement& statement,
                                            std::string_view token = {});

// The query behind a SELECT whose rows go to this client, which shows the token for them.
[[nodiscard]] Result<catalog::request::CreateQuery> query_for_client(const sql::SelectOnce& select,
                                                                     const std::string& token,
                                                                     const std::string& principal);

// A query's number or name; never `WHERE attr = const`, which the parser allows only for DROP.
[[nodiscard]] catalog::request::QueryRef query_ref(const sql::Target& target);

[[nodiscard]] Duration duration_of(const sql::TimeSpan& span);

// The statement as it may be logged and shown.
[[nodiscard]] std::string without_secrets(const sql::Statement& statement);

}  // namespace baton::coordinator
