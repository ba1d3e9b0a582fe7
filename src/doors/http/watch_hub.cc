#include "doors/http/watch_hub.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/overload.h"
#include "base/text.h"
#include "doors/desk/change_words.h"
#include "doors/http/json_values.h"
#include "doors/http/problems.h"
#include "sql/printer.h"

namespace baton::http {

// ---- encoding -----------------------------------------------------------------------------------

namespace {

Revision revision_of(const coordinator::WatchEvent& event) {
    return std::visit([](const auto& e) { return e.revision; }, event);
}

}  // namespace

std::string encoded(const coordinator::WatchSnapshot& snapshot) {
    const std::string revision = to_string(snapshot.revision);
    std::string data = "{\"revision\":" + revision;
    if (!snapshot.reason.empty()) {
        data += ",\"reason\":";
        append_json_string(data, snapshot.reason);
    }
    data += ",\"rows\":[";
    for (const SqlRow& row : snapshot.table.rows) {
        if (&row != &snapshot.table.rows.front()) data += ',';
        append_object(data, row, snapshot.table.columns);
    }
    return event_text("snapshot", revision, data + "]}");
}

std::string encoded(const coordinator::WatchChange& change,
                    const std::vector<views::TableColumn>& columns, bool last) {
    const std::string revision = to_string(change.revision);
    std::string data = "{\"revision\":" + revision + ",\"key\":";
    append_json_string(data, change.key);
    data += ",\"row\":";
    append_object(data, change.row, columns);
    return event_text(desk::word_of(change.op), last ? revision : std::string(), data + "}");
}

// ---- a channel ----------------------------------------------------------------------------------

class WatchHub::Channel {
public:
    struct Kept {
        Revision revision;
        Piece text;
    };

    std::unique_ptr<coordinator::Watch> watch;  // of the hub's thread
    // Held by the wake-up of the watch, too, which may not touch the channel itself: it could be
    // the last to let go of it, inside of a call from the feed.
    struct Alarm {
        std::atomic<bool> raised{false};
        std::atomic<Clock::time_point> not_before{Clock::time_point()};
    };
    std::shared_ptr<Alarm> alarm = std::make_shared<Alarm>();

    std::mutex mutex;       // of what follows
    std::deque<Kept> kept;  // whole revisions, all after `floor`
    std::size_t kept_bytes = 0;
    Revision floor;
    Revision reaches;
    std::vector<std::weak_ptr<Follower>> followers;

    void keep(Revision revision, std::string text) {
        kept_bytes += text.size();
        kept.push_back({.revision = revision, .text = piece_of(std::move(text))});
    }
    void trim(std::size_t bytes_max) {
        while (kept_bytes > bytes_max) {
            kept_bytes -= kept.front().text->size();
            floor = kept.front().revision;
            kept.pop_front();
        }
    }
    void restart_at(Revision revision) {
        kept.clear();
        kept_bytes = 0;
        floor = revision;
    }
};

// ---- a follower ---------------------------------------------------------------------------------

class WatchHub::Follower final : public EventStream, public std::enable_shared_from_this<Follower> {
public:
    Follower(WatchHub& hub, std::string key_, views::ViewQuery query_,
             std::unique_ptr<coordinator::Watch> opened)
        : key(std::move(key_)), query(std::move(query_)), own(std::move(opened)), hub_(hub) {}

    const std::string key;
    const views::ViewQuery query;
    std::unique_ptr<coordinator::Watch> own;  // of the hub's thread

    std::vector<Piece> take(std::size_t bytes) override {
        const std::lock_guard lock(mutex_);
        std::vector<Piece> taken;
        std::size_t size = 0;
        while (!ready_.empty() && size < bytes) {
            size += ready_.front()->size();
            taken.push_back(std::move(ready_.front()));
            ready_.pop_front();
        }
        if (ready_.empty() && channel_) take_shared(taken, size, bytes);
        if (ready_.empty() && !channel_ && !ended_) hub_.want_more(weak_from_this());
        return taken;
    }
    bool ended() const override {
        const std::lock_guard lock(mutex_);
        return ended_ && ready_.empty();
    }
    void when_ready(std::function<void()> ready) override {
        const std::lock_guard lock(mutex_);
        wake_ = std::move(ready);
    }

