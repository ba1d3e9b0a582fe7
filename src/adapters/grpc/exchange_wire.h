// The messages of proto/baton/exchange.proto, as this adapter uses them; internal to it.
//
// Reading is strict, and fails with malformed_message. It does not check the bytes of a batch; the
// receiver that takes the batch does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "adapters/grpc/exchange_inbox.h"
#include "base/result.h"
#include "core/exchange/progress.h"
#include "model/schema.h"

namespace baton::wire {
class ToReceiver;
class ToSender;
}  // namespace baton::wire

namespace baton::rpc {

inline constexpr std::size_t kExchangeBytesMax = 64 << 20;  // of one message
inline constexpr std::uint32_t kExchangeProtocol = 1;
inline constexpr std::size_t kItemBytes = 64;  // that an item counts for beside its batch

// Equal for schemas with the same names and types in the same order.
[[nodiscard]] std::uint64_t fingerprint(const Schema& schema);

struct OpenExchange {
    exchange::ReceiverId receiver;
    std::string sender;
    std::uint64_t schema = 0;
    std::uint32_t protocol = kExchangeProtocol;
};
struct NumberedItem {
    std::uint64_t number = 0;
    ExchangeItem item;
};

using SaidToReceiver = std::variant<OpenExchange, NumberedItem>;

// A frame with its rows in Arrow's format.
struct OutgoingFrame {
    std::uint32_t origin = 0;
    std::optional<std::uint64_t> watermark;
    bool end = false;
    std::string batch;  // empty: no rows
};
using OutgoingItem = std::variant<Announcement, OutgoingFrame, FinishMark>;

void write(const OpenExchange& open, wire::ToReceiver& message);
void write(std::uint64_t number, OutgoingItem item, wire::ToReceiver& message);
// The number of bytes that the item counts for, the same at both ends.
[[nodiscard]] std::size_t bytes_of(const OutgoingItem& item);
void write(const exchange::ToSender& said, wire::ToSender& message);

// Takes the bytes of a batch out of the message.
[[nodiscard]] Result<SaidToReceiver> read(wire::ToReceiver& message);
[[nodiscard]] Result<exchange::ToSender> read(const wire::ToSender& message);

}  // namespace baton::rpc
