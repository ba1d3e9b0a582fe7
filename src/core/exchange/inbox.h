// Inbox is the receiver's side of an exchange: the items that have arrived and were not taken yet.
//
// Input:   items of several senders, by their numbers, on streams that come and go; the receiver,
//          which takes one item after the other.
// Output:  the next item, and how far each sender came and may go.
//
// Rules:
//   - Items of a sender are numbered from 1. A second arrival is dropped, a gap is a fault: the
//     items of each sender are taken in their order, and once.
//   - A sender may go `items` items and `bytes` bytes beyond what was taken. Its last item may
//     cross the line of bytes. A sender that goes further is at fault.
//   - A sender announces its origins once, before its first frame; a frame has one of them. Nothing
//     follows the finish of a sender. That a sender is gone is no end: only its finish is.
//   - A fault is final: the receiver gets it instead of its next item.
//   - Items count whatever stream of their sender they arrive on, also late on an older one. All of
//     its streams that have not ended hear of room: the last to be heard of need not be the newest.
// Pure: no clock, no I/O, no threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/overload.h"
#include "core/exchange/progress.h"

namespace baton::exchange {

struct Announces {
    std::size_t origins = 0;
};
struct Carries {
    std::uint32_t origin = 0;
};
struct Finishes {};
using Content = std::variant<Announces, Carries, Finishes>;

// A sender did what no sender does.
struct Fault {
    std::size_t sender = 0;
    std::string why;
};

enum class Put : std::uint8_t { kept, known, faulty, closed };

template <class Item>
class Inbox {
public:
    struct Parcel {
        std::uint64_t number = 0;
        std::size_t bytes = 0;
        Content content;
        Item item;
    };

    struct Nothing {};
    struct Taken {
        std::size_t sender = 0;
        Item item;
    };
    struct SenderEnded {
        std::size_t sender = 0;
        bool all = false;  // it was the last one
    };
    struct AllEnded {};  // also again
    using Next = std::variant<Nothing, Taken, SenderEnded, AllEnded, Fault>;

    Inbox(std::size_t senders, Limits limits) : limits_(limits), senders_(senders) {}

    // ---- for senders ----
    // A stream of the sender has opened; its number.
    [[nodiscard]] std::uint64_t attach(std::size_t sender) {
        Sender& known = senders_[sender];
        known.streams.push_back(++known.attached);
        return known.attached;
    }
    void detach(std::size_t sender, std::uint64_t stream) {
        std::erase(senders_[sender].streams, stream);
    }
    // Those that are to hear of room.
    [[nodiscard]] const std::vector<std::uint64_t>& streams(std::size_t sender) const {
        return senders_[sender].streams;
    }
    [[nodiscard]] Progress progress(std::size_t sender) const {
        const Sender& known = senders_[sender];
        return {.arrived = known.arrived,
                .items_max = known.taken + limits_.items,
                .bytes_max = known.taken_bytes + limits_.bytes};
    }
    [[nodiscard]] bool has_room(std::size_t sender) const {
        const Sender& known = senders_[sender];
        return known.arrived < known.taken + limits_.items &&
               known.arrived_bytes < known.taken_bytes + limits_.bytes;
    }
    [[nodiscard]] Put put(std::size_t sender, Parcel parcel) {
        Sender& known = senders_[sender];
        if (closed_) return Put::closed;
        if (parcel.number <= known.arrived) return Put::known;
        if (const char* why = fault_of(sender, parcel.number)) {
            distrust(sender, why);
            return Put::faulty;
        }
        known.arrived = parcel.number;
        known.arrived_bytes += parcel.bytes;
        known.finished = std::holds_alternative<Finishes>(parcel.content);
        waiting_.push_back({.sender = sender, .parcel = std::move(parcel)});
        return Put::kept;
    }

