// Follower is a client that knows a view only from WATCH: a snapshot, then the changes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "catalog/views/view_query.h"
#include "coordinator/coordinator_runtime.h"

namespace baton::properties {

// SELECT <all columns of the entity's own row> FROM its view [WHERE ..].
[[nodiscard]] views::ViewQuery own_columns_of(const kinds::View& view,
                                              const std::optional<sql::Expr>& where = {});

// Rows as lines, to compare and to show.
[[nodiscard]] std::set<std::string> lines_of(const views::Table& table);

class Follower {
public:
    Follower(coordinator::CoordinatorRuntime& coordinator, views::ViewQuery query);
    // Another client that starts from what this one knows now.
    [[nodiscard]] std::unique_ptr<Follower> resumed() const;

    // Takes in what is new, about `most` events at a time. Fails the property if a change does not
    // fit to what is known: a CREATE of what is there, an UPDATE or DROP of what is not, a revision
    // that goes back.
    void catch_up(std::size_t most = 1'000);
    // What is known is what the view shows.
    void compare();

private:
    void take(const coordinator::WatchEvent& event);

    coordinator::CoordinatorRuntime& coordinator_;
    const views::ViewQuery query_;
    std::map<std::string, SqlRow> rows_;
    Revision revision_;
    std::unique_ptr<coordinator::Watch> watch_;
};

}  // namespace baton::properties
