#include "engine/connectors/formatted_source.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace baton::engine {

FormattedSource::FormattedSource(Parts parts) : parts_(std::move(parts)) {
    CHECK(parts_.bytes && parts_.decoder && parts_.clock != nullptr);
}

Result<Pull> FormattedSource::pull(Batch& into, Duration patience) {
    const Instant deadline = parts_.clock->now() + patience;
    while (true) {
        if (state_ == State::ended) return Pull::end;
        if (state_ == State::draining) {
            TRY_ASSIGN(some, drain(into));
            if (some) return Pull::rows;
            if (state_ == State::ended) return Pull::end;
        }
        TRY_ASSIGN(goes_on, read_some(deadline));
        if (!goes_on) return Pull::nothing;
    }
}

Result<bool> FormattedSource::drain(Batch& into) {
    auto some = parts_.decoder->next(into);
    skipped_.set(parts_.decoder->skipped());
    if (!some) return named(some.error());
    if (*some) {
        rows_.add(into.rows);
        return true;
    }
    if (lost_) {
        TRY(take_up_again());
        return drain(into);
    }
    state_ = no_more_bytes_ ? State::ended : State::reading;
    return false;
}

// What was begun before the connection was lost goes, what came after it begins a record.
Result<Done> FormattedSource::take_up_again() {
    parts_.decoder->lost();
    lost_ = false;
    std::string_view bytes = after_loss_;
    while (!bytes.empty()) {
        auto room = parts_.decoder->room();
        if (!room) return named(room.error());
        const std::size_t count = std::min(room->size(), bytes.size());
        std::copy_n(bytes.begin(), count, room->begin());
        parts_.decoder->filled(count);
        bytes.remove_prefix(count);
    }
    after_loss_.clear();
    return Done{};
}

// Reads once; false if there is nothing to decode and the time is over.
Result<bool> FormattedSource::read_some(Instant deadline) {
    auto room = parts_.decoder->room();
    if (!room) return named(room.error());
    const Instant now = parts_.clock->now();
    Instant until = deadline;
    if (gathering_since_) until = std::min(until, *gathering_since_ + parts_.flush_interval);
    TRY_ASSIGN(got, parts_.bytes->read(*room, std::max(until - now, Duration(0))));
    if (got.reconnected) {
        // What is complete is given first.
        lost_ = true;
        reconnects_.add(1);
        bytes_.add(got.count);
        after_loss_.assign(room->data(), got.count);
        gathering_since_.reset();
        state_ = State::draining;
        return true;
    }
    bool is_full = false;
    if (got.what == BytesRead::What::bytes) {
        bytes_.add(got.count);
        parts_.decoder->filled(got.count);
        is_full = got.count == room->size();
        if (!gathering_since_) gathering_since_ = parts_.clock->now();
    }
    if (got.what == BytesRead::What::end) {
        no_more_bytes_ = true;
        if (auto ended = parts_.decoder->end(); !ended) return named(ended.error());
    }
    const Instant after = parts_.clock->now();
    const bool ripe = gathering_since_ && after - *gathering_since_ >= parts_.flush_interval;
    if (is_full || no_more_bytes_ || ripe ||
        (gathering_since_ && interrupted_.load(std::memory_order_acquire))) {
        gathering_since_.reset();
        state_ = State::draining;
        return true;
    }
    return after < deadline && !interrupted_.load(std::memory_order_acquire);
}

Error FormattedSource::named(Error error) const {
    error.message = "cannot read " + in_quotes(parts_.name) + ": " + error.message;
    return error;
}

void FormattedSource::interrupt() {
    interrupted_.store(true, std::memory_order_release);
    parts_.bytes->interrupt();
}

SourceCounts FormattedSource::counts() const {
    return {.rows = rows_.value(),
            .bytes = bytes_.value(),
            .skipped = skipped_.value(),
            .reconnects = reconnects_.value()};
}

}  // namespace baton::engine
