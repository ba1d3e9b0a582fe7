#include "engine/connectors/formatted_sink.h"

#include <utility>

#include "base/check.h"

namespace baton::engine {

FormattedSink::FormattedSink(Parts parts) : parts_(std::move(parts)) {
    CHECK(parts_.bytes && parts_.encoder);
    if (parts_.with_header) gathered_ = parts_.encoder->header();
}

Result<Done> FormattedSink::write(const Batch& batch) {
    parts_.encoder->encode(batch, gathered_);
    rows_.add(batch.rows);
    const bool pauses = parts_.pause > Duration(0);
    if (gathered_.size() >= kBytes || pauses) TRY(pass_on());
    if (pauses && !pause_.wait(parts_.pause)) {
        return Error{.code = ErrorCode::cancelled,
                     .message = "cannot write any further: it was interrupted"};
    }
    return Done{};
}

Result<Done> FormattedSink::pass_on() {
    if (gathered_.empty()) return Done{};
    TRY(parts_.bytes->write(gathered_));
    bytes_.add(gathered_.size());
    gathered_.clear();
    return Done{};
}

Result<Done> FormattedSink::flush() {
    TRY(pass_on());
    return parts_.bytes->flush();
}

Result<Done> FormattedSink::finish() {
    TRY(pass_on());
    return parts_.bytes->finish();
}

void FormattedSink::interrupt() {
    pause_.interrupt();
    parts_.bytes->interrupt();
}

SinkCounts FormattedSink::counts() const {
    return {.rows = rows_.value(), .bytes = bytes_.value()};
}

}  // namespace baton::engine
