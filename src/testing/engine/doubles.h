// Sources and sinks in memory, for tests of the engine.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/streams/connectors.h"
#include "testing/engine/tables.h"

namespace baton::testing {

// Gives batches as a test says. From any thread.
class SourceScript {
public:
    void give(engine::Batch batch);
    void end();
    void fail(Error error);
    void fail_with(std::exception_ptr thrown);

    // How often a wait for an event was in vain.
    [[nodiscard]] std::size_t idle_pulls() const;
    [[nodiscard]] bool exhausted() const;  // all batches were taken
    // Until all batches were taken and the source is asked for more.
    void wait_until_asked_for_more();

private:
    friend class ScriptedSource;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<engine::Batch> batches_;
    bool ended_ = false;
    bool interrupted_ = false;
    bool waiting_ = false;  // in vain, with no batch left
    std::optional<Error> error_;
    std::exception_ptr thrown_;
    std::size_t idle_ = 0;
    engine::SourceCounts counts_;
};

// The rows that a sink got. From any thread.
class SinkRecord {
public:
    [[nodiscard]] std::vector<Row> rows() const;
    [[nodiscard]] std::vector<Row> flushed_rows() const;
    [[nodiscard]] bool finished() const;
    [[nodiscard]] std::size_t largest_batch() const;
    void wait_for_flushed(std::size_t rows);
    void block();  // from now on, writing waits
    void wait_until_blocked();
    void fail_with(Error error);  // the next write

private:
    friend class RecordingSink;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Row> rows_;
    std::size_t flushed_ = 0;
    std::size_t largest_ = 0;
    bool finished_ = false;
    bool blocks_ = false;
    bool blocked_ = false;
    bool interrupted_ = false;
    std::optional<Error> error_;
};

// Opens scripts for physical sources and one record for every sink.
class DoubleConnectors : public engine::Connectors {
public:
    // The script of a source; made on the first call.
    [[nodiscard]] SourceScript& source(PhysicalSourceId id);
    [[nodiscard]] SinkRecord& sink() { return *sink_; }
    // Sources give the rows of these tables, so many at a time, and end.
    void play(const TestTables& tables, std::size_t batch_rows);
    // From now on, opening fails so.
    void refuse(Error error) { refusal_ = std::move(error); }

    Result<std::unique_ptr<engine::RowSource>> open_source(const SourceScan& scan) override;
    Result<std::unique_ptr<engine::RowSink>> open_sink(const SinkWrite& sink,
                                                       const Schema& rows) override;

private:
    std::mutex mutex_;
    std::map<PhysicalSourceId, std::shared_ptr<SourceScript>> scripts_;
    std::shared_ptr<SinkRecord> sink_ = std::make_shared<SinkRecord>();
    TestTables tables_;
    std::size_t batch_rows_ = engine::kBatchRows;
    std::optional<Error> refusal_;
};

}  // namespace baton::testing
