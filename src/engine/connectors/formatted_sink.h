// FormattedSink is a RowSink over an encoder and bytes.
//
// Rows are gathered up to kBytes or until a flush; each write of bytes is whole rows.
#pragma once

#include <memory>
#include <string>

#include "engine/connectors/counters.h"
#include "engine/connectors/interruptible_pause.h"
#include "engine/formats/encoder.h"
#include "engine/streams/row_sink.h"
#include "ports/bytes.h"

namespace baton::engine {

class FormattedSink final : public RowSink {
public:
    static constexpr std::size_t kBytes = std::size_t{128} << 10U;

    struct Parts {
        std::unique_ptr<ByteSink> bytes;
        std::unique_ptr<formats::Encoder> encoder;
        bool with_header = false;
        Duration pause = Duration(0);  // after each batch
    };
    explicit FormattedSink(Parts parts);

    Result<Done> write(const Batch& batch) override;
    Result<Done> flush() override;
    Result<Done> finish() override;
    void interrupt() override;
    [[nodiscard]] SinkCounts counts() const override;

private:
    Result<Done> pass_on();

    Parts parts_;
    std::string gathered_;
    InterruptiblePause pause_;
    Counter rows_;
    Counter bytes_;
};

}  // namespace baton::engine
