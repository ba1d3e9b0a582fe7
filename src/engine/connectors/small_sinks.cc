#include "engine/connectors/small_sinks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace baton::engine {

ChecksumSink::ChecksumSink(std::unique_ptr<ByteSink> bytes,
                           std::unique_ptr<formats::Encoder> encoder)
    : bytes_(std::move(bytes)), encoder_(std::move(encoder)) {
    CHECK(bytes_ && encoder_);
}

Result<Done> ChecksumSink::write(const Batch& batch) {
    text_.clear();
    encoder_->encode(batch, text_);
    rows_.add(batch.rows);
    sum_.add(std::accumulate(
        text_.begin(), text_.end(), std::uint64_t{0},
        [](std::uint64_t sum, char c) { return sum + static_cast<unsigned char>(c); }));
    return Done{};
}

Result<Done> ChecksumSink::finish() {
    const std::string text = "S$Count:UINT64:NOT_NULLABLE,S$Checksum:UINT64:NOT_NULLABLE\n" +
                             std::to_string(rows_.value()) + "," + std::to_string(sum_.value()) +
                             "\n";
    TRY(bytes_->write(text));
    written_.add(text.size());
    return bytes_->finish();
}

SinkCounts ChecksumSink::counts() const {
    return {.rows = rows_.value(), .bytes = written_.value()};
}

Result<Done> TimestampSink::write(const Batch& batch) {
    ColumnVector times(DataType::uint64, batch.rows);
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall_now().time_since_epoch());
    std::fill_n(times.mutable_data<std::uint64_t>(), batch.rows,
                static_cast<std::uint64_t>(now.count()));
    Batch wider{.rows = batch.rows, .columns = {}};
    wider.columns.reserve(batch.columns.size() + 1);
    wider.columns.push_back(std::move(times));
    wider.columns.insert(wider.columns.end(), batch.columns.begin(), batch.columns.end());
    return next_->write(wider);
}

}  // namespace baton::engine
