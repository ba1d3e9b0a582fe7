// The sinks that do not keep the rows: Void, Checksum; and the one before another that adds the
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/connectors/counters.h"
#include "engine/formats/encoder.h"
#include "engine/streams/row_sink.h"
#include "ports/bytes.h"
#include "ports/clock.h"

namespace baton::engine {

class VoidSink final : public RowSink {
public:
    Result<Done> write(const Batch& batch) override {
        rows_.add(batch.rows);
        return Done{};
    }
    Result<Done> flush() override { return Done{}; }
    Result<Done> finish() override { return Done{}; }
    void interrupt() override {}
    [[nodiscard]] SinkCounts counts() const override { return {.rows = rows_.value()}; }

private:
    Counter rows_;
};

// Writes, when it is finished, a header and one row: the number of rows and the sum of the bytes of
// their CSV text, delimiters included.
class ChecksumSink final : public RowSink {
public:
    ChecksumSink(std::unique_ptr<ByteSink> bytes, std::unique_ptr<formats::Encoder> encoder);

    Result<Done> write(const Batch& batch) override;
    Result<Done> flush() override { return Done{}; }
    Result<Done> finish() override;
    void interrupt() override { bytes_->interrupt(); }
    [[nodiscard]] SinkCounts counts() const override;

private:
    std::unique_ptr<ByteSink> bytes_;
    std::unique_ptr<formats::Encoder> encoder_;
    std::string text_;
    Counter rows_;
    Counter sum_;
    Counter written_;
};

// Puts a column before the others: when the row was written, in ms since 1970.
class TimestampSink final : public RowSink {
public:
    static constexpr std::string_view kColumn = "TIMESTAMP";

    TimestampSink(std::unique_ptr<RowSink> next, const Clock& clock)
        : next_(std::move(next)), clock_(clock) {}

    Result<Done> write(const Batch& batch) override;
    Result<Done> flush() override { return next_->flush(); }
    Result<Done> finish() override { return next_->finish(); }
    void interrupt() override { next_->interrupt(); }
    [[nodiscard]] SinkCounts counts() const override { return next_->counts(); }

private:
    std::unique_ptr<RowSink> next_;
    const Clock& clock_;
};

}  // namespace baton::engine
