// The rows of a SELECT as events: `columns` once, `rows` as they come, and `end` or `error` last.
//
//     event: columns    data: [{"name":"A","type":"integer"}]
//     event: rows       data: [[1],[2]]
//     event: end        data: {"rows":2}
//     event: error      data: a problem, as in problems.h
//
// One portion of a feed is fetched at a time, and the next only when that was taken: a client that
// does not read holds its query back. The query ends with the stream.
#pragma once

#include <memory>

#include "catalog/views/view_query.h"
#include "coordinator/rows/row_stream.h"
#include "doors/desk/desk.h"
#include "doors/http/event_stream.h"

namespace baton::http {

// The feed is read in turns of the visitor.
[[nodiscard]] std::shared_ptr<EventStream> row_events(std::unique_ptr<coordinator::RowStream> feed,
                                                      std::shared_ptr<desk::Visitor> visitor);
// Rows that are all there.
[[nodiscard]] std::shared_ptr<EventStream> row_events(const views::Table& table);

}  // namespace baton::http
