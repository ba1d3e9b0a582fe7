// What of talking to PostgreSQL is only text.
#include "adapters/postgres/wire.h"
#include "adapters/server_sql/placeholders.h"

namespace baton::postgres {

Numbered with_numbers(std::string_view sql) {
    Numbered result;
    server_sql::at_placeholders(
        sql, [&](std::string_view text) { result.text += text; },
        [&] { result.text += '$' + std::to_string(++result.parameters); });
    return result;
}

ErrorCode code_of(std::string_view sqlstate) {
    using enum ErrorCode;
    if (sqlstate == "23505") return unique_violation;
    if (sqlstate == "23503" || sqlstate == "23001") return foreign_key_violation;
    if (sqlstate == "25006") return write_rejected;  // it only reads
    if (sqlstate == "53100") return catalog_full;
    if (sqlstate == "XX001" || sqlstate == "XX002") return catalog_corrupt;
    const std::string_view family = sqlstate.substr(0, 2);
    if (family == "22" || family == "23") return write_rejected;
    // Connections, deadlocks, resources, locks, the operator: nothing happened.
    for (const std::string_view one : {"08", "28", "3D", "40", "53", "55", "57", "58"}) {
        if (family == one) return catalog_unavailable;
    }
    return defect;
}

}  // namespace baton::postgres
