// Question is one task on its way through DuckDB: bound, executed, fetched. All of it happens on
// the thread of a slot, but cancel(), which any thread may call.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>

#include <duckdb.hpp>

#include "adapters/duckdb/errors.h"
#include "adapters/duckdb/slots.h"
#include "base/result.h"
#include "ports/question_engine.h"

namespace baton::duckdb_engine {

class Question {
public:
    explicit Question(QuestionTask task) : task_(std::move(task)) {}

    void cancel();
    [[nodiscard]] bool is_cancelled() const { return cancelled_; }

    // A description needs no values for its parameters.
    enum class Goal : std::uint8_t { description, rows };
    // Steps, in this order. After an error only end() follows.
    [[nodiscard]] Result<QuestionEngine::Description> prepare(Slot& slot, Goal goal);
    [[nodiscard]] Result<AnswerBatch> fetch();
    void end(Slot& slot);

    // Instead of the first two.
    [[nodiscard]] Result<WrittenFile> write(Slot& slot, const SqlColumns& columns,
                                            const std::string& path);

private:
    // DuckDB reports by exceptions where it has no result to put an error into.
    template <class Step>
    auto guarded(Step step) -> decltype(step()) {
        try {
            return step();
        } catch (const std::exception& problem) {
            return thrown(problem);
        }
    }
    [[nodiscard]] Error thrown(const std::exception& problem);
    [[nodiscard]] Error failed(const duckdb::ErrorData& problem);
    [[nodiscard]] ErrorContext context() const;

    [[nodiscard]] Result<Done> begin(Slot& slot, const std::string& written);
    [[nodiscard]] Result<Done> bind(duckdb::unique_ptr<duckdb::SQLStatement> statement);
    [[nodiscard]] Result<Done> set_parameters(Goal goal);
    [[nodiscard]] Result<std::vector<SqlType>> parameter_types();
    [[nodiscard]] Result<Done> copy(Slot& slot, const SqlColumns& columns, const std::string& path);
    [[nodiscard]] Result<Done> execute();
    [[nodiscard]] Result<duckdb::unique_ptr<duckdb::DataChunk>> next_chunk();

    QuestionTask task_;
    std::uint64_t memory_max_ = 0;
    std::string spill_folder_;
    std::string written_;
    bool broken_ = false;
    std::atomic<bool> cancelled_ = false;
    std::mutex connection_mutex_;  // for the pointer, which cancel() uses
    duckdb::unique_ptr<duckdb::Connection> connection_;
    duckdb::unique_ptr<duckdb::PreparedStatement> prepared_;
    duckdb::case_insensitive_map_t<duckdb::BoundParameterData> values_;
    duckdb::unique_ptr<duckdb::QueryResult> result_;
};

}  // namespace baton::duckdb_engine
