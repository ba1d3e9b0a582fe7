// StoreAccount counts the requests and bytes of calls to object stores, for whom they are made: a
// query, a table's upkeep, or a store in all. Counting never blocks; any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace baton {

// As providers of stores sort requests on their bills.
enum class StoreRequest : std::uint8_t { get, put, list, remove };
inline constexpr std::size_t kStoreRequests = 4;

struct StoreUse {
    std::array<std::uint64_t, kStoreRequests> requests{};  // repeats included
    std::uint64_t bytes_in = 0;                            // fetched
    std::uint64_t bytes_out = 0;                           // sent
    std::uint64_t repeats = 0;
    std::uint64_t throttles = 0;  // answers 429 and 503

    [[nodiscard]] std::uint64_t of(StoreRequest kind) const {
        return requests[static_cast<std::size_t>(kind)];
    }
    friend bool operator==(const StoreUse&, const StoreUse&) = default;
};

// The cost of a store since it was opened.
struct StoreMeter {
    std::string url;  // without secrets
    StoreUse use;
};

class StoreAccount {
public:
    void add(const StoreUse& use) {
        for (std::size_t i = 0; i < kStoreRequests; ++i) plus(requests_[i], use.requests[i]);
        plus(bytes_in_, use.bytes_in);
        plus(bytes_out_, use.bytes_out);
        plus(repeats_, use.repeats);
        plus(throttles_, use.throttles);
    }

    // Each figure by itself is exact; a call that is under way may show in some of them only.
    [[nodiscard]] StoreUse use() const {
        StoreUse use;
        for (std::size_t i = 0; i < kStoreRequests; ++i) use.requests[i] = now(requests_[i]);
        use.bytes_in = now(bytes_in_);
        use.bytes_out = now(bytes_out_);
        use.repeats = now(repeats_);
        use.throttles = now(throttles_);
        return use;
    }

private:
    using Count = std::atomic<std::uint64_t>;

    static void plus(Count& count, std::uint64_t more) {
        if (more != 0) count.fetch_add(more, std::memory_order_relaxed);
    }
    static std::uint64_t now(const Count& count) { return count.load(std::memory_order_relaxed); }

    std::array<Count, kStoreRequests> requests_{};
    Count bytes_in_ = 0;
    Count bytes_out_ = 0;
    Count repeats_ = 0;
    Count throttles_ = 0;
};

}  // namespace baton
