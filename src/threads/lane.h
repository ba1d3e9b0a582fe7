// Lane is a few threads for one kind of work, so that it holds up no other kind. Threads are made
// when there is work for them. Users take turns, and none of them has more than half of the places.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "threads/fair_queue.h"

namespace baton::threads {

class Lane {
public:
    // `run` gets whether it may run; false: the lane closes.
    using Work = std::function<void(bool)>;

    Lane(std::size_t threads_max, std::size_t waiting_max)
        : threads_max_(threads_max), waiting_max_(waiting_max) {}
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    // False: too much is waiting, for this user or in all, or the lane closes. The empty name
    // stands for all users.
    [[nodiscard]] bool post(const std::string& whose, Work work);
    // Work that runs is finished, work that waits is called with false. Idempotent.
    void close();
    [[nodiscard]] std::size_t waiting() const;

private:
    void serve();

    const std::size_t threads_max_;
    const std::size_t waiting_max_;
    mutable std::mutex mutex_;
    std::condition_variable filled_;
    FairQueue<Work> waiting_;
    std::size_t idle_ = 0;
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace baton::threads
