#include "adapters/pg_catalog/pg_catalog.h"

namespace baton::pg {

Result<Rows> answer(const World& /*world*/, std::string_view /*statement*/,
                    std::span<const SqlValue> /*parameters*/) {
    return Error{.code = ErrorCode::not_supported, .message = "there is no pg_catalog yet"};
}

}  // namespace baton::pg
