#include "workloads/auction_house.h"

#include <array>
#include <cmath>
#include <fstream>

#include "base/check.h"
#include "base/prng.h"

namespace baton::workloads {

namespace {

constexpr Number kMillisecondsPerSecond = 1'000;
constexpr Number kFavouriteOf = 100;

// One of the last `many` numbers below `count`.
Number one_of_last(Prng& prng, Number many, Number count) {
    const Number newest = count - 1;
    return prng.between(newest < many ? 0 : newest - many, newest);
}

Number favourite(Number count) {
    return (count - 1) / kFavouriteOf * kFavouriteOf;
}

Bid plain_bid(Prng& prng, Number time, const House& house) {
    const Number item = one_of_last(prng, 30, house.auctions.size());
    const Number bidder = prng.between(0, house.persons.size() - 1);
    return {.time = time, .item = item, .bidder = bidder, .price = prng.between(100, 9'999)};
}

Bid bid_with_favourites(Prng& prng, Number time, const House& house) {
    constexpr Number kFine = 1'000'000;
    const Number item = prng.between(0, 1) == 0
                            ? favourite(house.auctions.size())
                            : one_of_last(prng, kFavouriteOf, house.auctions.size());
    const Number bidder = prng.between(0, 3) > 0 ? favourite(house.persons.size())
                                                 : one_of_last(prng, 1'000, house.persons.size());
    const double u = static_cast<double>(prng.between(0, kFine - 1)) / static_cast<double>(kFine);
    return {.time = time,
            .item = item,
            .bidder = bidder,
            .price = static_cast<Number>(std::llround(100 * std::pow(10, 6 * u)))};
}

}  // namespace

House auction_house(const HouseOptions& options) {
    const std::array<std::string, 6> states = {"OR", "ID", "CA", "WA", "NY", "TX"};
    Prng prng(3);
    House house;
    for (Number i = 0; i < options.events; ++i) {
        const Number time = i * kMillisecondsPerSecond / options.events_per_second;
        const Number turn = i % 50;
        if (turn == 0) {
            const Number id = house.persons.size();
            house.persons.push_back({.time = time,
                                     .id = id,
                                     .name = "person-" + std::to_string(id),
                                     .state = states[prng.between(0, states.size() - 1)]});
        } else if (turn < 4) {
            const Number seller = one_of_last(prng, 20, house.persons.size());
            house.auctions.push_back({.time = time,
                                      .id = house.auctions.size(),
                                      .seller = seller,
                                      .category = prng.between(0, 4)});
        } else {
            house.bids.push_back(options.has_favourites ? bid_with_favourites(prng, time, house)
                                                        : plain_bid(prng, time, house));
        }
    }
    return house;
}

void write_house(const std::filesystem::path& to, const House& house) {
    std::ofstream persons(to / "nexmark_persons.csv");
    for (const Person& p : house.persons) {
        persons << p.time << ',' << p.id << ',' << p.name << ',' << p.state << '\n';
    }
    std::ofstream auctions(to / "nexmark_auctions.csv");
    for (const Auction& a : house.auctions) {
        auctions << a.time << ',' << a.id << ',' << a.seller << ',' << a.category << '\n';
    }
    std::ofstream bids(to / "nexmark_bids.csv");
    for (const Bid& b : house.bids) {
        bids << b.time << ',' << b.item << ',' << b.bidder << ',' << b.price << '\n';
    }
    CHECK(persons.good() && auctions.good() && bids.good());
}

}  // namespace baton::workloads
