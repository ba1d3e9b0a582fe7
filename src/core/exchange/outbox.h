// Outbox is the sender's side of an exchange whose receiver is another process.
//
// Input:   items to send; the receiver's answers; streams that end; the time.
// Output:  when to dial, which item to write, when to hang up.
//
// Rules:
//   - Items are numbered from 1 for the life of the outbox, whatever streams they travel on. Each
//     is kept until the receiver confirms its arrival, and travels again on a new stream until
//     then.
//   - An item is accepted only while the receiver has granted room for it: the items that are kept
//     are bounded by the grant. The last one may cross the line of bytes.
//   - There is one stream at a time. Events of any other stream change nothing.
//   - A stream carries items only after the receiver has opened it: one write at a time, in the
//     order of their numbers, from the first that has not arrived.
//   - A stream that ends is followed by another one after a pause. The pause doubles until a stream
//     opens.
//   - Three things are final: a refusal for good, a receiver that cannot be dialled by name, and a
//     receiver that confirms less than before or more than was sent. Nothing is dialled then.
// Pure: no clock, no I/O, no threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/overload.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "core/exchange/progress.h"

namespace baton::exchange {

// Streams of one outbox, in the order in which they were dialled.
using StreamNumber = std::uint64_t;

struct DialPace {
    Duration pause_first = std::chrono::milliseconds(50);
    Duration pause_max = std::chrono::seconds(2);
};

// ---- events -------------------------------------------------------------------------------------

struct Woke {};  // at the time that WakeAt named, or at any other
struct Heard {
    StreamNumber stream = 0;
    ToSender said;
};
struct Written {  // the last write on the stream; another one may follow
    StreamNumber stream = 0;
};
struct Ended {
    StreamNumber stream = 0;
};
// The stream could not be begun, and no stream of this outbox ever can.
struct CannotDial {
    StreamNumber stream = 0;
    Error error;
};
using OutboxEvent = std::variant<Woke, Heard, Written, Ended, CannotDial>;

// ---- effects ------------------------------------------------------------------------------------

// Begin the stream. Writing its opening counts as the first write.
struct Dial {
    StreamNumber stream = 0;
};
template <class Item>
struct Write {
    StreamNumber stream = 0;
    std::uint64_t number = 0;
    Item item;
};
// Cut the stream; Ended is still awaited.
struct HangUp {
    StreamNumber stream = 0;
};
// The stream worked until it was closed: another sender may use its connection.
struct GiveBack {
    StreamNumber stream = 0;
};
struct WakeAt {  // replaces any before
    Instant at;
};

template <class Item>
class Outbox {
public:
    using Effect = std::variant<Dial, Write<Item>, HangUp, GiveBack, WakeAt>;
    using Effects = std::vector<Effect>;
    struct Pushed {
        std::uint64_t number = 0;
        Effects effects;
    };

    explicit Outbox(ReceiverId to, DialPace pace = {})
        : to_(std::move(to)), pace_(pace), pause_(pace.pause_first) {}

    // The first Woke dials.
    [[nodiscard]] Effects step(Instant now, const OutboxEvent& event) {
        now_ = now;
        effects_.clear();
        std::visit(Overload{
                       [&](const Woke&) { wake(); },
                       [&](const Heard& heard) { hear(heard); },
                       [&](const Written& written) {
                           if (!is_present(written.stream)) return;
                           stream_->writing = false;
                           write_next();
                       },
                       [&](const Ended& ended) { end(ended.stream); },
                       [&](const CannotDial& failed) {
                           if (!is_present(failed.stream)) return;
                           stream_.reset();
                           fail(failed.error);
                       },
                   },
                   event);
        return std::move(effects_);
    }

    // ---- for the client ----
    // Neither room nor a reason to give up.
    [[nodiscard]] bool must_wait() const { return !halted() && !has_room(); }
    [[nodiscard]] std::optional<Error> halted() const {
        if (error_) return error_;
        if (!interrupted_) return std::nullopt;
        return Error{
            .code = ErrorCode::cancelled,
            .message = "cannot send to " + exchange::to_string(to_) + ": it was interrupted"};
    }
    // Of the next item that is pushed.
    [[nodiscard]] std::uint64_t next_number() const { return last_ + 1; }
    // Only where it need not wait and is not halted.
    [[nodiscard]] Pushed push(Item item, std::size_t bytes) {
        CHECK(has_room() && !closed_);
        effects_.clear();
        last_ += 1;
        bytes_ += bytes;
        kept_.push_back(std::move(item));
        write_next();
        return {.number = last_, .effects = std::move(effects_)};
    }
    // Of the arrival of an item; none: not known yet.
    [[nodiscard]] std::optional<Result<Done>> outcome_of(std::uint64_t number) const {
        if (arrived_ >= number) return Result<Done>(Done{});
        if (auto error = halted()) return Result<Done>(*std::move(error));
        return std::nullopt;
    }
    void interrupt() { interrupted_ = true; }
    // It dials no more. When it has no stream it may go.
    [[nodiscard]] Effects close() {
        effects_.clear();
        closed_ = true;
        dial_at_.reset();
        hang_up();
        return std::move(effects_);
    }

