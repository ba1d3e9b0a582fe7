#include "chaos/load.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "chaos/cluster.h"

namespace baton::chaos {

namespace {

constexpr std::uint64_t kRows = 20'000;
constexpr std::uint64_t kStep = 5;  // of the time, in ms, from row to row
constexpr std::uint64_t kSecond = 1'000;
constexpr std::uint64_t kJoinWindow = 100;
constexpr std::uint64_t kNumberWindow = 100;

// The rows of the file.
struct Line {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    std::uint64_t time = 0;
};
Line line(std::uint64_t i) {
    return {.key = i % 97, .value = i * 7919 % 1000, .time = i * kStep};
}

template <typename... Cells>
std::string row(Cells... cells) {
    std::string text;
    ((text += (text.empty() ? "" : ",") + std::to_string(cells)), ...);
    return text;
}

std::vector<std::string> filtered(std::uint64_t least) {
    std::vector<std::string> rows;
    for (std::uint64_t i = 0; i < kRows; ++i) {
        if (line(i).value >= least) rows.push_back(row(line(i).key, line(i).value));
    }
    return rows;
}

std::vector<std::string> summed(std::uint64_t least) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> sums;
    for (std::uint64_t i = 0; i < kRows; ++i) {
        const Line at = line(i);
        if (at.value >= least) sums[{at.time / kSecond * kSecond, at.key}] += at.value;
    }
    std::vector<std::string> rows;
    for (const auto& [group, sum] : sums) rows.push_back(row(group.first, group.second, sum));
    return rows;
}

std::vector<std::string> joined(std::uint64_t least) {
    std::vector<std::string> rows;
    constexpr std::uint64_t kPerWindow = kJoinWindow / kStep;
    for (std::uint64_t i = 0; i < kRows; ++i) {
        if (line(i).value < least) continue;
        const std::uint64_t first = i / kPerWindow * kPerWindow;
        for (std::uint64_t j = first; j < std::min(first + kPerWindow, kRows); ++j) {
            if (line(i).key != line(j).key) continue;
            rows.push_back(row(line(i).key, line(i).value, line(j).value));
        }
    }
    return rows;
}

std::vector<std::string> numbers(const Query& query) {
    std::vector<std::string> rows;
    for (std::uint64_t i = query.least; i < query.numbers; ++i) rows.push_back(row(i));
    return rows;
}

std::vector<std::string> counted(const Query& query) {
    std::map<std::uint64_t, std::uint64_t> counts;
    for (std::uint64_t i = query.least; i < query.numbers; ++i) {
        counts[i / kNumberWindow * kNumberWindow] += 1;
    }
    std::vector<std::string> rows;
    for (const auto& [start, count] : counts) rows.push_back(row(start, count));
    return rows;
}

std::string generator(const std::string& worker, std::uint64_t numbers, std::uint64_t rate) {
    return "Generator('SEQUENCE UINT64 0 " + std::to_string(numbers) +
           " 1' AS SOURCE.GENERATOR_SCHEMA, 'emit_rate " + std::to_string(rate) +
           "' AS SOURCE.GENERATOR_RATE_CONFIG, '" + worker +
           "' AS SOURCE.HOST, 'CSV' AS INPUT_FORMATTER.TYPE, SCHEMA(n UINT64 NOT NULL) AS "
           "SOURCE.SCHEMA)";
}

}  // namespace

Load::Load(std::string directory) : directory_(std::move(directory)) {
    std::ofstream file(directory_ + "/in.csv");
    for (std::uint64_t i = 0; i < kRows; ++i) {
        file << row(line(i).key, line(i).value, line(i).time) << "\n";
    }
}

Query Load::draw(Prng& prng) {
    Query query;
    query.name = "Q" + std::to_string(++drawn_);
    query.kind = static_cast<Kind>(prng.between(0, static_cast<std::uint64_t>(Kind::endless)));
    query.from = query.kind == Kind::joined_files ? 1 : prng.between(1, kWorkers - 1);
    const auto below = Workers::downstream_of(query.from);
    query.to = below[prng.between(0, below.size() - 1)];
    query.least = prng.between(0, 999);
    query.numbers = prng.between(1'000, 3'000);
    query.path = directory_ + "/" + query.name + ".csv";
    query.fails = prng.chance(1, 8);
    return query;
}

