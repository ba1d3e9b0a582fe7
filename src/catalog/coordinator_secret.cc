#include "catalog/coordinator_secret.h"

namespace baton::catalog {

Result<std::string> coordinator_secret(Sql& sql, const std::string& proposed) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        TRY_ASSIGN(rows, sql.query("SELECT secret FROM coordinator_secret WHERE id = 1"));
        if (!rows.empty()) return std::get<std::string>(rows.front().front());
        auto made = sql.execute("INSERT INTO coordinator_secret VALUES (1, ?)", {proposed});
        // Somebody else was faster: theirs it is.
        if (!made && made.error().code != ErrorCode::unique_violation) return made.error();
    }
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "the catalog does not keep the secret of its coordinators"};
}

}  // namespace baton::catalog
