#include "front/lane.h"

#include <utility>

namespace baton::front {

Lane::~Lane() {
    close();
}

bool Lane::post(Work work) {
    {
        const std::lock_guard lock(mutex_);
        if (closing_ || waiting_.size() >= waiting_max_) return false;
        waiting_.push_back(std::move(work));
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
        Work work = std::move(waiting_.front());
        waiting_.pop_front();
        const bool may = !closing_;
        lock.unlock();
        work(may);
        work = nullptr;
        lock.lock();
    }
}

}  // namespace baton::front
