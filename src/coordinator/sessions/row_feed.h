// RowFeed gives one client the rows of its SELECT over streams as they arrive.
//
// Behind it is a query like any other, in the catalog and on workers; it is dropped, without a
// wait, when the feed ends: with its object, with the last row that LIMIT allows, or with the
// sources. A client that does not poll holds the query, and so its sources, back.
//
// An end is either good, or an error that says why the query could not go on. A query that lost a
// worker is not waited for: the client gets an error at once. Used by one thread at a time. It must
// end before the CoordinatorRuntime does.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "catalog/requests.h"
#include "catalog/views/view_query.h"
#include "coordinator/commit/feed.h"
#include "coordinator/rows/row_stream.h"
#include "model/entities.h"
#include "model/schema.h"
#include "ports/result_streams.h"

namespace baton::coordinator {

class CoordinatorRuntime;

// The columns of rows of this schema, as they are shown.
[[nodiscard]] std::vector<views::TableColumn> columns_of(const Schema& schema);

class RowFeed final : public RowStream {
public:
    // Of a query that was just created with this token, for this reader alone. If this fails, the
    // query is dropped. `limit` is how many rows are wanted at most.
    [[nodiscard]] static Result<std::unique_ptr<RowFeed>> open(CoordinatorRuntime& coordinator,
                                                               const catalog::Answer& created,
                                                               std::string token,
                                                               std::optional<std::uint64_t> limit);
    ~RowFeed() override;
    RowFeed(const RowFeed&) = delete;
    RowFeed& operator=(const RowFeed&) = delete;

    [[nodiscard]] const std::vector<views::TableColumn>& columns() const override {
        return columns_;
    }
    [[nodiscard]] const std::string& query_name() const { return name_; }

    using RowStream::next;
    using RowStream::poll;
    [[nodiscard]] Result<FedRows> poll(std::size_t most) override;
    [[nodiscard]] Result<FedRows> next(Duration timeout, std::size_t most) override;
    void interrupt() override;
    void wake_with(std::function<void()> wake) override;

private:
    class Bell;
    // Where the rows are.
    struct Place {
        std::string worker;
        std::optional<Address> address;
        Schema schema;
    };
    [[nodiscard]] static Result<Place> place_of(CoordinatorRuntime& coordinator, QueryId query);

    RowFeed(CoordinatorRuntime& coordinator, ResultStreams& streams, QueryId query,
            std::string token);
    // Takes another batch; false if there is none now.
    [[nodiscard]] bool fetch();
    // Looks how the query is.
    void look();
    void judge(const Query& query);
    void begin();
    void end(std::optional<Error> error);

    CoordinatorRuntime& coordinator_;
    ResultStreams& streams_;
    const QueryId query_;
    const std::string token_;
    std::string name_;
    Place place_;
    std::vector<views::TableColumn> columns_;
    std::optional<std::uint64_t> left_;  // rows that are still wanted

    bool begun_ = false;    // the stream was opened
    bool has_run_ = false;  // the query was RUNNING once
    bool ended_ = false;
    std::optional<Error> error_;       // why it ended
    std::optional<Error> broken_;      // the stream; the catalog is going to say why
    std::optional<Error> taken_away_;  // the query was stopped or dropped
    std::deque<SqlRow> ready_;

    const std::shared_ptr<Bell> bell_;
    std::unique_ptr<ResultStream> stream_;
    Feed::Registration registration_;
};

}  // namespace baton::coordinator