    void wake() {
        std::function<void()> wake;
        {
            const std::lock_guard lock(mutex_);
            wake = wake_;
        }
        if (wake) wake();
    }
    bool wants_more() const {
        const std::lock_guard lock(mutex_);
        return ready_.empty() && !channel_ && !ended_;
    }
    Revision cursor() const {
        const std::lock_guard lock(mutex_);
        return cursor_;
    }
    // More to take, and perhaps the channel that has what comes after it.
    void give(std::vector<Piece> pieces, Revision reaches, std::shared_ptr<Channel> channel) {
        const std::lock_guard lock(mutex_);
        for (Piece& more : pieces) ready_.push_back(std::move(more));
        cursor_ = reaches;
        channel_ = std::move(channel);
    }
    void fail(const Error& error) {
        const std::lock_guard lock(mutex_);
        ready_.push_back(piece_of(event_text("error", "", problem(error).body)));
        ended_ = true;
    }

private:
    void take_shared(std::vector<Piece>& taken, std::size_t size, std::size_t bytes) {
        std::shared_ptr<Channel> left;  // let go of after its lock
        const std::lock_guard lock(channel_->mutex);
        if (cursor_ < channel_->floor) {
            left = std::exchange(channel_, nullptr);
            return;
        }
        const auto& kept = channel_->kept;
        auto next =
            std::upper_bound(kept.begin(), kept.end(), cursor_,
                             [](Revision r, const Channel::Kept& k) { return r < k.revision; });
        for (; next != kept.end() && size < bytes; ++next) {
            size += next->text->size();
            taken.push_back(next->text);
            cursor_ = next->revision;
        }
        if (next == kept.end()) cursor_ = std::max(cursor_, channel_->reaches);
    }

    WatchHub& hub_;
    mutable std::mutex mutex_;  // taken before that of the channel
    std::deque<Piece> ready_;
    std::shared_ptr<Channel> channel_;  // none: more comes from `own`
    Revision cursor_;                   // everything up to it was taken or is ready
    bool ended_ = false;
    std::function<void()> wake_;
};

// ---- the hub ------------------------------------------------------------------------------------

WatchHub::WatchHub(coordinator::CoordinatorRuntime& coordinator, const WatchHubOptions& options)
    : coordinator_(coordinator), options_(options), thread_([this] { work(); }) {}

WatchHub::~WatchHub() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    wanted_.notify_all();
    thread_.join();
}

Result<std::shared_ptr<EventStream>> WatchHub::follow(const sql::Statement& statement,
                                                      std::unique_ptr<coordinator::Watch> opened) {
    sql::Statement same = statement;
    auto& watch = std::get<sql::Watch>(same.node);
    watch.since.reset();
    const auto* show = std::get_if<sql::Show>(&watch.source);
    TRY_ASSIGN(query, show != nullptr ? views::ViewQuery::from(*show)
                                      : views::ViewQuery::from(std::get<sql::Query>(watch.source)));
    auto follower =
        std::make_shared<Follower>(*this, sql::print(same), std::move(query), std::move(opened));
    want_more(follower);
    return std::shared_ptr<EventStream>(std::move(follower));
}

std::size_t WatchHub::channels() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(channels_.begin(), channels_.end(),
                      [](const auto& known) { return !known.second.expired(); }));
}

void WatchHub::want_look(const std::weak_ptr<Channel>& channel, Clock::time_point at) {
    {
        const std::lock_guard lock(mutex_);
        due_.push_back({.at = at, .channel = channel});
    }
    wanted_.notify_one();
}

void WatchHub::want_more(std::weak_ptr<Follower> follower) {
    {
        const std::lock_guard lock(mutex_);
        behind_.push_back(std::move(follower));
    }
    wanted_.notify_one();
}

void WatchHub::work() {
    std::unique_lock lock(mutex_);
    while (!closing_) {
        std::weak_ptr<Follower> behind;
        std::weak_ptr<Channel> with_news;
        const auto first = std::min_element(due_.begin(), due_.end(),
                                            [](const Due& a, const Due& b) { return a.at < b.at; });
        if (first != due_.end() && first->at <= Clock::now()) {
            with_news = std::move(first->channel);
            due_.erase(first);
        } else if (!behind_.empty()) {
            behind = std::move(behind_.front());
            behind_.pop_front();
        } else if (first != due_.end()) {
            const auto at = first->at;
            wanted_.wait_until(lock, at);
            continue;
        } else {
            wanted_.wait(lock);
            continue;
        }
        lock.unlock();
        if (const auto channel = with_news.lock()) look(channel);
        if (const auto follower = behind.lock()) catch_up(follower);
        lock.lock();
    }
}

