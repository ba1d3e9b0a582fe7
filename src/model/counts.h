// What a fragment counts while it runs.
#pragma once

#include <cstdint>

namespace baton {

struct Counts {
    std::uint64_t rows_in = 0;  // from sources and exchanges
    std::uint64_t bytes_in = 0;
    std::uint64_t rows_out = 0;  // to sinks and exchanges
    std::uint64_t bytes_out = 0;
    std::uint64_t late = 0;     // rows that came after their window was closed
    std::uint64_t skipped = 0;  // records that could not be read
    std::uint64_t stalls = 0;   // how often somebody had to wait for who takes the rows
    std::uint64_t busy_us = 0;  // time of the processor, in microseconds
    std::uint64_t memory = 0;   // bytes held now

    friend bool operator==(const Counts&, const Counts&) = default;
};

}  // namespace baton
