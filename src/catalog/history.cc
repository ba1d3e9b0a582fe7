#include "catalog/history.h"

#include "catalog/kinds/row_cursor.h"
#include "catalog/views/views.h"

namespace baton::catalog {

namespace {

Result<std::shared_ptr<const SqlRow>> row_from(const kinds::View& view,
                                               const std::optional<std::string>& json) {
    if (!json) return std::shared_ptr<const SqlRow>();
    TRY_ASSIGN(row, kinds::row_from_json(view, *json));
    return std::make_shared<const SqlRow>(std::move(row));
}

Result<Change> change_from(const SqlRow& row) {
    kinds::RowCursor cursor(row);
    Change change;
    change.revision = cursor.revision();
    change.ordinal = static_cast<std::uint32_t>(cursor.number());
    change.at = cursor.time();
    const auto entity = kinds::entity_of(cursor.text());
    if (!entity) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "the change feed names an unknown kind of entity at revision " +
                                to_string(change.revision)};
    }
    change.entity = *entity;
    change.key = cursor.text();
    change.op = cursor.state<ChangeOp>();
    const kinds::View& view = views::view_of(change.entity);
    TRY_ASSIGN(now, row_from(view, cursor.optional_text()));
    TRY_ASSIGN(old, row_from(view, cursor.optional_text()));
    change.row = std::move(now);
    change.old = std::move(old);
    return change;
}

}  // namespace

Result<ChangesAfter> changes_after(Sql& sql, Revision cursor, std::optional<kinds::Entity> entity,
                                   std::size_t most) {
    const SqlValue from = kinds::value_of(cursor.value());
    const SqlValue limit = kinds::value_of(most);
    // Where the revision that holds the last of `most` changes ends.
    const std::string condition = entity ? " AND entity = ?" : "";
    std::vector<SqlValue> parameters = {from};
    if (entity) parameters.emplace_back(std::string(to_string(*entity)));
    parameters.push_back(limit);
    TRY_ASSIGN(bound, sql.query_with("SELECT MAX(revision), COUNT(*) FROM (SELECT revision FROM "
                                     "change_feed WHERE revision > ?" +
                                         condition + " ORDER BY revision, ordinal LIMIT ?) t",
                                     parameters));
    kinds::RowCursor reach(bound.at(0));
    const std::int64_t last = reach.integer();
    ChangesAfter found{.changes = {}, .complete = reach.number() < most};
    parameters.back() = last;
    TRY_ASSIGN(rows, sql.query_with("SELECT revision, ordinal, changed, entity, entity_key, op, "
                                    "new_row, old_row FROM change_feed WHERE revision > ?" +
                                        condition + " AND revision <= ? ORDER BY revision, ordinal",
                                    parameters));
    for (const SqlRow& row : rows) {
        TRY_ASSIGN(change, change_from(row));
        found.changes.push_back(std::move(change));
    }
    return found;
}

Result<Revision> feed_floor(Sql& sql) {
    TRY_ASSIGN(rows, sql.query("SELECT feed_floor FROM meta WHERE id = 1"));
    return kinds::RowCursor(rows.at(0)).revision();
}

}  // namespace baton::catalog
