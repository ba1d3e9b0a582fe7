#include "coordinator/sessions/row_feed.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "coordinator/coordinator_runtime.h"
#include "core/plan_format/plan_format.h"
#include "core/queries/lifecycle.h"

namespace baton::coordinator {

namespace {

kinds::ViewType view_type_of(DataType type) {
    switch (type) {
        case DataType::int8:
        case DataType::int16:
        case DataType::int32:
        case DataType::int64:
        case DataType::uint8:
        case DataType::uint16:
        case DataType::uint32:
            return kinds::ViewType::integer;
        case DataType::uint64:
            return kinds::ViewType::unsigned_integer;
        case DataType::float32:
            return kinds::ViewType::float32;
        case DataType::float64:
            return kinds::ViewType::float64;
        case DataType::boolean:
            return kinds::ViewType::boolean;
        case DataType::character:
        case DataType::varsized:
            return kinds::ViewType::text;
    }
    CHECK(false && "an unknown type");
}

}  // namespace

std::vector<views::TableColumn> columns_of(const Schema& schema) {
    std::vector<views::TableColumn> columns;
    columns.reserve(schema.columns.size());
    for (const Column& column : schema.columns) {
        columns.push_back({.name = column.name, .type = view_type_of(column.type)});
    }
    return columns;
}

// What streams and the catalog ring from their threads. They may ring once more when the feed is
// gone, so it is shared.
class RowFeed::Bell {
public:
    void ring(bool of_query) {
        {
            const std::lock_guard lock(mutex_);
            news_ = true;
            query_changed_ = query_changed_ || of_query;
        }
        woken_.notify_all();
        const std::lock_guard lock(calling_);
        if (wake_) wake_();
    }
    void wake_with(std::function<void()> wake) {
        const std::lock_guard lock(calling_);
        wake_ = std::move(wake);
        if (wake_) wake_();
    }
    void interrupt() {
        {
            const std::lock_guard lock(mutex_);
            interrupted_ = true;
        }
        woken_.notify_all();
    }
    void forget_news() {
        const std::lock_guard lock(mutex_);
        news_ = false;
    }
    [[nodiscard]] bool take_query_change() {
        const std::lock_guard lock(mutex_);
        return std::exchange(query_changed_, false);
    }
    // False if the time is over or it was interrupted.
    [[nodiscard]] bool wait(std::chrono::steady_clock::time_point deadline) {
        std::unique_lock lock(mutex_);
        woken_.wait_until(lock, deadline, [&] { return news_ || interrupted_; });
        return news_ && !interrupted_;
    }

private:
    std::mutex mutex_;
    std::condition_variable woken_;
    bool news_ = false;
    bool query_changed_ = true;
    bool interrupted_ = false;
    std::mutex calling_;  // held while `wake_` is called
    std::function<void()> wake_;
};

RowFeed::RowFeed(CoordinatorRuntime& coordinator, ResultStreams& streams, QueryId query,
                 std::string token)
    : coordinator_(coordinator),
      streams_(streams),
      query_(query),
      token_(std::move(token)),
      bell_(std::make_shared<Bell>()) {
    const EntityKey key{.entity = kinds::Entity::query, .key = to_string(query)};
    registration_ =
        coordinator.feed().listen(EntitySet{}.set(static_cast<std::size_t>(kinds::Entity::query)),
                                  [bell = bell_, key](const std::set<EntityKey>& keys) {
                                      if (keys.empty() || keys.contains(key)) bell->ring(true);
                                  });
}

RowFeed::~RowFeed() {
    bell_->wake_with(nullptr);
    registration_ = {};
    if (!ended_) end(std::nullopt);
}

Result<std::unique_ptr<RowFeed>> RowFeed::open(CoordinatorRuntime& coordinator,
                                               const catalog::Answer& created, std::string token,
                                               std::optional<std::uint64_t> limit) {
    CHECK(coordinator.results() != nullptr && created.id);
    const QueryId query(*created.id);
    std::unique_ptr<RowFeed> feed(
        new RowFeed(coordinator, *coordinator.results(), query, std::move(token)));
    feed->name_ = created.name;
    TRY_ASSIGN(place, place_of(coordinator, query));
    if (!place.address && !coordinator.term()) {  // the one in the process of who leads
        Error error = coordinator.not_leading();
        error.message = "the rows of the embedded worker are available only where it runs";
        return error;
    }
    feed->columns_ = columns_of(place.schema);
    feed->place_ = std::move(place);
    feed->left_ = limit;
    return feed;
}

Result<RowFeed::Place> RowFeed::place_of(CoordinatorRuntime& coordinator, QueryId query) {
    TRY_ASSIGN(snapshot, coordinator.snapshot());
    TRY_ASSIGN(fragments, snapshot.read().fragments({.query = query}));
    for (const Fragment& fragment : fragments) {
        if (fragment.stage != 0) continue;
        TRY_ASSIGN(plan, plan_format::read_plan(fragment.plan));
        TRY_ASSIGN(worker, snapshot.read().worker(fragment.worker));
        if (!worker) break;
        return Place{.worker = worker->name,
                     .address = worker->control,
                     .schema = std::move(plan.roots.front().schema)};
    }
    return Error{.code = ErrorCode::cancelled, .message = "the query was dropped at once"};
}

// ---- polling ------------------------------------------------------------------------------------

Result<FedRows> RowFeed::poll(std::size_t most) {
    FedRows fed;
    if (left_) most = static_cast<std::size_t>(std::min<std::uint64_t>(most, *left_));
    if (!ended_ && bell_->take_query_change()) look();
    while (fed.rows.size() < most && (!ready_.empty() || fetch())) {
        fed.rows.push_back(std::move(ready_.front()));
        ready_.pop_front();
    }
    if (left_) *left_ -= fed.rows.size();
    if (left_ && *left_ == 0) {
        ready_.clear();
        if (!ended_) end(std::nullopt);
        error_.reset();  // it has all that it wanted
    }
    if (!ended_ || !ready_.empty()) return fed;
    if (error_ && fed.rows.empty()) return *error_;
    fed.ended = !error_;
    return fed;
}

bool RowFeed::fetch() {
    if (ended_ || !stream_) return false;
    auto portion = stream_->poll();
    if (!portion) {
        stream_.reset();
        broken_ = portion.error();
        look();
        return false;
    }
    std::move(portion->rows.begin(), portion->rows.end(), std::back_inserter(ready_));
    if (portion->ended) end(std::nullopt);
    return !portion->rows.empty();
}

Result<FedRows> RowFeed::next(Duration timeout, std::size_t most) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        bell_->forget_news();
        TRY_ASSIGN(fed, poll(most));
        if (fed.ended || !fed.rows.empty()) return fed;
        if (!bell_->wait(deadline)) return fed;
    }
}

