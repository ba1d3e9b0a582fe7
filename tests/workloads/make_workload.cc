// make_workload FROM TO: writes the data of known stream workloads into TO, and the scripts of FROM
// with the rows that they must give, which are computed here by plain loops.
//
// In a script a line `@name` stands for the rows of that name.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "base/prng.h"
#include "workloads/auction_house.h"

namespace baton::workloads {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::string>;
using Answers = std::map<std::string, Rows>;

constexpr Number kSecond = 1'000;

std::string text_of(Number value) {
    return std::to_string(value);
}
std::string text_of(double value) {
    constexpr std::size_t kLongest = 40;
    std::array<char, kLongest> text{};
    (void)std::snprintf(text.data(), text.size(), "%.9f", value);
    return text.data();
}
std::string text_of(const std::string& value) {
    return value;
}

template <typename... Cells>
std::string row(const Cells&... cells) {
    std::string text;
    ((text += (text.empty() ? "" : ",") + text_of(cells)), ...);
    return text;
}

Number floor_to(Number value, Number step) {
    return value / step * step;
}

// The starts of the windows that hold a time; none begins before 0.
std::vector<Number> starts_of(Number time, Number size, Number advance) {
    std::vector<Number> starts;
    for (Number start = 0; start <= time; start += advance) {
        if (time < start + size) starts.push_back(start);
    }
    return starts;
}

struct Mean {
    Number sum = 0;
    Number count = 0;
    [[nodiscard]] double value() const {
        return static_cast<double>(sum) / static_cast<double>(count);
    }
};

void write(const fs::path& path, const Rows& rows) {
    std::ofstream file(path);
    for (const std::string& line : rows) file << line << "\n";
    CHECK(file.good());
}

// ---- Yahoo streaming benchmark ------------------------------------------------------------------

void make_yahoo(const fs::path& to, Answers& answers) {
    constexpr Number kEvents = 30'000;
    constexpr Number kCampaigns = 100;
    constexpr Number kAdsPerCampaign = 10;
    const std::array<std::string, 3> kinds = {"view", "click", "purchase"};
    Prng prng(1);
    Rows events;
    std::map<std::pair<Number, Number>, Number> views;
    for (Number i = 0; i < kEvents; ++i) {
        const Number time = i * 4;
        const Number ad = prng.between(0, kCampaigns * kAdsPerCampaign - 1);
        const Number campaign = ad / kAdsPerCampaign;
        const std::string& kind = kinds[prng.between(0, kinds.size() - 1)];
        events.push_back(row(time, ad, campaign, kind));
        if (kind == "view") views[{floor_to(time, 10 * kSecond), campaign}] += 1;
    }
    write(to / "yahoo_events.csv", events);
    for (const auto& [at, count] : views)
        answers["yahoo_views"].push_back(row(at.first, at.second, count));
}

// ---- Linear Road --------------------------------------------------------------------------------

struct Report {
    Number time = 0;
    Number car = 0;
    Number speed = 0;
    Number way = 0;
    Number dir = 0;
    Number segment = 0;
    Number position = 0;
};

std::vector<Report> road_reports() {
    constexpr Number kCars = 1'000;
    constexpr Number kEvery = 30;  // seconds between two reports of a car
    constexpr Number kReports = 30'000;
    constexpr Number kSegmentLength = 5'280;
    constexpr Number kSegments = 20;
    Prng prng(2);
    std::vector<Number> positions;
    for (Number car = 0; car < kCars; ++car)
        positions.push_back(prng.between(0, kSegments * kSegmentLength - 1));
    std::vector<Report> reports;
    for (Number i = 0; i < kReports; ++i) {
        const Number car = i % kCars;
        const bool broken_down = car % 50 == 7 && (i / kCars) % 12 < 6;
        const Number speed = broken_down ? 0 : prng.between(10, 80);
        positions[car] = (positions[car] + speed * 44) % (kSegments * kSegmentLength);
        reports.push_back({.time = i * kEvery * kSecond / kCars,
                           .car = car,
                           .speed = speed,
                           .way = car % 2,
                           .dir = car / 2 % 2,
                           .segment = positions[car] / kSegmentLength,
                           .position = positions[car]});
    }
    return reports;
}

void make_road(const fs::path& to, Answers& answers) {
    Rows lines;
    std::map<std::tuple<Number, Number, Number, Number>, Mean> speeds;
    std::map<std::tuple<Number, Number, Number>, Number> stopped;
    for (const Report& r : road_reports()) {
        lines.push_back(row(r.time, r.car, r.speed, r.way, r.dir, r.segment, r.position));
        for (const Number start : starts_of(r.time, 300 * kSecond, 60 * kSecond)) {
            Mean& mean = speeds[{start, r.way, r.dir, r.segment}];
            mean.sum += r.speed;
            mean.count += 1;
        }
        if (r.speed > 0) continue;
        for (const Number start : starts_of(r.time, 120 * kSecond, 30 * kSecond))
            stopped[{start, r.car, r.position}] += 1;
    }
    write(to / "road_reports.csv", lines);
    constexpr double kJam = 40.0;
    for (const auto& [at, mean] : speeds) {
        const auto& [start, way, dir, segment] = at;
        const std::string line = row(start, way, dir, segment, mean.value(), mean.count);
        answers["road_speeds"].push_back(line);
        if (mean.value() < kJam) answers["road_jams"].push_back(line);
    }
    for (const auto& [at, count] : stopped) {
        const auto& [start, car, position] = at;
        if (count >= 4) answers["road_stopped"].push_back(row(start, car, position, count));
    }
}

// ---- NexMark ------------------------------------------------------------------------------------

void answer_rows(const House& house, Answers& answers) {
    constexpr double kEuros = 0.908;
    for (const Bid& b : house.bids) {
        answers["nexmark_q0"].push_back(row(b.time, b.item, b.bidder, b.price));
        answers["nexmark_q1"].push_back(row(b.time, b.item, static_cast<double>(b.price) * kEuros));
        if (b.item % 13 == 0) answers["nexmark_q2"].push_back(row(b.item, b.price));
    }
}

void answer_joins(const House& house, Answers& answers) {
    for (const Auction& a : house.auctions) {
        const Person& p = house.persons[a.seller];
        const bool near = p.state == "OR" || p.state == "ID" || p.state == "CA";
        const bool same_minute = a.time / (60 * kSecond) == p.time / (60 * kSecond);
        if (a.category == 3 && near && same_minute)
            answers["nexmark_q3"].push_back(row(p.name, p.state, a.id));
        const Number start = floor_to(a.time, 10 * kSecond);
        if (start == floor_to(p.time, 10 * kSecond))
            answers["nexmark_q8"].push_back(row(p.id, p.name, start));
    }
}

void answer_means(const House& house, Answers& answers) {
    std::map<std::pair<Number, Number>, Number> tops;  // by minute and auction
    for (const Bid& b : house.bids) {
        const Number start = floor_to(b.time, 60 * kSecond);
        if (start != floor_to(house.auctions[b.item].time, 60 * kSecond)) continue;
        Number& top = tops[{start, b.item}];
        top = std::max(top, b.price);
    }
    std::map<std::pair<Number, Number>, Mean> means;  // by minute and category
    for (const auto& [at, top] : tops) {
        Mean& mean = means[{at.first, house.auctions[at.second].category}];
        mean.sum += top;
        mean.count += 1;
    }
    for (const auto& [at, mean] : means)
        answers["nexmark_q4"].push_back(row(at.first, at.second, mean.value()));
}

void answer_tops(const House& house, Answers& answers) {
    std::map<Number, std::map<Number, Number>> counts;  // by window, of each item
    std::map<Number, Number> highest;
    for (const Bid& b : house.bids) {
        for (const Number start : starts_of(b.time, 60 * kSecond, 10 * kSecond))
            counts[start][b.item] += 1;
        Number& top = highest[floor_to(b.time, 10 * kSecond)];
        top = std::max(top, b.price);
    }
    for (const auto& [start, items] : counts) {
        Number most = 0;
        for (const auto& [item, count] : items) most = std::max(most, count);
        for (const auto& [item, count] : items) {
            if (count == most) answers["nexmark_q5"].push_back(row(start, item, count));
        }
    }
    for (const Bid& b : house.bids) {
        const Number start = floor_to(b.time, 10 * kSecond);
        if (b.price == highest[start])
            answers["nexmark_q7"].push_back(row(b.item, b.bidder, b.price, start));
    }
}

void make_nexmark(const fs::path& to, Answers& answers) {
    const House house = auction_house({});
    write_house(to, house);
    answer_rows(house, answers);
    answer_joins(house, answers);
    answer_means(house, answers);
    answer_tops(house, answers);
}

// ---- scripts ------------------------------------------------------------------------------------

bool fill(const fs::path& from, const fs::path& to, const Answers& answers) {
    std::ifstream in(from);
    std::ofstream out(to);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("@")) {
            out << line << "\n";
            continue;
        }
        const auto found = answers.find(line.substr(1));
        if (found == answers.end()) {
            std::cerr << from.string() << ": nobody knows " << line << "\n";
            return false;
        }
        for (const std::string& text : found->second) out << text << "\n";
    }
    return out.good();
}

int make(const fs::path& from, const fs::path& to) {
    fs::create_directories(to);
    Answers answers;
    make_yahoo(to, answers);
    make_road(to, answers);
    make_nexmark(to, answers);
    for (const auto& [name, rows] : answers) std::cout << name << ": " << rows.size() << " rows\n";
    for (const auto& entry : fs::directory_iterator(from)) {
        if (entry.path().extension() != ".test") continue;
        if (!fill(entry.path(), to / entry.path().filename(), answers)) return 1;
    }
    return 0;
}

}  // namespace
}  // namespace baton::workloads

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: make_workload FROM TO\n";
        return 2;
    }
    return baton::workloads::make(argv[1], argv[2]);
}
