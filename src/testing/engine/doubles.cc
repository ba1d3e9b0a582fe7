#include "testing/engine/doubles.h"

#include <algorithm>

#include "testing/eventually.h"

namespace baton::testing {

// ---- sources ------------------------------------------------------------------------------------

void SourceScript::give(engine::Batch batch) {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
    waiting_ = false;
    changed_.notify_all();
}

void SourceScript::end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
}

void SourceScript::fail(Error error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    changed_.notify_all();
}

void SourceScript::fail_with(std::exception_ptr thrown) {
    const std::lock_guard lock(mutex_);
    thrown_ = std::move(thrown);
    changed_.notify_all();
}

std::size_t SourceScript::idle_pulls() const {
    const std::lock_guard lock(mutex_);
    return idle_;
}

bool SourceScript::exhausted() const {
    const std::lock_guard lock(mutex_);
    return batches_.empty();
}

void SourceScript::wait_until_asked_for_more() {
    std::unique_lock lock(mutex_);
    await(changed_, lock, [&] { return waiting_ && batches_.empty(); });
}

class ScriptedSource : public engine::RowSource {
public:
    ScriptedSource(std::shared_ptr<SourceScript> script, std::vector<std::size_t> wanted)
        : script_(std::move(script)), wanted_(std::move(wanted)) {}

    Result<engine::Pull> pull(engine::Batch& into, Duration patience) override {
        SourceScript& script = *script_;
        std::unique_lock lock(script.mutex_);
        if (script.batches_.empty()) {
            script.waiting_ = true;
            script.changed_.notify_all();
        }
        script.changed_.wait_for(lock, patience, [&] {
            return !script.batches_.empty() || script.ended_ || script.error_ || script.thrown_ ||
                   script.interrupted_;
        });
        if (!script.batches_.empty()) {
            engine::Batch whole = std::move(script.batches_.front());
            script.batches_.pop_front();
            into = engine::Batch{.rows = whole.rows, .columns = {}};
            for (const std::size_t column : wanted_) {
                into.columns.push_back(whole.columns.at(column));
            }
            script.counts_.rows += whole.rows;
            return engine::Pull::rows;
        }
        if (script.error_) return *script.error_;
        if (script.thrown_) std::rethrow_exception(script.thrown_);
        if (script.ended_) return engine::Pull::end;
        script.idle_ += 1;
        return engine::Pull::nothing;
    }
    void interrupt() override {
        const std::lock_guard lock(script_->mutex_);
        script_->interrupted_ = true;
        script_->changed_.notify_all();
    }
    [[nodiscard]] engine::SourceCounts counts() const override {
        const std::lock_guard lock(script_->mutex_);
        return script_->counts_;
    }

private:
    std::shared_ptr<SourceScript> script_;
    std::vector<std::size_t> wanted_;
};

// ---- sinks --------------------------------------------------------------------------------------

std::vector<Row> SinkRecord::rows() const {
    const std::lock_guard lock(mutex_);
    std::vector<Row> sorted = rows_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

std::vector<Row> SinkRecord::flushed_rows() const {
    const std::lock_guard lock(mutex_);
    return {rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(flushed_)};
}

bool SinkRecord::finished() const {
    const std::lock_guard lock(mutex_);
    return finished_;
}

std::size_t SinkRecord::largest_batch() const {
    const std::lock_guard lock(mutex_);
    return largest_;
}

void SinkRecord::wait_for_flushed(std::size_t rows) {
    std::unique_lock lock(mutex_);
    await(changed_, lock, [&] { return flushed_ >= rows; });
}

void SinkRecord::block() {
    const std::lock_guard lock(mutex_);
    blocks_ = true;
}

void SinkRecord::wait_until_blocked() {
    std::unique_lock lock(mutex_);
    await(changed_, lock, [&] { return blocked_; });
}

void SinkRecord::fail_with(Error error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
}

class RecordingSink : public engine::RowSink {
public:
    explicit RecordingSink(std::shared_ptr<SinkRecord> record) : record_(std::move(record)) {}

    Result<Done> write(const engine::Batch& batch) override {
        SinkRecord& record = *record_;
        std::unique_lock lock(record.mutex_);
        if (record.error_) return *record.error_;
        if (record.blocks_) {
            record.blocked_ = true;
            record.changed_.notify_all();
            record.changed_.wait(lock, [&] { return record.interrupted_; });
            return Error{.code = ErrorCode::cancelled, .message = "interrupted"};
        }
        append_rows(record.rows_, batch);
        record.largest_ = std::max(record.largest_, batch.rows);
        return Done{};
    }
    Result<Done> flush() override {
        const std::lock_guard lock(record_->mutex_);
        record_->flushed_ = record_->rows_.size();
        record_->changed_.notify_all();
        return Done{};
    }
    Result<Done> finish() override {
        TRY(flush());
        const std::lock_guard lock(record_->mutex_);
        record_->finished_ = true;
        return Done{};
    }
    void interrupt() override {
        const std::lock_guard lock(record_->mutex_);
        record_->interrupted_ = true;
        record_->changed_.notify_all();
    }
    [[nodiscard]] engine::SinkCounts counts() const override {
        const std::lock_guard lock(record_->mutex_);
        return {.rows = record_->rows_.size(), .bytes = 0};
    }

private:
    std::shared_ptr<SinkRecord> record_;
};

// ---- connectors ---------------------------------------------------------------------------------

SourceScript& DoubleConnectors::source(PhysicalSourceId id) {
    const std::lock_guard lock(mutex_);
    auto& script = scripts_[id];
    if (!script) script = std::make_shared<SourceScript>();
    return *script;
}

void DoubleConnectors::play(const TestTables& tables, std::size_t batch_rows) {
    tables_ = tables;
    batch_rows_ = batch_rows;
}

Result<std::unique_ptr<engine::RowSource>> DoubleConnectors::open_source(const SourceScan& scan) {
    if (refusal_) return *refusal_;
    const std::lock_guard lock(mutex_);
    const auto table = tables_.find(scan.id.value());
    if (table == tables_.end()) {
        auto& script = scripts_[*scan.id];
        if (!script) script = std::make_shared<SourceScript>();
        return std::unique_ptr<engine::RowSource>(new ScriptedSource(script, scan.wanted));
    }
    // A plan may name a source more than once: each gets all rows.
    auto script = std::make_shared<SourceScript>();
    for (engine::Batch& batch : batches_of(table->second.schema, table->second.rows, batch_rows_)) {
        script->give(std::move(batch));
    }
    script->end();
    return std::unique_ptr<engine::RowSource>(new ScriptedSource(std::move(script), scan.wanted));
}

Result<std::unique_ptr<engine::RowSink>> DoubleConnectors::open_sink(const SinkWrite&,
                                                                     const Schema&) {
    if (refusal_) return *refusal_;
    return std::unique_ptr<engine::RowSink>(new RecordingSink(sink_));
}

}  // namespace baton::testing
