#include "catalog/copy.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/kinds/kinds.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/schema.h"

namespace baton::catalog {

namespace {

// In the order of their references; `meta` and `fence` have their rows from migrate().
std::vector<std::string_view> state_tables() {
    std::vector<std::string_view> tables = {"meta", "fence"};
    for (const kinds::AnyKind& kind : kinds::kinds()) {
        tables.insert(tables.end(), kind.tables.begin(), kind.tables.end());
    }
    tables.emplace_back("lock_fence");
    return tables;
}
constexpr std::array kHistoryTables = {"statement_log", "change_feed"};
// Which catalog it is, and whom it trusts; the first has its row from migrate().
constexpr std::array kIdentityTables = {"catalog_identity", "cluster_authority", "join_token",
                                        "worker_certificate"};

Result<Done> require_empty(Sql& to) {
    TRY_ASSIGN(rows, to.query("SELECT revision, next_statement FROM meta WHERE id = 1"));
    const bool is_new = rows.size() == 1 && rows[0][0] == SqlValue(std::int64_t{0}) &&
                        rows[0][1] == SqlValue(std::int64_t{1});
    if (is_new) return Done{};
    return Error{.code = ErrorCode::catalog_in_use,
                 .message = "the catalog to copy to is not empty",
                 .hint = "give it a database without tables, or drop them first"};
}

std::string insert_into(const std::string& table, std::size_t columns) {
    std::string marks;
    for (std::size_t i = 0; i < columns; ++i) marks += i == 0 ? "?" : ", ?";
    return "INSERT INTO " + table + " VALUES (" + marks + ")";
}

Result<std::int64_t> copy_table(Sql& from, Sql& to, const std::string& table) {
    TRY(to.execute("DELETE FROM " + table));
    std::int64_t count = 0;
    std::optional<Error> failed;
    std::string insert;
    TRY(from.run("SELECT * FROM " + table, {}, [&](const SqlRow& row) {
        if (failed) return;
        if (insert.empty()) insert = insert_into(table, row.size());
        auto done = to.run(insert, row, nullptr);
        if (!done) failed = std::move(done.error());
        count += 1;
    }));
    if (failed) return *std::move(failed);
    return count;
}

template <class Tables>
Result<std::int64_t> copy_tables(Sql& from, Sql& to, const Tables& tables) {
    std::int64_t count = 0;
    for (const std::string_view table : tables) {
        TRY_ASSIGN(copied, copy_table(from, to, std::string(table)));
        count += copied;
    }
    return count;
}

Result<std::int64_t> copy_all(Sql& from, Sql& to) {
    TRY(require_current_version(from));
    TRY(require_current_version(to));
    TRY(require_empty(to));
    TRY_ASSIGN(state, copy_tables(from, to, state_tables()));
    TRY_ASSIGN(history, copy_tables(from, to, kHistoryTables));
    TRY_ASSIGN(identity, copy_tables(from, to, kIdentityTables));
    const std::int64_t count = state + history + identity;
    // The last leader of the old one is told apart from the first of the new one, by workers too.
    TRY(to.execute("UPDATE fence SET epoch = epoch + 1 WHERE epoch > 0"));
    TRY(
        to.execute("UPDATE lease SET epoch = (SELECT epoch FROM fence WHERE "
                   "fence.lock_key = lease.lock_key), expires_at = 0, owner = ''"));
    return count;
}

}  // namespace

Result<std::int64_t> copy_catalog(Sql& from, Sql& to) {
    TRY(from.begin(Access::read));
    if (auto begun = to.begin(Access::write); !begun) {
        from.rollback();
        return begun.error();
    }
    auto copied = copy_all(from, to);
    from.rollback();
    if (!copied) {
        to.rollback();
        return copied;
    }
    TRY(to.commit());
    return copied;
}

Result<Epoch> copy_state(Sql& from, Sql& to) {
    TRY(to.begin(Access::write));
    const auto copied = [&]() -> Result<Epoch> {
        TRY(copy_tables(from, to, state_tables()));
        // Nobody can read its history, nor has to.
        TRY(to.execute("UPDATE meta SET feed_floor = revision"));
        return epoch_of_fence(to, std::string(kLeaderLock));
    }();
    if (!copied) {
        to.rollback();
        return copied;
    }
    TRY(to.commit());
    return copied;
}

}  // namespace baton::catalog
