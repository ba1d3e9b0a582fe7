#include "coordinator/control/counter_board.h"

#include <utility>

namespace baton::coordinator {

void CounterBoard::tell(const std::string& worker, std::vector<control::FragmentCounts> counts) {
    const std::lock_guard lock(mutex_);
    told_[worker] = std::move(counts);
}

void CounterBoard::forget(const std::string& worker) {
    const std::lock_guard lock(mutex_);
    told_.erase(worker);
}

views::LiveCounts CounterBoard::all() const {
    const std::lock_guard lock(mutex_);
    views::LiveCounts all;
    for (const auto& [worker, counts] : told_) {
        for (const control::FragmentCounts& one : counts) all.insert({one.key, one.counts});
    }
    return all;
}

}  // namespace baton::coordinator
