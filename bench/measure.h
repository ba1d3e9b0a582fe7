// How benchmarks measure: arguments, a directory, clients that run side by side, and tables.
//
// Everything is measured in this process: CPU time is that of all its threads, so it contains the
// clients as well as the coordinator. Contenders take turns within one run, so that a busy machine
// is busy for all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace baton::bench {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// [--tiny] [--dir D] and what is left.
struct Arguments {
    bool tiny = false;  // a second or less: does it still run?
    std::string directory;
    std::vector<std::string> rest;
};
[[nodiscard]] Arguments arguments_of(int count, char** values);

// A directory below the given one (by default the current one, which is on a disk), gone at the
// end.
class Scratch {
public:
    explicit Scratch(const Arguments& arguments);
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch();
    [[nodiscard]] std::string operator/(const std::string& name) const {
        return path_ + "/" + name;
    }

private:
    std::string path_;
};

// Ends the program with the error's message if there is one.
[[noreturn]] void give_up(const std::string& why);
template <class T>
T must(Result<T> result) {
    if (!result) give_up(to_string(result.error()));
    return *std::move(result);
}

[[nodiscard]] double cpu_seconds();       // of this process, all threads
[[nodiscard]] double children_seconds();  // of processes that were waited for
[[nodiscard]] std::uint64_t resident_bytes();
[[nodiscard]] std::uint64_t file_bytes(const std::string& path);  // 0 if there is none

// Latencies in microseconds.
class Latencies {
public:
    void add(double us) { values_.push_back(static_cast<float>(us)); }
    void add(const Latencies& other);
    [[nodiscard]] double percentile(double p);  // 0..100; 0 if there are none
    [[nodiscard]] std::size_t count() const { return values_.size(); }

private:
    std::vector<float> values_;
    bool sorted_ = false;
};

struct Measured {
    std::uint64_t operations = 0;
    double seconds = 0;
    double cpu = 0;  // seconds
    Latencies latencies;

    [[nodiscard]] double rate() const { return static_cast<double>(operations) / seconds; }
    [[nodiscard]] double cpu_us() const { return 1e6 * cpu / static_cast<double>(operations); }
};

// `clients` threads call `operation(client)` again and again for that long, with a pause between.
[[nodiscard]] Measured run_clients(unsigned clients, Seconds time,
                                   const std::function<void(unsigned client)>& operation,
                                   Seconds pause = Seconds(0));

// Those who are compared take turns for some rounds.
struct Contender {
    std::string name;
    std::function<Measured()> turn;
    std::vector<Measured> rounds = {};

    [[nodiscard]] double median_rate() const;
    [[nodiscard]] double best_rate() const;
    [[nodiscard]] double cpu_us() const;  // of all rounds
    [[nodiscard]] Latencies latencies() const;
};
void take_turns(std::vector<Contender>& contenders, unsigned rounds);

// A table in the form of Markdown, on the standard output.
class Table {
public:
    explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    void print() const;

private:
    std::vector<std::vector<std::string>> rows_;
};
[[nodiscard]] std::string text(double value, int digits = 0);  // 12,345.6
[[nodiscard]] std::string milliseconds(double us);             // "1.23 ms"

}  // namespace baton::bench
