#include "threads/lane.h"

#include <algorithm>
#include <utility>

namespace baton::threads {

Lane::~Lane() {
    close();
}

bool Lane::post(const std::string& whose, Work work) {
    {
        const std::lock_guard lock(mutex_);
        if (closing_ || waiting_.size() >= waiting_max_) return false;
        const std::size_t most = std::max<std::size_t>(waiting_max_ / 2, 1);
        if (!whose.empty() && waiting_.size_of(whose) >= most) return false;
        waiting_.push(whose, std::move(work));
        if (idle_ < waiting_.size() && threads_.size() < threads_max_) {
            threads_.emplace_back([this] { serve(); });
        }
    }
    filled_.notify_one();
    return true;
}

void Lane::close() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    filled_.notify_all();
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

std::size_t Lane::waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

void Lane::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        idle_ += 1;
        filled_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
        idle_ -= 1;
        if (waiting_.empty()) return;
        Work work = waiting_.pop();
        const bool may = !closing_;
        lock.unlock();
        work(may);
        work = nullptr;
        lock.lock();
    }
}

}  // namespace baton::threads
