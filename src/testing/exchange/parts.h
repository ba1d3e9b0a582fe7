// The two ends of a simulated exchange, the streams between them, and what is known from outside.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/exchange/answers.h"
#include "core/exchange/directory.h"
#include "core/exchange/inbox.h"
#include "core/exchange/outbox.h"

namespace baton::testing {

struct SimItem {
    std::uint64_t run = 0;
    std::size_t sender = 0;
    std::uint64_t place = 0;  // 0 is the announcement
    std::size_t bytes = 0;
    exchange::Content content;
};
using SimOutbox = exchange::Outbox<SimItem>;
using SimInbox = exchange::Inbox<SimItem>;

// The true events of one run of the query.
struct ExchangeRecord {
    struct Row {
        std::uint64_t frames = 0;  // that it has
        std::uint64_t pushed = 0;
        std::uint64_t pushed_bytes = 0;
        std::uint64_t arrived = 0;
        std::uint64_t taken = 0;
        std::uint64_t taken_bytes = 0;
        bool ended = false;     // the receiver has taken its end
        bool finished = false;  // the sender got the word that all has arrived
    };
    std::uint64_t run = 0;
    std::vector<Row> rows;
    bool all_taken = false;
};

struct SimReceiver {
    std::shared_ptr<ExchangeRecord> record;
    SimInbox inbox;
    // Those of a sender that are attached, by their numbers in the inbox.
    std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> streams;
    std::vector<std::uint64_t> newest;  // of each sender, as it dialled
    bool taking = false;
};
using SimDirectory = exchange::Directory<std::shared_ptr<SimReceiver>>;

struct SimSender {
    std::shared_ptr<ExchangeRecord> record;
    std::size_t index = 0;
    SimOutbox outbox;
    bool producing = false;
    std::optional<std::uint64_t> finish;  // the number of its finish, once it is pushed
    std::optional<std::uint64_t> stream;  // the present one
    std::optional<Instant> stream_ended;  // the last one
    bool closed = false;
};

struct SimStream {
    std::uint64_t sender = 0;
    std::size_t index = 0;  // of the sender's process
    exchange::StreamNumber number = 0;
    bool broken = false;    // nothing that is sent from now on arrives
    bool loses_up = false;  // nor does what is on its way to the receiver
    bool loses_down = false;
    Duration lag{};       // of every message
    Instant stuck_until;  // nothing arrives at the receiver before
    Instant up_free;      // the next message arrives after those before it
    Instant down_free;
    // The sender's end:
    bool client_up = true;
    bool client_writes = false;
    std::uint64_t last_written = 0;
    // The receiver's end:
    bool server_reads = true;
    bool server_done = false;
    bool server_writes = false;
    exchange::Answers answers;
    std::shared_ptr<SimReceiver> receiver;
    std::size_t position = 0;
    std::uint64_t attached = 0;  // its number in the inbox
};

}  // namespace baton::testing
