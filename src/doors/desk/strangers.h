// Strangers are the connections of clients that have not shown who they are. When there is no room
// for one more, the address that has most of them gives one up: one that says nothing before one
// that has begun to prove itself, the oldest first. So a crowd from one address displaces itself.
//
// Pure: no sockets, no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace baton::desk {

class Strangers {
public:
    using Number = std::uint32_t;  // that grows: the older have lower ones

    void came(Number who, const std::string& address) {
        addresses_.emplace(who, address);
        change(address, [&](Crowd& crowd) { crowd.silent.insert(who); });
    }
    // No effect on one that is not there.
    void proves(Number who) {
        const auto found = addresses_.find(who);
        if (found == addresses_.end()) return;
        change(found->second, [&](Crowd& crowd) {
            crowd.silent.erase(who);
            crowd.proving.insert(who);
        });
    }
    void left(Number who) {
        const auto found = addresses_.find(who);
        if (found == addresses_.end()) return;
        change(found->second, [&](Crowd& crowd) {
            crowd.silent.erase(who);
            crowd.proving.erase(who);
        });
        addresses_.erase(found);
    }
    // Which one gives way; none: there are none.
    [[nodiscard]] std::optional<Number> first_to_go() const {
        if (by_size_.empty()) return std::nullopt;
        const Crowd& crowd = crowds_.at(by_size_.rbegin()->second);
        return *(crowd.silent.empty() ? crowd.proving : crowd.silent).begin();
    }
    [[nodiscard]] bool contains(Number who) const { return addresses_.contains(who); }
    [[nodiscard]] std::size_t size() const { return addresses_.size(); }

private:
    struct Crowd {
        std::set<Number> silent;
        std::set<Number> proving;
        [[nodiscard]] std::size_t size() const { return silent.size() + proving.size(); }
    };

    template <class Change>
    void change(const std::string& address, const Change& how) {
        Crowd& crowd = crowds_[address];
        by_size_.erase({crowd.size(), address});
        how(crowd);
        if (crowd.size() > 0) {
            by_size_.emplace(crowd.size(), address);
        } else {
            crowds_.erase(address);
        }
    }

    std::map<Number, std::string> addresses_;
    std::map<std::string, Crowd> crowds_;  // none of them empty
    std::set<std::pair<std::size_t, std::string>> by_size_;
};

}  // namespace baton::desk
