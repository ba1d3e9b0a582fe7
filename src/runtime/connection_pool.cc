#include "runtime/connection_pool.h"

#include <chrono>

namespace baton {

namespace {

constexpr std::chrono::seconds kPatience{5};

}  // namespace

Result<std::unique_ptr<Sql>> ConnectionPool::take() {
    {
        std::unique_lock lock(mutex_);
        if (!returned_.wait_for(lock, kPatience, [&] { return free_ > 0; })) {
            return Error{
                .code = ErrorCode::slow_down, .message = busy_, .hint = "try again in a second"};
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
    returned_.notify_one();
}

}  // namespace baton
