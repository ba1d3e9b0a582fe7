// ExchangeKey names one stream of frames of a run of a query into one worker.
#pragma once

#include <compare>
#include <cstdint>

#include "base/id.h"

namespace baton {

struct ExchangeKey {
    QueryId query;
    std::uint64_t run = 1;
    std::uint64_t exchange = 0;

    friend auto operator<=>(const ExchangeKey&, const ExchangeKey&) = default;
};

}  // namespace baton
