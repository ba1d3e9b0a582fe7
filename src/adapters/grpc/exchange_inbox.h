// SharedInbox is the exchange::Inbox of one receiver, shared by the threads that use it: the
// receiver waits for items, local senders wait for room, gRPC streams put items in. Receivers holds
// all the inboxes of a process. Internal to this adapter.
//
// core/exchange decides which items are dropped, granted, refused or faulty. This file adds the
// locks and the contents of items.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/exchange/directory.h"
#include "core/exchange/inbox.h"
#include "core/exchange/progress.h"
#include "engine/arrow/arrow_ipc.h"
#include "engine/streams/exchange.h"
#include "model/schema.h"

namespace baton::rpc {

// A frame as it came over the wire.
struct EncodedFrame {
    std::uint32_t origin = 0;
    std::optional<std::uint64_t> watermark;
    bool end = false;
    arrow::ArrowBytes batch;  // none: no rows
};
struct Announcement {
    std::vector<std::string> origins;
};
struct FinishMark {};

struct ExchangeItem {
    std::variant<Announcement, engine::Frame, EncodedFrame, FinishMark> what;
    std::size_t bytes = 0;  // that it counts for
};

class SharedInbox {
public:
    using OnRoom = std::function<void()>;

    SharedInbox(exchange::ReceiverId id, std::vector<std::string> senders, Schema schema,
                exchange::Limits limits);

    [[nodiscard]] const exchange::ReceiverId& id() const { return id_; }

    // ---- for senders, from any thread; each by its position among the senders ----
    struct Attached {
        std::uint64_t stream = 0;
        exchange::Progress progress;
    };
    // `on_room` is called, by the thread that takes, when the sender may go further, until the
    // stream is detached.
    [[nodiscard]] Attached attach(std::size_t sender, std::shared_ptr<const OnRoom> on_room);
    void detach(std::size_t sender, std::uint64_t stream);
    [[nodiscard]] exchange::Progress progress(std::size_t sender) const;
    [[nodiscard]] Result<Done> put(std::size_t sender, std::uint64_t number, ExchangeItem item);
    // Waits until the sender may go further. False if `interrupted` is set or the inbox was closed.
    [[nodiscard]] bool wait_for_room(std::size_t sender, const std::atomic<bool>& interrupted,
                                     bool& waited) const;
    void wake() const;  // senders that wait for room look again

    // ---- for the receiver ----
    [[nodiscard]] Result<engine::Arrived> next(Duration patience);
    void interrupt();
    void close();
    [[nodiscard]] engine::ExchangeCounts counts() const;
    // See exchange::Inbox.
    [[nodiscard]] std::optional<std::vector<std::uint64_t>> finished() const;

private:
    using Contents = decltype(ExchangeItem::what);
    using Inbox = exchange::Inbox<Contents>;

    // Outside of the lock.
    [[nodiscard]] Result<std::optional<engine::Arrived>> take(
        std::chrono::steady_clock::time_point deadline);
    [[nodiscard]] Result<engine::Arrived> understand(std::size_t sender, Contents contents);
    [[nodiscard]] engine::Arrived count(std::size_t sender, engine::Frame frame);
    [[nodiscard]] Error mistrust(const exchange::Fault& fault) const;

    const exchange::ReceiverId id_;
    const std::vector<std::string> names_;
    const Schema schema_;

    mutable std::mutex mutex_;
    mutable std::condition_variable filled_;
    mutable std::condition_variable room_;
    Inbox inbox_;
    std::map<std::pair<std::size_t, std::uint64_t>, std::shared_ptr<const OnRoom>> on_room_;
    engine::ExchangeCounts counts_;
};

// The exchange::Directory of this process, shared by its threads.
class Receivers {
public:
    using Directory = exchange::Directory<std::shared_ptr<SharedInbox>>;

    // Fails with conflict if it is open already.
    [[nodiscard]] Result<std::shared_ptr<SharedInbox>> open(const exchange::ReceiverId& id,
                                                            const std::vector<std::string>& senders,
                                                            const Schema& schema,
                                                            exchange::Limits limits);
    void close(const SharedInbox& inbox);

    [[nodiscard]] Directory::Admission admit(const exchange::ReceiverId& id,
                                             const std::string& sender, std::uint64_t schema) const;
    // Waits until it is admitted, or refused for good; none if `interrupted` is set.
    [[nodiscard]] std::optional<Directory::Admission> await(
        const exchange::ReceiverId& id, const std::string& sender, std::uint64_t schema,
        const std::atomic<bool>& interrupted) const;
    void wake() const;  // senders that await look again

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable opened_;
    Directory directory_;
};

}  // namespace baton::rpc
