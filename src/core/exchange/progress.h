// The words that both ends of an exchange use: how far a sender came, how far it may go, and what
// the receiver answers to a sender's stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "model/exchange_key.h"

namespace baton::exchange {

// How far one sender may be ahead of the receiver: of the items that were taken.
struct Limits {
    std::size_t items = 16;
    std::size_t bytes = 8 << 20;
};

struct ReceiverId {
    ExchangeKey key;
    std::string worker;

    friend auto operator<=>(const ReceiverId&, const ReceiverId&) = default;
};
// "exchange 5 of run 2 of query 3 on worker "HUB""
[[nodiscard]] std::string to_string(const ReceiverId& id);

struct Progress {
    std::uint64_t arrived = 0;    // every item up to this number
    std::uint64_t items_max = 0;  // the last item that may be sent
    std::uint64_t bytes_max = 0;  // items may be sent while fewer bytes were, of all items so far

    friend bool operator==(const Progress&, const Progress&) = default;
};

// The first answer on a stream; a refused stream ends.
struct Opened {
    Progress progress;
    friend bool operator==(const Opened&, const Opened&) = default;
};
struct Refused {
    std::string why;
    bool for_good = false;  // otherwise the receiver may be there later
    friend bool operator==(const Refused&, const Refused&) = default;
};
using ToSender = std::variant<Opened, Refused, Progress>;

}  // namespace baton::exchange