    // ---- for the driver ----
    // Whether the stream is worth reading on.
    [[nodiscard]] bool listens_to(StreamNumber stream) const {
        return is_present(stream) && stream_->state != State::cut;
    }
    [[nodiscard]] bool is_closed() const { return closed_; }
    [[nodiscard]] bool has_stream() const { return stream_.has_value(); }
    [[nodiscard]] std::size_t kept() const { return kept_.size(); }
    [[nodiscard]] std::uint64_t reconnects() const {
        return std::max<std::uint64_t>(opened_, 1) - 1;
    }

private:
    enum class State : std::uint8_t { dialled, open, cut };
    struct Stream {
        StreamNumber number = 0;
        State state = State::dialled;
        bool worked = false;     // it opened, and was never at fault
        bool writing = true;     // at first what opens it
        std::uint64_t sent = 0;  // the last item that was written to it
    };

    [[nodiscard]] bool is_present(StreamNumber stream) const {
        return stream_ && stream_->number == stream;
    }
    [[nodiscard]] bool has_room() const { return last_ < items_max_ && bytes_ < bytes_max_; }

    void wake() {
        if (stream_ || closed_ || error_) return;
        if (dial_at_ && now_ < *dial_at_) {
            effects_.emplace_back(WakeAt{*dial_at_});
            return;
        }
        dial_at_.reset();
        dialled_ += 1;
        stream_ = Stream{.number = dialled_};
        effects_.emplace_back(Dial{dialled_});
    }

    void end(StreamNumber stream) {
        if (!is_present(stream)) return;
        if (closed_ && stream_->worked) effects_.emplace_back(GiveBack{stream});
        stream_.reset();
        if (closed_ || error_) return;
        dial_at_ = now_ + pause_;
        pause_ = std::min(pause_ * 2, pace_.pause_max);
        effects_.emplace_back(WakeAt{*dial_at_});
    }

    void hear(const Heard& heard) {
        if (!listens_to(heard.stream)) return;
        const bool go_on =
            std::visit(Overload{
                           [&](const Opened& opened) { return open(opened.progress); },
                           [&](const Refused& refused) {
                               if (refused.for_good) {
                                   fail({.code = ErrorCode::not_supported,
                                         .message = "cannot send to worker " +
                                                    in_quotes(to_.worker) + ": " + refused.why});
                               }
                               return false;
                           },
                           [&](const Progress& progress) {
                               return stream_->state == State::open && take(progress);
                           },
                       },
                       heard.said);
        if (go_on) return write_next();
        stream_->worked = false;
        hang_up();
    }

    [[nodiscard]] bool open(const Progress& progress) {
        if (stream_->state == State::open || !take(progress)) return false;
        stream_->state = State::open;
        stream_->worked = true;
        stream_->sent = progress.arrived;
        opened_ += 1;
        pause_ = pace_.pause_first;
        return true;
    }

    [[nodiscard]] bool take(const Progress& progress) {
        if (progress.arrived < arrived_ || progress.arrived > last_) {
            fail({.code = ErrorCode::conflict,
                  .message = "cannot go on with " + exchange::to_string(to_) +
                             ": it does not know what it was sent"});
            return false;
        }
        for (; arrived_ < progress.arrived; ++arrived_) kept_.pop_front();
        items_max_ = std::max(items_max_, progress.items_max);
        bytes_max_ = std::max(bytes_max_, progress.bytes_max);
        return true;
    }

    void write_next() {
        if (!stream_ || stream_->state != State::open || stream_->writing) return;
        stream_->sent = std::max(stream_->sent, arrived_);  // an older stream carried the rest
        if (stream_->sent == last_) return;
        stream_->sent += 1;
        stream_->writing = true;
        effects_.emplace_back(Write<Item>{.stream = stream_->number,
                                          .number = stream_->sent,
                                          .item = kept_[stream_->sent - arrived_ - 1]});
    }

    void hang_up() {
        if (!stream_ || stream_->state == State::cut) return;
        stream_->state = State::cut;
        effects_.emplace_back(HangUp{stream_->number});
    }

    void fail(Error error) {
        if (!error_) error_ = std::move(error);
    }

    const ReceiverId to_;
    const DialPace pace_;

    std::uint64_t last_ = 0;     // number of the last item that was pushed
    std::uint64_t bytes_ = 0;    // of all items that were pushed
    std::uint64_t arrived_ = 0;  // the last item that is known to have arrived
    std::deque<Item> kept_;      // from arrived_ + 1 to last_
    std::uint64_t items_max_ = 0;
    std::uint64_t bytes_max_ = 0;

    std::optional<Stream> stream_;
    StreamNumber dialled_ = 0;  // the last stream
    std::uint64_t opened_ = 0;  // how many of them
    Duration pause_;            // before the next
    std::optional<Instant> dial_at_;

    bool interrupted_ = false;
    bool closed_ = false;
    std::optional<Error> error_;

    Instant now_;      // of this step
    Effects effects_;  // of this step
};

}  // namespace baton::exchange
