#include "doors/pg/catalog/pg_catalog.h"

#include <set>

#include "doors/pg/catalog/functions.h"
#include "doors/pg/catalog/rewrite.h"
#include "doors/pg/catalog/sqlite_memory.h"
#include "doors/pg/catalog/store.h"
#include "doors/pg/catalog/tables.h"
#include "doors/pg/catalog/tokens.h"

namespace baton::pg {

bool concerns_relations(std::string_view statement) {
    for (const Token& token : tokens_of(statement)) {
        if (!token.names()) continue;
        const std::string name = to_lower(token.text);
        if (name == "from" || name == "table" || name.find("reg") != std::string::npos ||
            name.find("description") != std::string::npos) {
            return true;
        }
    }
    return false;
}

Result<Rows> answer(const World& world, std::string_view statement,
                    std::span<const SqlValue> parameters, const std::atomic<bool>* halt) {
    constexpr std::size_t kBytesMax = 100'000;
    constexpr std::int64_t kMemoryMax = std::int64_t{64} << 20U;
    if (statement.size() > kBytesMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "a question about PostgreSQL's catalog may have 100000 bytes"};
    }
    const std::string text = rewritten(statement);
    std::set<std::string> names;
    for (Token& token : tokens_of(text)) {
        if (token.names()) names.insert(to_lower(token.text));
    }
    const MemoryBound bound(kMemoryMax);
    TRY_ASSIGN(store, Store::open(halt));
    define_functions(*store, world);
    if (names.contains("from") || names.contains("table")) {
        TRY(make_tables(*store, world, names));
    }
    store->lock();
    return store->select(text, parameters);
}

}  // namespace baton::pg