    // ---- for the receiver ----
    // There is nothing to take, and no reason not to wait for it.
    [[nodiscard]] bool must_wait() const {
        return !fault_ && !interrupted_ && waiting_.empty() && !all_ended();
    }
    // The next item of any sender, which makes room for another one.
    [[nodiscard]] Next take() {
        Next next;
        if (fault_) {
            next = *fault_;
        } else if (waiting_.empty()) {
            if (all_ended()) next = AllEnded{};
        } else {
            take_first(next);
        }
        return next;
    }
    // An item that was taken turned out to be faulty.
    void distrust(std::size_t sender, const std::string& why) {
        if (!fault_) fault_ = Fault{.sender = sender, .why = why};
    }
    [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }

    // Takes what is there, and waits for no more.
    void interrupt() { interrupted_ = true; }
    void close() {
        closed_ = true;
        waiting_.clear();
    }
    [[nodiscard]] bool is_closed() const { return closed_; }
    // The number of each sender's last item, if all of them have finished.
    [[nodiscard]] std::optional<std::vector<std::uint64_t>> finished() const {
        std::vector<std::uint64_t> numbers;
        for (const Sender& sender : senders_) {
            if (!sender.finished) return std::nullopt;
            numbers.push_back(sender.arrived);
        }
        return numbers;
    }

    // ---- counts ----
    [[nodiscard]] std::uint64_t taken_bytes() const {
        std::uint64_t bytes = 0;
        for (const Sender& sender : senders_) bytes += sender.taken_bytes;
        return bytes;
    }
    [[nodiscard]] std::uint64_t reconnects() const {
        std::uint64_t again = 0;
        for (const Sender& sender : senders_) {
            again += std::max<std::uint64_t>(sender.attached, 1) - 1;
        }
        return again;
    }
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

private:
    struct Sender {
        std::uint64_t arrived = 0;
        std::uint64_t arrived_bytes = 0;
        std::uint64_t taken = 0;
        std::uint64_t taken_bytes = 0;
        std::uint64_t attached = 0;
        std::vector<std::uint64_t> streams;  // that have not ended
        bool finished = false;               // its finish has arrived
        bool ended = false;                  // and was taken
        std::optional<std::size_t> origins;  // announced, and taken
    };
    struct Waiting {
        std::size_t sender = 0;
        Parcel parcel;
    };

    void take_first(Next& next) {
        Waiting first = std::move(waiting_.front());
        waiting_.pop_front();
        Sender& sender = senders_[first.sender];
        sender.taken += 1;
        sender.taken_bytes += first.parcel.bytes;
        if (std::holds_alternative<Finishes>(first.parcel.content)) {
            sender.ended = true;
            next = SenderEnded{.sender = first.sender, .all = all_ended()};
        } else if (const char* why = read(sender, first.parcel.content)) {
            distrust(first.sender, why);
            next = *fault_;
        } else {
            next.template emplace<Taken>(Taken{first.sender, std::move(first.parcel.item)});
        }
    }
    [[nodiscard]] bool all_ended() const {
        return std::all_of(senders_.begin(), senders_.end(),
                           [](const Sender& sender) { return sender.ended; });
    }
    // None: a null pointer.
    [[nodiscard]] const char* fault_of(std::size_t sender, std::uint64_t number) const {
        const Sender& known = senders_[sender];
        if (known.finished) return "it goes on after its end";
        if (!has_room(sender)) return "it sends more than it may";
        if (number != known.arrived + 1) return "an item is missing";
        return nullptr;
    }
    [[nodiscard]] static const char* read(Sender& sender, const Content& content) {
        if (const auto* announced = std::get_if<Announces>(&content)) {
            if (sender.origins) return "it announces its origins twice";
            sender.origins = announced->origins;
        } else if (const auto* carried = std::get_if<Carries>(&content)) {
            if (carried->origin >= sender.origins.value_or(0)) {
                return "a frame has an origin that was not announced";
            }
        }
        return nullptr;
    }

    const Limits limits_;
    std::vector<Sender> senders_;
    std::deque<Waiting> waiting_;
    std::optional<Fault> fault_;
    bool interrupted_ = false;
    bool closed_ = false;
};

}  // namespace baton::exchange
