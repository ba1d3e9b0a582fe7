#include "coordinator/routing/leader_board.h"

#include <atomic>
#include <optional>
#include <utility>

namespace baton::coordinator {

void LeaderBoard::set_here(bool here) {
    {
        const std::lock_guard lock(mutex_);
        known_.here = here;
        known_.news += 1;
    }
    changed_.notify_all();
}

void LeaderBoard::set_leader(const std::optional<Leader>& leader) {
    {
        const std::lock_guard lock(mutex_);
        if (known_.leader == leader) return;
        known_.leader = leader;
        known_.news += 1;
    }
    changed_.notify_all();
}

LeaderBoard::Sighting LeaderBoard::now() const {
    const std::lock_guard lock(mutex_);
    return known_;
}

void LeaderBoard::wait(std::uint64_t news, Duration at_most, Interrupt* interrupt) const {
    // What is raised is noted apart: under the lock nobody asks the Interrupt, which calls us under
    // its own.
    std::atomic<bool> raised = false;
    std::optional<Interrupt::Listening> listening;
    if (interrupt != nullptr) {
        listening.emplace(*interrupt, [&] {
            raised = true;
            { const std::lock_guard lock(mutex_); }  // who waits has looked, or hears of it
            changed_.notify_all();
        });
        if (interrupt->raised()) raised = true;
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, at_most, [&] { return known_.news != news || raised; });
}

void LeaderBoard::doubt() const {
    const std::lock_guard lock(doubt_mutex_);
    if (look_) look_();
}

void LeaderBoard::on_doubt(std::function<void()> look) {
    const std::lock_guard lock(doubt_mutex_);
    look_ = std::move(look);
}

}  // namespace baton::coordinator