void WatchHub::look(const std::shared_ptr<Channel>& channel) {
    channel->alarm->raised = false;  // before looking: what comes now is looked for again
    const auto began = Clock::now();
    const std::vector<views::TableColumn> columns = channel->watch->columns();
    while (true) {
        const auto events = channel->watch->poll();
        const std::lock_guard lock(channel->mutex);
        if (!events) {
            // Everybody goes back to a watch of their own, and is told there what is wrong.
            forget(channel);
            channel->restart_at(Revision(std::numeric_limits<std::uint64_t>::max()));
            break;
        }
        std::string text;
        for (std::size_t i = 0; i < events->size(); ++i) {
            const Revision revision = revision_of((*events)[i]);
            const auto* change = std::get_if<coordinator::WatchChange>(&(*events)[i]);
            if (change == nullptr) {  // it fell behind itself
                channel->restart_at(revision);
                continue;
            }
            const bool last = i + 1 == events->size() || revision_of((*events)[i + 1]) != revision;
            text += encoded(*change, columns, last);
            if (last) channel->keep(revision, std::exchange(text, {}));
        }
        channel->reaches = channel->watch->revision();
        channel->trim(options_.kept_bytes_max);
        if (events->empty()) break;
    }
    std::vector<std::shared_ptr<Follower>> followers;
    {
        const std::lock_guard lock(channel->mutex);
        std::erase_if(channel->followers, [](const auto& known) { return known.expired(); });
        for (const auto& known : channel->followers) {
            if (auto follower = known.lock()) followers.push_back(std::move(follower));
        }
    }
    const auto pace = std::min(options_.pace_max, options_.pace_of_follower *
                                                      static_cast<Duration::rep>(followers.size()));
    channel->alarm->not_before = began + pace;
    for (const auto& follower : followers) follower->wake();
}

void WatchHub::forget(const std::shared_ptr<Channel>& channel) {
    const std::lock_guard lock(mutex_);
    std::erase_if(channels_, [&](const auto& known) {
        return !known.second.owner_before(channel) && !channel.owner_before(known.second);
    });
}

Result<std::shared_ptr<WatchHub::Channel>> WatchHub::channel_for(const Follower& follower,
                                                                 Revision at) {
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(channels_, [](const auto& known) { return known.second.expired(); });
        const auto known = channels_.find(follower.key);
        if (known != channels_.end()) {
            if (auto channel = known->second.lock()) return channel;
        }
    }
    auto channel = std::make_shared<Channel>();
    channel->floor = at;
    channel->reaches = at;
    TRY_ASSIGN(watch, coordinator_.watch(follower.query, at));
    channel->watch = std::move(watch);
    {
        const std::lock_guard lock(mutex_);
        channels_.insert_or_assign(follower.key, channel);
    }
    channel->watch->wake_with([this, alarm = channel->alarm, weak = std::weak_ptr(channel)] {
        if (!alarm->raised.exchange(true)) want_look(weak, alarm->not_before);
    });
    return channel;
}

void WatchHub::catch_up(const std::shared_ptr<Follower>& follower) {
    if (!follower->wants_more()) return;
    const auto fail = [&](const Error& error) {
        follower->fail(error);
        follower->wake();
    };
    if (!follower->own) {
        auto again = coordinator_.watch(follower->query, follower->cursor());
        if (!again) return fail(again.error());
        follower->own = *std::move(again);
    }
    const auto events = follower->own->poll();
    if (!events) return fail(events.error());
    const std::vector<views::TableColumn> columns = follower->own->columns();
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < events->size(); ++i) {
        const bool last =
            i + 1 == events->size() || revision_of((*events)[i + 1]) != revision_of((*events)[i]);
        pieces.push_back(piece_of(std::visit(
            Overload{
                [](const coordinator::WatchSnapshot& snapshot) { return encoded(snapshot); },
                [&](const coordinator::WatchChange& change) {
                    return encoded(change, columns, last);
                },
            },
            (*events)[i])));
    }
    const Revision reaches = follower->own->revision();
    auto channel = channel_for(*follower, reaches);
    if (!channel) return fail(channel.error());
    std::shared_ptr<Channel> joined;
    {
        const std::lock_guard lock((*channel)->mutex);
        if ((*channel)->floor <= reaches) {
            joined = *channel;
            joined->followers.push_back(follower);
        }
    }
    if (joined) follower->own.reset();
    follower->give(std::move(pieces), reaches, std::move(joined));
    follower->wake();
}

}  // namespace baton::http
