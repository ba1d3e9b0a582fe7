// Inbox is what has come for one receiver and was not taken yet, and Receivers are those of a
// process; internal to this adapter. Local senders and gRPC streams put into it alike.
//
// Rules:
//   - Items of a sender are numbered from 1. One that is here already is dropped, one that leaves a
//     gap is an error: each sender's items are taken in their order, and once.
//   - A sender may go `items` items and `bytes` bytes beyond what was taken; the last one may cross
//     that line. One that goes further is an error.
//   - An error is final: the receiver is told instead of its next item.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/arrow/arrow_ipc.h"
#include "engine/streams/exchange.h"
#include "model/schema.h"

namespace baton {

struct ExchangeLimits {
    std::size_t items = 16;  // on their way from one sender
    std::size_t bytes = 8 << 20;
};

struct ReceiverId {
    ExchangeKey key;
    std::string worker;

    friend auto operator<=>(const ReceiverId&, const ReceiverId&) = default;
};
[[nodiscard]] std::string to_string(const ReceiverId& id);

// A frame as it came over the wire.
struct EncodedFrame {
    std::uint32_t origin = 0;
    std::optional<std::uint64_t> watermark;
    bool end = false;
    ArrowBytes batch;  // none: no rows
};
struct Announcement {
    std::vector<std::string> origins;
};
struct FinishMark {};

struct ExchangeItem {
    std::variant<Announcement, Frame, EncodedFrame, FinishMark> what;
    std::size_t bytes = 0;  // that it counts for
};

// How far a sender came, and how far it may go.
struct ExchangeProgress {
    std::uint64_t arrived = 0;    // every item up to this number
    std::uint64_t items_max = 0;  // the last item that may be sent
    std::uint64_t bytes_max = 0;  // items may be sent while fewer bytes were, of all items so far
};

class Inbox {
public:
    using OnRoom = std::function<void()>;

    Inbox(ReceiverId id, std::vector<std::string> senders, Schema schema, ExchangeLimits limits);

    [[nodiscard]] const ReceiverId& id() const { return id_; }
    [[nodiscard]] const Schema& schema() const { return schema_; }
    [[nodiscard]] std::optional<std::size_t> position_of(const std::string& sender) const;

    // ---- for senders, from any thread ----
    // `on_room` is called, by whoever takes, when the sender may go further; it replaces that of an
    // older stream of this sender.
    ExchangeProgress attach(std::size_t sender, std::shared_ptr<const OnRoom> on_room);
    [[nodiscard]] ExchangeProgress progress(std::size_t sender) const;
    [[nodiscard]] Result<Done> put(std::size_t sender, std::uint64_t number, ExchangeItem item);
    // Waits until the sender may go further. False if `interrupted` is set or the inbox was closed.
    [[nodiscard]] bool wait_for_room(std::size_t sender, const std::atomic<bool>& interrupted,
                                     bool& waited) const;
    void wake() const;  // those who wait for room look again

    // ---- for the receiver ----
    [[nodiscard]] Result<Arrived> next(Duration patience);
    void interrupt();
    void close();
    [[nodiscard]] ExchangeCounts counts() const;
    // The numbers of the last items, if everything of all senders has arrived.
    [[nodiscard]] std::optional<std::map<std::string, std::uint64_t>> finished() const;

private:
    struct Sender {
        std::uint64_t arrived = 0;
        std::uint64_t arrived_bytes = 0;
        std::uint64_t taken = 0;
        std::uint64_t taken_bytes = 0;
        std::uint64_t attached = 0;          // how often
        bool finished = false;               // its mark has arrived
        bool ended = false;                  // and was taken
        std::optional<std::size_t> origins;  // announced, and taken
        std::shared_ptr<const OnRoom> on_room;
    };
    struct Waiting {
        std::size_t sender = 0;
        ExchangeItem item;
    };

    // Under the lock.
    [[nodiscard]] ExchangeProgress progress_of(const Sender& sender) const;
    [[nodiscard]] bool has_room(const Sender& sender) const;
    [[nodiscard]] bool all_ended() const;

    // Outside of it.
    [[nodiscard]] Result<std::optional<Arrived>> take(
        std::chrono::steady_clock::time_point deadline);
    [[nodiscard]] Result<Arrived> understand(std::size_t sender, ExchangeItem item);
    [[nodiscard]] Result<Arrived> understand_frame(std::size_t sender, Frame frame);
    [[nodiscard]] Error mistrust(std::size_t sender, const std::string& why) const;

    const ReceiverId id_;
    const std::vector<std::string> names_;
    const Schema schema_;
    const ExchangeLimits limits_;

    mutable std::mutex mutex_;
    mutable std::condition_variable filled_;
    mutable std::condition_variable room_;
    std::vector<Sender> senders_;
    std::deque<Waiting> waiting_;
    std::optional<Error> error_;
    bool interrupted_ = false;
    bool closed_ = false;
    ExchangeCounts counts_;
};

// The receivers of this process. Of those that were sent everything it is remembered, for a while,
// so that a sender that never heard so does not call for ever.
class Receivers {
public:
    // Fails with conflict if it is open already.
    [[nodiscard]] Result<std::shared_ptr<Inbox>> open(const ReceiverId& id,
                                                      const std::vector<std::string>& senders,
                                                      const Schema& schema, ExchangeLimits limits);
    void close(const Inbox& inbox);

    [[nodiscard]] std::shared_ptr<Inbox> find(const ReceiverId& id) const;  // none: null
    // Waits until it is there; null if `interrupted` is set.
    [[nodiscard]] std::shared_ptr<Inbox> await(const ReceiverId& id,
                                               const std::atomic<bool>& interrupted) const;
    void wake() const;  // those who await look again
    // The number of this sender's last item, if that receiver is closed and was sent everything.
    [[nodiscard]] std::optional<std::uint64_t> finished(const ReceiverId& id,
                                                        const std::string& sender) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable opened_;
    std::map<ReceiverId, std::shared_ptr<Inbox>> open_;
    std::map<ReceiverId, std::map<std::string, std::uint64_t>> finished_;
    std::deque<ReceiverId> finished_order_;  // the oldest first
};

}  // namespace baton
