// Metrics are the counts of the process about itself, in Prometheus' text format.
//
// Every family is in one list (docs/METRICS.md is compared with it). Counters, gauges and
// histograms are found by their labels, under a lock, and then counted without one; code that
// counts often keeps them. Values that other parts hold are collected as Samples when the page is
// made.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace baton::desk {

enum class MetricKind : std::uint8_t { counter, gauge, histogram };

struct MetricFamily {
    std::string_view name;
    MetricKind kind = MetricKind::counter;
    std::string_view labels;  // "door, kind, outcome"
    std::string_view help;
};
[[nodiscard]] std::span<const MetricFamily> metric_families();
[[nodiscard]] const MetricFamily& family_of(std::string_view name);  // a defect if there is none

using Labels = std::vector<std::pair<std::string, std::string>>;

class Counter {
public:
    void add(std::uint64_t more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

class Gauge {
public:
    void add(std::int64_t more) { value_.fetch_add(more, std::memory_order_relaxed); }
    void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
    [[nodiscard]] std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t> value_{0};
};

// Of durations: the same buckets everywhere, so that they can be added up.
class Histogram {
public:
    static constexpr std::array<std::int64_t, 12> kBoundsUs = {
        500,    1'000,   2'500,   5'000,     10'000,    25'000,
        50'000, 100'000, 500'000, 1'000'000, 5'000'000, 30'000'000};

    void observe(Duration took);

private:
    friend class Metrics;
    std::array<std::atomic<std::uint64_t>, kBoundsUs.size() + 1> buckets_{};
    std::atomic<std::uint64_t> sum_us_{0};
};

struct Sample {
    std::string_view family;
    Labels labels;
    double value = 0;
};

// Any thread. Its references live as long as it does.
class Metrics {
public:
    [[nodiscard]] Counter& counter(std::string_view family, const Labels& labels);
    [[nodiscard]] Gauge& gauge(std::string_view family, const Labels& labels);
    [[nodiscard]] Histogram& histogram(std::string_view family, const Labels& labels);

    [[nodiscard]] std::string text(const std::vector<Sample>& collected) const;

private:
    // By family, then by the labels as they are printed.
    template <class T>
    using Known = std::map<std::string, std::map<std::string, std::unique_ptr<T>>, std::less<>>;

    static void append_histogram(std::string& page, const std::string& name,
                                 const std::string& labels, const Histogram& histogram);

    mutable std::mutex mutex_;
    Known<Counter> counters_;
    Known<Gauge> gauges_;
    Known<Histogram> histograms_;
};

// The answers of one door. It makes up the labels of each counter once, so that counting costs a
// door nothing that its clients could notice. Any thread; the metrics outlive it.
class DoorAnswers {
public:
    DoorAnswers(Metrics& metrics, std::string_view door) : metrics_(metrics), door_(door) {}

    // A request of this kind was answered. `kind` and `outcome` are of small closed sets.
    void count(std::string_view kind, std::string_view outcome, Duration took);

private:
    struct Known {
        std::string kind;
        std::string outcome;
        Counter* requests;
        Histogram* seconds;
    };

    Metrics& metrics_;
    const std::string door_;
    std::mutex mutex_;
    std::vector<Known> known_;
};

}  // namespace baton::desk
