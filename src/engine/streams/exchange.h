// Exchanges carry frames between the fragments of a query on different workers.
//
// Rules:
//   - A receiver is opened before any of its senders may be started, and knows who they are.
//   - Each sender's frames arrive in their order and once, also if the connection broke in between;
//     a sender keeps what was not confirmed, and tries to reach the receiver for as long as it is
//     open. A sender that disappears does not end the stream; only its finish does.
//   - A sender waits when the receiver is not ready for more: that holds sources back. The frames
//     under way are bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/streams/frame.h"
#include "model/exchange_key.h"
#include "model/schema.h"

namespace baton::engine {

struct ExchangeCounts {
    std::uint64_t frames = 0;
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
    std::uint64_t stalls = 0;  // how often a sender had to wait for the receiver
    std::uint64_t reconnects = 0;
};

class ExchangeSender {
public:
    virtual ~ExchangeSender() = default;

    // Once, before the first frame: the origins of the stream, by names that are unique within the
    // query.
    virtual Result<Done> announce(const std::vector<std::string>& origins) = 0;
    // Waits while the receiver is not ready. Fails with cancelled once interrupted.
    virtual Result<Done> send(Frame frame) = 0;
    // After the last frame: waits until everything has arrived.
    virtual Result<Done> finish() = 0;
    virtual void interrupt() = 0;  // from any thread
    [[nodiscard]] virtual ExchangeCounts counts() const = 0;
};

enum class Arrival : std::uint8_t { announced, frame, nothing, end };

// An item from one of the senders.
struct Arrived {
    Arrival what = Arrival::nothing;   // end: of all senders
    std::size_t sender = 0;            // position in the list of senders
    std::vector<std::string> origins;  // announced
    Frame frame;                       // its origin counts in the list of its sender
};

class ExchangeReceiver {
public:
    virtual ~ExchangeReceiver() = default;

    // The next thing from any sender; waits, but no longer than `patience`. Used by one thread.
    // Taking an item makes room for more. None: there is nothing. Fails if a sender breaks the
    // protocol.
    virtual Result<Arrived> next(Duration patience) = 0;
    // From now on next() does not wait; it still gives what is there. From any thread.
    virtual void interrupt() = 0;
    [[nodiscard]] virtual ExchangeCounts counts() const = 0;
};

class Exchanges {
public:
    virtual ~Exchanges() = default;

    // `address` as in the plan's Send. Does not wait for a connection.
    virtual Result<std::unique_ptr<ExchangeSender>> open_sender(const ExchangeKey& key,
                                                                const std::string& from,
                                                                const std::string& to,
                                                                const std::string& address,
                                                                const Schema& schema) = 0;
    // `worker` is where it runs. Fails with conflict if it is open already.
    virtual Result<std::unique_ptr<ExchangeReceiver>> open_receiver(
        const ExchangeKey& key, const std::string& worker, const std::vector<std::string>& senders,
        const Schema& schema) = 0;
};

}  // namespace baton::engine
