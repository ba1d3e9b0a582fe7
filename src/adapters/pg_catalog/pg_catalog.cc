#include "adapters/pg_catalog/pg_catalog.h"

#include "adapters/pg_catalog/functions.h"
#include "adapters/pg_catalog/rewrite.h"
#include "adapters/pg_catalog/store.h"
#include "adapters/pg_catalog/tables.h"

namespace baton::pg {

Result<Rows> answer(const World& world, std::string_view statement,
                    std::span<const SqlValue> parameters) {
    constexpr std::size_t kBytesMax = 100'000;
    if (statement.size() > kBytesMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "a question about PostgreSQL's catalog may have 100000 bytes"};
    }
    TRY_ASSIGN(store, Store::open());
    define_functions(*store, world);
    TRY(make_tables(*store, world));
    store->lock();
    return store->select(rewritten(statement), parameters);
}

}  // namespace baton::pg
