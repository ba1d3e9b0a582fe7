// The counters of a running fragment.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace baton {

struct Counts {
    std::uint64_t rows_in = 0;  // from sources and exchanges
    std::uint64_t bytes_in = 0;
    std::uint64_t rows_out = 0;  // to sinks and exchanges
    std::uint64_t bytes_out = 0;
    std::uint64_t late = 0;     // rows that came after their window was closed
    std::uint64_t skipped = 0;  // records that could not be read
    std::uint64_t stalls = 0;   // how often a producer of rows had to wait for their consumer
    std::uint64_t busy_us = 0;  // processor time, in microseconds
    std::uint64_t memory = 0;   // bytes held now

    friend bool operator==(const Counts&, const Counts&) = default;
};

struct FragmentCounter {
    std::string_view name;  // of its column
    std::uint64_t Counts::*member = nullptr;
    std::string_view meaning;
};

// All of them, in the order of Counts.
inline constexpr std::array kCounters = {
    FragmentCounter{"ROWS_IN", &Counts::rows_in, "rows from sources and other workers"},
    FragmentCounter{"BYTES_IN", &Counts::bytes_in, "bytes of them"},
    FragmentCounter{"ROWS_OUT", &Counts::rows_out, "rows to sinks and other workers"},
    FragmentCounter{"BYTES_OUT", &Counts::bytes_out, "bytes of them"},
    FragmentCounter{"LATE", &Counts::late, "rows dropped: their window was closed"},
    FragmentCounter{"SKIPPED", &Counts::skipped, "records dropped: they could not be read"},
    FragmentCounter{"STALLS", &Counts::stalls, "how often it waited for the consumer of its rows"},
    FragmentCounter{"BUSY_US", &Counts::busy_us, "processor time, in microseconds"},
    FragmentCounter{"MEMORY", &Counts::memory, "bytes held in windows and joins"}};
static_assert(sizeof(Counts) == kCounters.size() * sizeof(std::uint64_t));

}  // namespace baton
