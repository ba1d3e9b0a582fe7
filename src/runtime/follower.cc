#include "runtime/follower.h"

#include "catalog/history.h"
#include "catalog/reader.h"

namespace baton {

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
    thread_.join();
}

bool Follower::pause() {
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
    TRY_ASSIGN(now, Reader(*sql_).revision());
    while (feed_.last() < now) {
        TRY_ASSIGN(floor, feed_floor(*sql_));
        if (feed_.last() < floor) {
            feed_.skip_to(now);
            return Done{};
        }
        TRY_ASSIGN(news, changes_after(*sql_, feed_.last(), std::nullopt, kPortion));
        if (news.changes.empty()) return Done{};
        feed_.publish(news.changes);
    }
    return Done{};
}

}  // namespace baton
