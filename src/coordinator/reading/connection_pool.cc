#include "coordinator/reading/connection_pool.h"

#include <chrono>

#include "threads/waiting.h"

namespace baton::coordinator {

namespace {

constexpr std::chrono::seconds kPatience{5};

}  // namespace

Result<std::unique_ptr<Sql>> ConnectionPool::take(Urgency urgency) {
    const std::size_t kept_back = urgency == Urgency::urgent ? 0 : reserve_;
    {
        std::unique_lock lock(mutex_);
        const auto is_free = [&] { return free_ > kept_back; };
        if (!is_free()) {
            const threads::Waiting waiting;
            if (!returned_.wait_for(lock, kPatience, is_free)) {
                return Error{.code = ErrorCode::slow_down,
                             .message = busy_,
                             .hint = "try again in a second"};
            }
        }
        free_ -= 1;
        if (!idle_.empty()) {
            auto sql = std::move(idle_.back());
            idle_.pop_back();
            return sql;
        }
    }
    auto made = database_.connect(access_);
    if (!made) give_back(nullptr);
    return made;
}

void ConnectionPool::give_back(std::unique_ptr<Sql> sql) {
    {
        const std::lock_guard lock(mutex_);
        free_ += 1;
        if (sql) idle_.push_back(std::move(sql));
    }
    returned_.notify_all();  // not each of those who wait may take the last
}

}  // namespace baton::coordinator
