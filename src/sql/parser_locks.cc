// Statements of the lock service.
#include "sql/grammar.h"

namespace baton::sql {

Result<LockStatement> Grammar::named_lock() {
    TRY_ASSIGN(name, tokens_.name_or_string("the name of a lock"));
    return LockStatement{.name = std::move(name), .act = {}};
}

Result<std::string> Grammar::lock_owner() {
    TRY(tokens_.expect("OWNER"));
    return tokens_.name_or_string("the owner of the lock, as a text");
}

Result<std::uint64_t> Grammar::lock_epoch() {
    TRY(tokens_.expect("EPOCH"));
    if (tokens_.peek().kind == TokenKind::integer) return tokens_.take().integer;
    tokens_.note("the epoch that ACQUIRE LOCK gave");
    return tokens_.unexpected();
}

Result<TimeSpan> Grammar::lock_ttl() {
    TRY(tokens_.expect("TTL"));
    return time_span();
}

Result<Grammar::Node> Grammar::acquire_lock() {
    TRY(tokens_.expect("LOCK"));
    TRY_ASSIGN(node, named_lock());
    TRY_ASSIGN(owner, lock_owner());
    TRY_ASSIGN(ttl, lock_ttl());
    node.act = lock::Acquire{.owner = std::move(owner), .ttl = ttl};
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::renew_lock() {
    TRY(tokens_.expect("LOCK"));
    TRY_ASSIGN(node, named_lock());
    TRY_ASSIGN(owner, lock_owner());
    TRY_ASSIGN(epoch, lock_epoch());
    TRY_ASSIGN(ttl, lock_ttl());
    node.act = lock::Renew{.owner = std::move(owner), .epoch = epoch, .ttl = ttl};
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::release_lock() {
    TRY(tokens_.expect("LOCK"));
    TRY_ASSIGN(node, named_lock());
    TRY_ASSIGN(owner, lock_owner());
    TRY_ASSIGN(epoch, lock_epoch());
    node.act = lock::Release{.owner = std::move(owner), .epoch = epoch};
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::enable_lock() {
    TRY(tokens_.expect("LOCK"));
    TRY_ASSIGN(node, named_lock());
    node.act = lock::Enable{};
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::disable_lock() {
    TRY(tokens_.expect("LOCK"));
    TRY_ASSIGN(node, named_lock());
    node.act = lock::Disable{};
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::drop_lock() {
    TRY_ASSIGN(node, named_lock());
    node.act = lock::Drop{};
    return Node(std::move(node));
}

}  // namespace baton::sql
