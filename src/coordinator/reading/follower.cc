#include "coordinator/reading/follower.h"

#include "catalog/history.h"
#include "catalog/reader.h"

namespace baton::coordinator {

namespace {

constexpr std::size_t kPortion = 10'000;

}  // namespace

Follower::Follower(SqlDatabase& database, Feed& feed, const FollowerOptions& options)
    : database_(database), feed_(feed), options_(options), thread_([this] { run(); }) {}

Follower::~Follower() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    ended_.notify_one();
    if (options_.signals != nullptr) options_.signals->interrupt();
    thread_.join();
}

bool Follower::pause() {
    if (options_.signals != nullptr) {
        const auto signal = options_.signals->wait(options_.interval_with_signals);
        if (signal && signal->lease && options_.on_lease) options_.on_lease();
        const std::lock_guard lock(mutex_);
        if (over_ || signal) return !over_;
    }
    std::unique_lock lock(mutex_);
    return !ended_.wait_for(lock, options_.interval, [&] { return over_; });
}

void Follower::run() {
    do {
        (void)look();  // tried again after the pause
    } while (pause());
}

Result<Done> Follower::look() {
    if (!sql_) {
        TRY_ASSIGN(sql, database_.connect(Access::read));
        sql_ = std::move(sql);
    }
    TRY_ASSIGN(now, catalog::Reader(*sql_).revision());
    while (feed_.last() < now) {
        TRY_ASSIGN(floor, catalog::feed_floor(*sql_));
        if (feed_.last() < floor) {
            feed_.skip_to(now);
            return Done{};
        }
        TRY_ASSIGN(news, catalog::changes_after(*sql_, feed_.last(), std::nullopt, kPortion));
        if (news.changes.empty()) return Done{};
        feed_.publish(news.changes);
    }
    return Done{};
}

}  // namespace baton::coordinator
