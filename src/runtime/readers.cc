#include "runtime/readers.h"

#include <chrono>

namespace baton {

namespace {

constexpr std::chrono::seconds kPatience{5};

}  // namespace

Snapshot::~Snapshot() {
    if (!sql_) return;
    sql_->rollback();
    owner_->give_back(std::move(sql_));
}

Result<Snapshot> Readers::snapshot() {
    TRY_ASSIGN(sql, connection());
    Snapshot snapshot(*this, std::move(sql));
    TRY(snapshot.sql().begin(Access::read));
    TRY_ASSIGN(revision, snapshot.read().revision());
    TRY(durable_.wait_for(revision));
    snapshot.revision_ = revision;
    return snapshot;
}

Result<std::unique_ptr<Sql>> Readers::connection() {
    {
        std::unique_lock lock(mutex_);
        if (!returned_.wait_for(lock, kPatience, [&] { return free_ > 0; })) {
            return Error{.code = ErrorCode::slow_down,
                         .message = "too many reads are under way",
                         .hint = "try again in a second"};
        }
        free_ -= 1;
        if (!idle_.empty()) {
            auto sql = std::move(idle_.back());
            idle_.pop_back();
            return sql;
        }
    }
    auto made = database_.connect(Access::read);
    if (!made) give_back(nullptr);
    return made;
}

void Readers::give_back(std::unique_ptr<Sql> sql) {
    {
        const std::lock_guard lock(mutex_);
        free_ += 1;
        if (sql) idle_.push_back(std::move(sql));
    }
    returned_.notify_one();
}

}  // namespace baton
