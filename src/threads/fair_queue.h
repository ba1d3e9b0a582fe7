// FairQueue gives each user a turn: a user with many entries waits behind itself, not before
// others.
//
// Pure: no threads, no clock.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"

namespace baton::threads {

template <class T>
class FairQueue {
public:
    void push(const std::string& whose, T item) {
        std::deque<T>& queue = queues_[whose];
        if (queue.empty()) turns_.push_back(whose);
        queue.push_back(std::move(item));
        size_ += 1;
    }

    // The oldest of whose turn it is. Not if it is empty.
    [[nodiscard]] T pop() {
        CHECK(!turns_.empty());
        std::string whose = std::move(turns_.front());
        turns_.pop_front();
        const auto queue = queues_.find(whose);
        T item = std::move(queue->second.front());
        queue->second.pop_front();
        size_ -= 1;
        if (queue->second.empty()) {
            queues_.erase(queue);
        } else {
            turns_.push_back(std::move(whose));
        }
        return item;
    }

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t size_of(const std::string& whose) const {
        const auto queue = queues_.find(whose);
        return queue == queues_.end() ? 0 : queue->second.size();
    }

private:
    std::map<std::string, std::deque<T>> queues_;  // none of them empty
    std::deque<std::string> turns_;                // each of them once
    std::size_t size_ = 0;
};

}  // namespace baton::threads
