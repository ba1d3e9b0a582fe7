// DECLARE, FETCH, MOVE and CLOSE, as PostgreSQL writes them. Cursors go forward only. Internal to
// statements.cc.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "doors/pg/catalog/tokens.h"
#include "doors/pg/server/statements.h"

namespace baton::pgserver {

// The statement of a cursor begins at the token behind FOR; `inner` is not yet known.
struct DeclaredHead {
    DeclareCursor cursor;
    std::size_t inner = 0;
};
[[nodiscard]] std::variant<DeclaredHead, Refuse> declare_head(std::span<const pg::Token> tokens);
// FETCH, MOVE or CLOSE.
[[nodiscard]] Answerer cursor_statement(std::span<const pg::Token> tokens);

}  // namespace baton::pgserver
