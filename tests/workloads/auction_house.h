// The events of NexMark: an auction house, where of fifty events one is a new person, three are
// auctions and the rest are bids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace baton::workloads {

using Number = std::uint64_t;

// Times are in milliseconds.
struct Person {
    Number time = 0;
    Number id = 0;
    std::string name;
    std::string state;
};
struct Auction {
    Number time = 0;
    Number id = 0;
    Number seller = 0;
    Number category = 0;
};
struct Bid {
    Number time = 0;
    Number item = 0;
    Number bidder = 0;
    Number price = 0;
};
struct House {
    std::vector<Person> persons;
    std::vector<Auction> auctions;
    std::vector<Bid> bids;
};

struct HouseOptions {
    Number events = 30'000;
    Number events_per_second = 100;  // of event time
    // As NexMark has it: half of the bids are on one auction of the last hundred, three of four by
    // one person, and prices are spread over six powers of ten. Else everything is uniform.
    bool has_favourites = false;
};
[[nodiscard]] House auction_house(const HouseOptions& options);

// As nexmark_persons.csv, nexmark_auctions.csv and nexmark_bids.csv into that directory.
void write_house(const std::filesystem::path& to, const House& house);

}  // namespace baton::workloads
