#include "bench/measure.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

namespace baton::bench {

namespace fs = std::filesystem;

Arguments arguments_of(int count, char** values) {
    Arguments arguments{.directory = fs::current_path().string()};
    for (int i = 1; i < count; ++i) {
        const std::string value = values[i];
        if (value == "--tiny") {
            arguments.tiny = true;
        } else if (value == "--dir" && i + 1 < count) {
            arguments.directory = values[++i];
        } else {
            arguments.rest.push_back(value);
        }
    }
    return arguments;
}

Scratch::Scratch(const Arguments& arguments) : path_(arguments.directory + "/bench-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) give_up("cannot create a directory like " + path_);
}

Scratch::~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void give_up(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}

namespace {

double cpu_of(int whose) {
    rusage usage{};
    getrusage(whose, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

double cpu_seconds() {
    return cpu_of(RUSAGE_SELF);
}

double children_seconds() {
    return cpu_of(RUSAGE_CHILDREN);
}

std::uint64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    statm >> size >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t file_bytes(const std::string& path) {
    std::error_code none;
    const auto size = fs::file_size(path, none);
    return none ? 0 : size;
}

void Latencies::add(const Latencies& other) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
    sorted_ = false;
}

double Latencies::percentile(double p) {
    if (values_.empty()) return 0;
    if (!sorted_) std::sort(values_.begin(), values_.end());
    sorted_ = true;
    const auto last = static_cast<double>(values_.size() - 1);
    return static_cast<double>(values_[static_cast<std::size_t>(last * p / 100 + 0.5)]);
}

Measured run_clients(unsigned clients, Seconds time,
                     const std::function<void(unsigned client)>& operation, Seconds pause) {
    std::vector<Latencies> latencies(clients);
    std::atomic<bool> go = false;
    Clock::time_point end;
    std::vector<std::thread> threads;
    for (unsigned client = 0; client < clients; ++client) {
        threads.emplace_back([&, client] {
            go.wait(false);
            auto before = Clock::now();
            do {
                operation(client);
                const auto after = Clock::now();
                latencies[client].add(1e6 * Seconds(after - before).count());
                before = after;
                if (pause.count() == 0) continue;
                std::this_thread::sleep_for(pause);
                before = Clock::now();
            } while (before < end);
        });
    }
    Measured measured;
    const double cpu = cpu_seconds();
    const auto start = Clock::now();
    end = start + std::chrono::duration_cast<Clock::duration>(time);
    go = true;
    go.notify_all();
    for (std::thread& thread : threads) thread.join();
    measured.seconds = Seconds(Clock::now() - start).count();
    measured.cpu = cpu_seconds() - cpu;
    for (const Latencies& each : latencies) measured.latencies.add(each);
    measured.operations = measured.latencies.count();
    return measured;
}

double Contender::median_rate() const {
    std::vector<double> rates;
    for (const Measured& round : rounds) rates.push_back(round.rate());
    std::sort(rates.begin(), rates.end());
    return rates.empty() ? 0 : rates[rates.size() / 2];
}

double Contender::best_rate() const {
    double best = 0;
    for (const Measured& round : rounds) best = std::max(best, round.rate());
    return best;
}

double Contender::cpu_us() const {
    double cpu = 0;
    std::uint64_t operations = 0;
    for (const Measured& round : rounds) {
        cpu += round.cpu;
        operations += round.operations;
    }
    return operations == 0 ? 0 : 1e6 * cpu / static_cast<double>(operations);
}

Latencies Contender::latencies() const {
    Latencies all;
    for (const Measured& round : rounds) all.add(round.latencies);
    return all;
}

void take_turns(std::vector<Contender>& contenders, unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
        for (Contender& contender : contenders) contender.rounds.push_back(contender.turn());
    }
}

void Table::print() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const int width = static_cast<int>(widths[i]);
            std::printf(i == 0 ? "| %-*s " : "| %*s ", width, row[i].c_str());
        }
        std::printf("|\n");
        if (&row != &rows_.front()) continue;
        for (std::size_t i = 0; i < row.size(); ++i) {
            std::printf("|%s%s", std::string(widths[i] + 1, '-').c_str(), i == 0 ? "-" : ":");
        }
        std::printf("|\n");
    }
    std::printf("\n");
    std::fflush(stdout);
}

std::string text(double value, int digits) {
    std::array<char, 64> plain{};
    (void)std::snprintf(plain.data(), plain.size(), "%.*f", digits, value);
    std::string result = plain.data();
    std::size_t at = std::min(result.find('.'), result.size());
    while (at > 3 && result[at - 4] != '-') {
        at -= 3;
        result.insert(at, ",");
    }
    return result;
}

std::string milliseconds(double us) {
    return text(us / 1000, us < 100 ? 3 : 2) + " ms";
}

}  // namespace baton::bench
