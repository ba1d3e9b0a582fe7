#include "doors/http/row_events.h"

#include <atomic>
#include <deque>
#include <mutex>

#include "doors/http/json_values.h"
#include "doors/http/problems.h"

namespace baton::http {

namespace {

constexpr std::size_t kPortionRows = 1'000;
constexpr std::size_t kRowEventBytes = std::size_t{64} * 1024;

Piece columns_event(const std::vector<views::TableColumn>& columns) {
    std::string data;
    append_columns(data, columns);
    return piece_of(event_text("columns", "", std::move(data)));
}

Piece end_event(std::uint64_t rows) {
    return piece_of(event_text("end", "", "{\"rows\":" + std::to_string(rows) + "}"));
}

void append_rows(std::deque<Piece>& to, const std::vector<SqlRow>& rows,
                 const std::vector<views::TableColumn>& columns) {
    std::string data;
    for (const SqlRow& row : rows) {
        data += data.empty() ? '[' : ',';
        append_array(data, row, columns);
        if (data.size() < kRowEventBytes && &row != &rows.back()) continue;
        to.push_back(piece_of(event_text("rows", "", std::exchange(data, {}) + "]")));
    }
}

// Up to about so many bytes from the front.
std::vector<Piece> take_from(std::deque<Piece>& ready, std::size_t bytes) {
    std::vector<Piece> taken;
    for (std::size_t size = 0; !ready.empty() && size < bytes; ready.pop_front()) {
        size += ready.front()->size();
        taken.push_back(std::move(ready.front()));
    }
    return taken;
}

class TableEvents final : public EventStream {
public:
    explicit TableEvents(const views::Table& table) {
        ready_.push_back(columns_event(table.columns));
        append_rows(ready_, table.rows, table.columns);
        ready_.push_back(end_event(table.rows.size()));
    }
    std::vector<Piece> take(std::size_t bytes) override { return take_from(ready_, bytes); }
    bool ended() const override { return ready_.empty(); }
    void when_ready(std::function<void()>) override {}

private:
    std::deque<Piece> ready_;
};

// What the feed and the desk ring from their threads. Apart from the rest, since the feed may not
// end inside of a call from itself.
class Alarm {
public:
    void note_news() { news_ = true; }
    void ring() {
        const std::lock_guard lock(mutex_);
        if (ready_) ready_();
    }
    [[nodiscard]] bool take_news() { return news_.exchange(false); }
    // When this returns nobody is in a call of the one before.
    void when_ready(std::function<void()> ready) {
        const std::lock_guard lock(mutex_);
        ready_ = std::move(ready);
    }

private:
    std::atomic<bool> news_{false};
    std::mutex mutex_;
    std::function<void()> ready_;
};

// The part that a turn at the desk keeps alive.
class Portions {
public:
    Portions(std::unique_ptr<coordinator::RowStream> feed, std::shared_ptr<Alarm> alarm)
        : alarm_(std::move(alarm)), feed_(std::move(feed)), columns_(feed_->columns()) {
        ready_.push_back(columns_event(columns_));
        feed_->wake_with([alarm = alarm_] {
            alarm->note_news();
            alarm->ring();
        });
    }

    // On the desk, one at a time.
    void fetch(bool may) {
        if (may && !left_) {
            arrived(feed_->poll(kPortionRows));
        } else {
            arrived(Error{.code = ErrorCode::slow_down,
                          .message = "the rows cannot be read: too much is waiting",
                          .hint = "run the SELECT again in a moment"});
        }
        alarm_->ring();
    }
    // The next portion is wanted, and nobody gets it yet.
    [[nodiscard]] bool begin_to_fetch() {
        const std::lock_guard lock(mutex_);
        if (!ready_.empty() || ended_ || fetching_ || !alarm_->take_news()) return false;
        return fetching_ = true;
    }
    std::vector<Piece> take(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        return take_from(ready_, bytes);
    }
    [[nodiscard]] bool ended() const {
        const std::lock_guard lock(mutex_);
        return ended_ && ready_.empty();
    }
    // The client is gone. A turn that waits at the desk need not read any more.
    void leave() { left_ = true; }

private:
    void arrived(const Result<coordinator::FedRows>& fed) {
        std::deque<Piece> pieces;
        bool ended = true;
        if (!fed) {
            pieces.push_back(piece_of(event_text("error", "", problem(fed.error()).body)));
        } else {
            ended = fed->ended;
            given_ += fed->rows.size();
            append_rows(pieces, fed->rows, columns_);
            if (ended) pieces.push_back(end_event(given_));
            if (!fed->rows.empty()) alarm_->note_news();  // perhaps there are more
        }
        if (ended) feed_.reset();
        const std::lock_guard lock(mutex_);
        fetching_ = false;
        ended_ = ended;
        ready_ = std::move(pieces);
    }

    const std::shared_ptr<Alarm> alarm_;
    std::unique_ptr<coordinator::RowStream> feed_;  // of who fetches
    const std::vector<views::TableColumn> columns_;
    std::uint64_t given_ = 0;  // of who fetches
    std::atomic<bool> left_{false};

    mutable std::mutex mutex_;  // of what follows
    std::deque<Piece> ready_;
    bool fetching_ = false;
    bool ended_ = false;
};

class RowEvents final : public EventStream {
public:
    RowEvents(std::unique_ptr<coordinator::RowStream> feed, std::shared_ptr<desk::Visitor> visitor)
        : visitor_(std::move(visitor)),
          portions_(std::make_shared<Portions>(std::move(feed), alarm_)) {}
    ~RowEvents() override {
        alarm_->when_ready(nullptr);
        portions_->leave();
    }
    RowEvents(const RowEvents&) = delete;
    RowEvents& operator=(const RowEvents&) = delete;

    std::vector<Piece> take(std::size_t bytes) override {
        auto taken = portions_->take(bytes);
        if (portions_->begin_to_fetch()) {
            visitor_->run([portions = portions_](bool may) { portions->fetch(may); });
        }
        return taken;
    }
    bool ended() const override { return portions_->ended(); }
    void when_ready(std::function<void()> ready) override { alarm_->when_ready(std::move(ready)); }

private:
    const std::shared_ptr<desk::Visitor> visitor_;
    const std::shared_ptr<Alarm> alarm_ = std::make_shared<Alarm>();
    const std::shared_ptr<Portions> portions_;
};

}  // namespace

std::shared_ptr<EventStream> row_events(std::unique_ptr<coordinator::RowStream> feed,
                                        std::shared_ptr<desk::Visitor> visitor) {
    return std::make_shared<RowEvents>(std::move(feed), std::move(visitor));
}

std::shared_ptr<EventStream> row_events(const views::Table& table) {
    return std::make_shared<TableEvents>(table);
}

}  // namespace baton::http
