// ResultsSink puts the rows of a query where the client that asked for them can take them.
#pragma once

#include <atomic>
#include <memory>

#include "engine/results/result_hub.h"
#include "engine/streams/row_sink.h"
#include "model/schema.h"

namespace baton::engine {

class ResultsSink final : public RowSink {
public:
    ResultsSink(std::unique_ptr<ResultInlet> inlet, Schema schema)
        : inlet_(std::move(inlet)), schema_(std::move(schema)) {}

    // Waits for the reader. Fails with cancelled if the reader is gone, and with too_large.
    Result<Done> write(const Batch& batch) override;
    Result<Done> flush() override { return Done{}; }
    Result<Done> finish() override { return inlet_->finish(); }
    void interrupt() override { inlet_->interrupt(); }
    [[nodiscard]] SinkCounts counts() const override { return {.rows = rows_, .bytes = bytes_}; }

private:
    const std::unique_ptr<ResultInlet> inlet_;
    const Schema schema_;
    std::atomic<std::uint64_t> rows_ = 0;
    std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace baton::engine