std::string Load::file_on(const std::string& worker) const {
    return "File('" + directory_ + "/in.csv' AS SOURCE.FILE_PATH, '" + worker +
           "' AS SOURCE.HOST, 'CSV' AS INPUT_FORMATTER.TYPE, SCHEMA(k UINT64 NOT NULL, v UINT64 "
           "NOT NULL, ts UINT64 NOT NULL) AS SOURCE.SCHEMA)";
}

std::string Load::select(const Query& query) const {
    const std::string from = Workers::name(query.from);
    const std::string least = std::to_string(query.least);
    constexpr std::uint64_t kRate = 1'000;
    switch (query.kind) {
        case Kind::filtered_file:
            return "SELECT k, v FROM " + file_on(from) + " WHERE v >= " + least;
        case Kind::windowed_file:
            return "SELECT start, k, SUM(v) AS total FROM " + file_on(from) +
                   " WHERE v >= " + least + " GROUP BY k WINDOW TUMBLING(ts, SIZE 1 SEC)";
        case Kind::joined_files:
            return "SELECT a.k AS k, a.v AS v, b.v AS w FROM " + file_on(from) + " AS a JOIN " +
                   file_on(Workers::name(query.from + 1)) +
                   " AS b ON a.k = b.k WINDOW TUMBLING(a.ts, b.ts, SIZE " +
                   std::to_string(kJoinWindow) + " MS) WHERE a.v >= " + least;
        case Kind::filtered_numbers:
            return "SELECT n FROM " + generator(from, query.numbers, kRate) +
                   " WHERE n >= " + least;
        case Kind::windowed_numbers:
            return "SELECT start, COUNT(*) AS c FROM " + generator(from, query.numbers, kRate) +
                   " WHERE n >= " + least + " WINDOW TUMBLING(n, SIZE " +
                   std::to_string(kNumberWindow) + " MS)";
        case Kind::endless:
            break;
    }
    constexpr std::uint64_t kNoEnd = 1'000'000'000;
    return "SELECT n FROM " + generator(from, kNoEnd, kRate);
}

std::string Load::statement(const Query& query) const {
    const std::string to = Workers::name(query.to);
    return "CREATE QUERY " + query.name + (query.fails ? " SET ('FAIL' AS QUERY.ON_FAILURE)" : "") +
           " AS " + select(query) + " INTO " +
           (query.finite() ? "File('" + query.path + "' AS SINK.FILE_PATH, " : "Void(") + "'" + to +
           "' AS SINK.HOST, 'CSV' AS OUTPUT_FORMATTER.TYPE)";
}

std::vector<std::string> Load::expected(const Query& query) {
    switch (query.kind) {
        case Kind::filtered_file:
            return filtered(query.least);
        case Kind::windowed_file:
            return summed(query.least);
        case Kind::joined_files:
            return joined(query.least);
        case Kind::filtered_numbers:
            return numbers(query);
        case Kind::windowed_numbers:
            return counted(query);
        case Kind::endless:
            break;
    }
    return {};
}

std::string Load::verify(const Query& query) const {
    std::vector<std::string> rows;
    std::ifstream file(query.path);
    std::string text;
    std::getline(file, text);  // the header
    while (std::getline(file, text)) rows.push_back(text);
    std::vector<std::string> wanted = expected(query);
    std::sort(rows.begin(), rows.end());
    std::sort(wanted.begin(), wanted.end());
    if (rows == wanted) return "";
    std::vector<std::string> missing;
    std::vector<std::string> extra;
    std::set_difference(wanted.begin(), wanted.end(), rows.begin(), rows.end(),
                        std::back_inserter(missing));
    std::set_difference(rows.begin(), rows.end(), wanted.begin(), wanted.end(),
                        std::back_inserter(extra));
    return query.name + " has ended and wrote " + std::to_string(rows.size()) + " rows of " +
           std::to_string(wanted.size()) + " to " + query.path + ": " +
           std::to_string(missing.size()) + " are missing" +
           (missing.empty() ? "" : " (" + missing.front() + " ..)") + ", " +
           std::to_string(extra.size()) + " are not expected" +
           (extra.empty() ? "" : " (" + extra.front() + " ..)");
}

}  // namespace baton::chaos