void RowFeed::interrupt() {
    bell_->interrupt();
}

void RowFeed::wake_with(std::function<void()> wake) {
    bell_->wake_with(std::move(wake));
}

// ---- how the query is ---------------------------------------------------------------------------

void RowFeed::look() {
    const auto found = [&]() -> Result<std::optional<Query>> {
        TRY_ASSIGN(snapshot, coordinator_.snapshot());
        return snapshot.read().query(query_);
    }();
    if (!found && found.error().code != ErrorCode::slow_down) return end(found.error());
    if (!found) return bell_->ring(true);  // too many read: look again
    if (*found) {
        judge(**found);
    } else {
        taken_away_ = Error{.code = ErrorCode::cancelled,
                            .message = "query " + in_quotes(name_) + " was dropped"};
    }
    if (ended_) return;
    // What somebody took away may still have rows under way.
    if (taken_away_ && !stream_) return end(taken_away_);
    // Its worker knows why it broke off, and is going to tell; of one that is gone nothing comes.
    if (broken_ && broken_->code != ErrorCode::cancelled) end(broken_);
}

void RowFeed::judge(const Query& query) {
    const auto fails = [&](std::string_view how, ErrorCode otherwise) {
        end(Error{.code = error_numbered(query.reason.error).value_or(otherwise),
                  .message = "query " + in_quotes(name_) + std::string(how) + query.reason.text});
    };
    switch (queries::lifecycle::outlook(query)) {
        case queries::lifecycle::Outlook::waits:
            return;
        case queries::lifecycle::Outlook::on_its_way:
            if (has_run_) return fails(" was broken off: ", ErrorCode::worker_unreachable);
            return begin();
        case queries::lifecycle::Outlook::runs:
            has_run_ = true;
            return begin();
        case queries::lifecycle::Outlook::taken_away:
            taken_away_ =
                Error{.code = ErrorCode::cancelled,
                      .message = "query " + in_quotes(name_) + " was ended: " + query.reason.text};
            return;
        case queries::lifecycle::Outlook::complete:
            return;  // the end of the rows is under way
        case queries::lifecycle::Outlook::fails:
            return fails(" failed: ", ErrorCode::query_state);
    }
}

void RowFeed::begin() {
    if (std::exchange(begun_, true)) return;
    stream_ = streams_.open(place_.worker, place_.address, token_, place_.schema,
                            [bell = bell_] { bell->ring(false); });
}

void RowFeed::end(std::optional<Error> error) {
    CHECK(!ended_);
    ended_ = true;
    error_ = std::move(error);
    stream_.reset();
    coordinator_.drop_for_client(query_);
}

}  // namespace baton::coordinator
