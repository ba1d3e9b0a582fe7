// Leader says which coordinator leads; LeaseOwner says which process has a lease, and where it is
// found.
#pragma once

#include <string>
#include <string_view>

#include "base/id.h"

namespace baton {

// Another coordinator, that leads as far as this one knows.
struct Leader {
    std::string address;  // that it advertises: other coordinators and clients connect to it
    Epoch epoch;

    friend bool operator==(const Leader&, const Leader&) = default;
};

// The store of leases keeps it as one text, `process address`, which administrators read.
struct LeaseOwner {
    std::string process;  // host:pid:uuid: of this process alone, also after a restart; no space
    std::string address;  // that it advertises

    friend bool operator==(const LeaseOwner&, const LeaseOwner&) = default;
};

[[nodiscard]] inline std::string to_string(const LeaseOwner& owner) {
    return owner.process + " " + owner.address;
}

// A text without a space is an address and a process at once.
[[nodiscard]] inline LeaseOwner lease_owner_of(std::string_view text) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) {
        return {.process = std::string(text), .address = std::string(text)};
    }
    return {.process = std::string(text.substr(0, space)),
            .address = std::string(text.substr(space + 1))};
}

}  // namespace baton
