// FormattedSource is a RowSource over bytes and a decoder.
//
// With a flush interval, bytes are gathered until a block is full or the first of them is that old;
// without one, rows are given as soon as their last byte is there.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "engine/connectors/counters.h"
#include "engine/formats/decoder.h"
#include "engine/streams/row_source.h"
#include "ports/bytes.h"
#include "ports/clock.h"

namespace baton::engine {

class FormattedSource final : public RowSource {
public:
    struct Parts {
        std::string name;  // for messages: a path, an address
        std::unique_ptr<ByteSource> bytes;
        std::unique_ptr<formats::Decoder> decoder;
        Duration flush_interval = Duration(0);
        const Clock* clock = nullptr;  // outlives it
    };
    explicit FormattedSource(Parts parts);

    Result<Pull> pull(Batch& into, Duration patience) override;
    void interrupt() override;
    [[nodiscard]] SourceCounts counts() const override;

private:
    enum class State : std::uint8_t { draining, reading, ended };

    Result<bool> drain(Batch& into);
    Result<Done> take_up_again();
    Result<bool> read_some(Instant deadline);
    [[nodiscard]] Error named(Error error) const;

    Parts parts_;
    State state_ = State::reading;
    bool no_more_bytes_ = false;
    bool lost_ = false;  // the connection; the bytes after it are in after_loss_
    std::string after_loss_;
    std::optional<Instant> gathering_since_;
    std::atomic<bool> interrupted_ = false;
    Counter rows_;
    Counter bytes_;
    Counter skipped_;
    Counter reconnects_;
};

}  // namespace baton::engine
