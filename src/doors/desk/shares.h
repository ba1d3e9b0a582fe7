// Shares divides what there is only so much of, connections or bytes, among the users who want it:
// one user never has more than half of it.
//
// A Share is the part that one request or connection holds; it goes back when the Share ends.
// Any thread; a Share itself belongs to one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace baton::desk {

class Shares {
public:
    // `half_of`: the amount of which a user may have half; 0: of `most`.
    explicit Shares(std::size_t most, std::size_t half_of = 0)
        : most_(most),
          most_of_one_(std::max<std::size_t>((half_of == 0 ? most : half_of) / 2, 1)) {}

    // False, and nothing is taken: so much is not left, or the user would have more than half. The
    // empty name stands for all users, where they are not told apart: it may have all.
    [[nodiscard]] bool take(const std::string& whose, std::size_t amount) {
        const std::lock_guard lock(mutex_);
        if (amount > most_ - taken_) return false;
        const auto mine = taken_by_.find(whose);
        const std::size_t before = mine == taken_by_.end() ? 0 : mine->second;
        if (!whose.empty() && before + amount > most_of_one_) return false;
        taken_by_[whose] += amount;
        taken_ += amount;
        return true;
    }
    void give_back(const std::string& whose, std::size_t amount) {
        const std::lock_guard lock(mutex_);
        taken_ -= amount;
        const auto mine = taken_by_.find(whose);
        if (mine != taken_by_.end() && (mine->second -= amount) == 0) taken_by_.erase(mine);
    }
    [[nodiscard]] std::size_t taken() const {
        const std::lock_guard lock(mutex_);
        return taken_;
    }

private:
    const std::size_t most_;
    const std::size_t most_of_one_;
    mutable std::mutex mutex_;
    std::size_t taken_ = 0;
    std::map<std::string, std::size_t> taken_by_;
};

class Share {
public:
    Share(std::shared_ptr<Shares> shares, std::string whose)
        : shares_(std::move(shares)), whose_(std::move(whose)) {}
    ~Share() { (void)becomes(0); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False: there is no room for so much, and it is as it was. Less is always possible.
    [[nodiscard]] bool becomes(std::size_t amount) {
        if (amount > amount_ && !shares_->take(whose_, amount - amount_)) return false;
        if (amount < amount_) shares_->give_back(whose_, amount_ - amount);
        amount_ = amount;
        return true;
    }

private:
    const std::shared_ptr<Shares> shares_;
    const std::string whose_;
    std::size_t amount_ = 0;
};

}  // namespace baton::desk
