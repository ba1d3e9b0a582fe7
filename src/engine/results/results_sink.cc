#include "engine/results/results_sink.h"

#include <numeric>
#include <vector>

namespace baton::engine {

namespace {

constexpr std::size_t kMessageBytes = 1 << 20;  // a batch that is longer is cut
constexpr std::size_t kRowBytesMax = 32 << 20;  // as much as one message carries

Batch part_of(const Batch& batch, std::size_t from, std::size_t to) {
    std::vector<std::uint32_t> rows(to - from);
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(from));
    return gather(batch, rows);
}

}  // namespace

Result<Done> ResultsSink::write(const Batch& batch) {
    TRY_ASSIGN(bytes, arrow::write_arrow_batch(schema_, batch));
    if (bytes.size() > kMessageBytes && batch.rows > 1) {
        const std::size_t half = batch.rows / 2;
        TRY(write(part_of(batch, 0, half)));
        return write(part_of(batch, half, batch.rows));
    }
    if (bytes.size() > kRowBytesMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "a row has " + std::to_string(bytes.size()) + " bytes",
                     .hint = "at most " + std::to_string(kRowBytesMax) + " go to a client"};
    }
    const std::size_t size = bytes.size();
    TRY(inlet_->put(std::make_shared<const std::string>(std::move(bytes))));
    rows_ += batch.rows;
    bytes_ += size;
    return Done{};
}

}  // namespace baton::engine
