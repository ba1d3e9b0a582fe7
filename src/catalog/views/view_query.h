// ViewQuery is a question to one view: SHOW .. [WHERE ..], or SELECT cols FROM baton.view [WHERE
// ..] [LIMIT n].
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "catalog/views/predicate.h"
#include "catalog/views/views.h"
#include "model/control.h"
#include "model/counts.h"
#include "model/table.h"
#include "ports/sql.h"
#include "sql/ast.h"

namespace baton::views {

struct TableColumn {
    std::string name;
    kinds::ViewType type = kinds::ViewType::text;  // of the values in the rows
    std::optional<SqlType> sql = {};  // of a question's answer: the type that they stand for
};

// The most that the rows of one answer may take; a larger answer is refused.
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20U;

// How old rows are that were read before the database went away.
struct Stale {
    Revision revision;
    Duration age{};  // since it was last known to be so
};
// "the database of the catalog is away: this is revision 7, as of 3 s ago"
[[nodiscard]] std::string in_words(const Stale& stale);

// Rows as they are shown to a client.
struct Table {
    std::vector<TableColumn> columns;
    std::vector<SqlRow> rows;
    std::optional<Stale> stale = {};  // none: they are up to date
    std::string note = {};            // for the client, about the rows; empty: none
};

using LiveCounts = std::map<FragmentKey, Counts>;

class ViewQuery {
public:
    // Fails with not_supported (naming the clause), unknown_source (view), unknown_field,
    // type_mismatch.
    [[nodiscard]] static Result<ViewQuery> from(const sql::Show& show);
    [[nodiscard]] static Result<ViewQuery> from(const sql::Query& query);
    [[nodiscard]] static Result<ViewQuery> from(const sql::SelectOnce& select);

    [[nodiscard]] static ViewQuery everything(const kinds::View& view);

    // Returns the rows in the order of the view's key, the first ones if there is a LIMIT. `live`
    // are the counts that this process knows of fragments that run; a live view shows them.
    // Fails with too_large if the rows take more than `bytes_max`, and never keeps more.
    [[nodiscard]] Result<Table> run(Sql& sql, const LiveCounts& live = {},
                                    std::size_t bytes_max = kAnswerBytesMax) const;

    // The same of all rows of the view, in that order.
    [[nodiscard]] Table over(const std::vector<SqlRow>& rows) const;

    [[nodiscard]] const kinds::View& view() const { return *view_; }
    [[nodiscard]] std::vector<TableColumn> columns() const;
    // Whether the query asks for this row of the view, and the columns of it that it asks for.
    [[nodiscard]] bool matches(const SqlRow& row) const { return !where_ || where_->matches(row); }
    [[nodiscard]] SqlRow selected(const SqlRow& row) const;

    // Fails with not_supported if the feed cannot answer it: a view without changes of its own, or
    // a derived column that is named. With SHOW and `*`, derived columns are left out.
    [[nodiscard]] Result<ViewQuery> watchable() const;

private:
    struct Item {
        std::size_t column = 0;
        std::string name;
        bool by_name = false;  // not from `*`
    };

    explicit ViewQuery(const kinds::View& view) : view_(&view) {}
    void take_all(bool brief_only);
    Result<Done> take(const sql::SelectItem& item);
    Result<Done> filter(const std::optional<sql::Expr>& where);
    [[nodiscard]] Result<Table> run_live(Sql& sql, const LiveCounts& live,
                                         std::size_t bytes_max) const;
    Result<Done> read(Sql& sql, const SqlRowSink& sink) const;

    const kinds::View* view_;
    std::vector<Item> items_;
    std::optional<Predicate> where_;
    std::optional<std::uint64_t> limit_;
};

// Whether a query names a view anywhere, and so is a question to one rather than to streams.
[[nodiscard]] bool asks_views(const sql::Query& query);

// SHOW of something that is not in the database: VERSION, SOURCE TYPES, SINK TYPES, FORMAT TYPES.
[[nodiscard]] bool is_static(sql::ShowWhat what);
[[nodiscard]] Result<Table> show_static(const sql::Show& show, const std::string& version);

}  // namespace baton::views
