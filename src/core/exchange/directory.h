// Directory knows the receivers of a process, and answers the senders that ask for one of them.
//
// Rules:
//   - A receiver is open once. It expects certain senders, and rows of one schema; any other sender
//     is refused for good.
//   - A sender whose receiver is not open may ask again later: it may only be early.
//   - A receiver that is gone and had everything of all senders is remembered for a while: a sender
//     that never heard so would ask for ever.
// Pure: no clock, no I/O, no threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "core/exchange/progress.h"

namespace baton::exchange {

// Whom a receiver expects, and what.
struct Expected {
    std::vector<std::string> senders;  // workers
    std::uint64_t schema = 0;          // its fingerprint
};

template <class Receiver>
class Directory {
public:
    struct Admitted {
        Receiver receiver;
        std::size_t sender = 0;  // its position among those that are expected
    };
    using Admission = std::variant<Admitted, Opened, Refused>;  // Opened: all had arrived

    explicit Directory(std::size_t remembered_max = 10'000) : remembered_max_(remembered_max) {}

    // False: it is open already.
    [[nodiscard]] bool open(const ReceiverId& id, Expected expected, Receiver receiver) {
        return open_
            .emplace(id, Entry{.expected = std::move(expected), .receiver = std::move(receiver)})
            .second;
    }
    // `finished`: the number of each sender's last item, if everything of all of them arrived.
    void close(const ReceiverId& id, const std::optional<std::vector<std::uint64_t>>& finished) {
        const auto closing = open_.find(id);
        if (closing == open_.end()) return;
        const std::vector<std::string> senders = std::move(closing->second.expected.senders);
        open_.erase(closing);
        if (!finished) return;
        std::map<std::string, std::uint64_t> numbers;
        for (std::size_t i = 0; i < senders.size(); ++i) numbers[senders[i]] = (*finished)[i];
        if (finished_.emplace(id, std::move(numbers)).second) finished_order_.push_back(id);
        if (finished_order_.size() <= remembered_max_) return;
        finished_.erase(finished_order_.front());
        finished_order_.pop_front();
    }

    // A sender on that worker has rows of that schema for the receiver.
    [[nodiscard]] Admission admit(const ReceiverId& id, const std::string& sender,
                                  std::uint64_t schema) const {
        const auto found = open_.find(id);
        if (found == open_.end()) return admit_late(id, sender);
        const auto& senders = found->second.expected.senders;
        const auto at = std::find(senders.begin(), senders.end(), sender);
        if (at == senders.end()) {
            return Refused{.why = exchange::to_string(id) + " expects nothing from worker " +
                                  in_quotes(sender),
                           .for_good = true};
        }
        if (found->second.expected.schema != schema) {
            return Refused{.why = exchange::to_string(id) + " expects rows with another schema",
                           .for_good = true};
        }
        return Admitted{.receiver = found->second.receiver,
                        .sender = static_cast<std::size_t>(at - senders.begin())};
    }

private:
    struct Entry {
        Expected expected;
        Receiver receiver;
    };

    [[nodiscard]] Admission admit_late(const ReceiverId& id, const std::string& sender) const {
        if (const auto found = finished_.find(id); found != finished_.end()) {
            if (const auto last = found->second.find(sender); last != found->second.end()) {
                return Opened{{.arrived = last->second, .items_max = last->second, .bytes_max = 0}};
            }
        }
        return Refused{.why = exchange::to_string(id) + " is not open", .for_good = false};
    }

    const std::size_t remembered_max_;
    std::map<ReceiverId, Entry> open_;
    std::map<ReceiverId, std::map<std::string, std::uint64_t>> finished_;
    std::deque<ReceiverId> finished_order_;  // the oldest first
};

}  // namespace baton::exchange
