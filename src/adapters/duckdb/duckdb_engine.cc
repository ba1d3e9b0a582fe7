#include "adapters/duckdb/duckdb_engine.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "adapters/duckdb/parsing.h"
#include "adapters/duckdb/question.h"
#include "adapters/duckdb/slots.h"
#include "adapters/duckdb/tree_reader.h"

namespace baton::duckdb_engine {

namespace {

constexpr std::size_t kDescribers = 1;

Error cancelled_error() {
    return {.code = ErrorCode::cancelled, .message = "the question was cancelled"};
}

// One outcome, from the thread of a slot to a caller that may leave before it comes.
template <class T>
class Outcome {
public:
    void put(Result<T> value) {
        const std::lock_guard lock(mutex_);
        if (!value_) value_.emplace(std::move(value));
        changed_.notify_all();
    }
    // The caller no longer waits.
    void cancel() { put(cancelled_error()); }

    Result<T> wait(const std::function<bool()>& given_up) {
        std::unique_lock lock(mutex_);
        while (!value_) {
            if (!given_up) {
                changed_.wait(lock);
                continue;
            }
            changed_.wait_for(lock, kPortion);
            if (value_) break;
            lock.unlock();
            const bool leaves = given_up();
            lock.lock();
            if (leaves) return cancelled_error();
        }
        return *std::move(value_);
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Result<T>> value_;
};

// A question on a slot, which it gives back in the end, whatever happened.
class Stay {
public:
    Stay(Slot& slot, QuestionTask task)
        : slot_(slot), question_(std::make_shared<Question>(std::move(task))) {}
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;
    ~Stay() { leave(); }

    void leave() {
        if (std::exchange(left_, true)) return;
        if (!ended_) question_->cancel();
        slot_.release([question = question_, &slot = slot_] { question->end(slot); });
    }
    void ended() { ended_ = true; }

    template <class T, class Step>
    std::shared_ptr<Outcome<T>> post(Step step) {
        auto outcome = std::make_shared<Outcome<T>>();
        slot_.post([question = question_, &slot = slot_, outcome, step] {
            outcome->put(step(*question, slot));
        });
        return outcome;
    }
    [[nodiscard]] Question& question() { return *question_; }

private:
    Slot& slot_;
    std::shared_ptr<Question> question_;
    bool ended_ = false;
    bool left_ = false;
};

class Answer final : public QuestionAnswer {
public:
    Answer(std::unique_ptr<Stay> stay, SqlColumns columns, std::function<bool()> given_up)
        : stay_(std::move(stay)), columns_(std::move(columns)), given_up_(std::move(given_up)) {}

    [[nodiscard]] const SqlColumns& columns() const override { return columns_; }

    Result<AnswerBatch> next() override {
        std::shared_ptr<Outcome<AnswerBatch>> outcome;
        {
            const std::lock_guard lock(mutex_);
            if (interrupted_) return cancelled_error();
            if (failure_) return *failure_;
            if (ended_) return AnswerBatch{.ended = true};
            outcome = stay_->post<AnswerBatch>(
                [](Question& question, Slot&) { return question.fetch(); });
            waiting_ = outcome;
        }
        auto batch = outcome->wait(given_up_);
        const std::lock_guard lock(mutex_);
        waiting_ = nullptr;
        if (interrupted_) return cancelled_error();
        if (!batch) failure_ = batch.error();
        ended_ = batch && batch->ended;
        if (ended_) stay_->ended();
        if (ended_ || failure_) stay_->leave();
        return batch;
    }

    void interrupt() override {
        const std::lock_guard lock(mutex_);
        if (std::exchange(interrupted_, true)) return;
        stay_->question().cancel();
        if (waiting_ != nullptr) waiting_->cancel();
        stay_->leave();
    }

private:
    std::mutex mutex_;
    std::unique_ptr<Stay> stay_;
    SqlColumns columns_;
    std::function<bool()> given_up_;
    std::shared_ptr<Outcome<AnswerBatch>> waiting_;
    std::optional<Error> failure_;
    bool interrupted_ = false;
    bool ended_ = false;
};

class Engine final : public QuestionEngine {
public:
    explicit Engine(const EngineOptions& options)
        : patience_(options.patience),
          parsing_(options.trees_max, options.tree_cache_bytes_max),
          describers_(kDescribers, limits_of(options)),
          slots_(options.slots, limits_of(options)) {}

    Result<Done> start() { return parsing_.start(); }

    Result<std::string> parse(std::string_view text) override { return parsing_.parse(text); }

    Result<std::string> print(const std::string& tree) override {
        TRY_ASSIGN(statement, statement_of(tree));
        try {
            return statement->ToString();
        } catch (const std::exception& problem) {
            return error_of(problem, {});
        }
    }

    Result<Description> describe(const QuestionTask& task) override {
        TRY_ASSIGN(slot, describers_.take(patience_, task.given_up));
        Stay stay(*slot, task);
        auto outcome = stay.post<Description>([](Question& question, Slot& place) {
            return question.prepare(place, Question::Goal::description);
        });
        return outcome->wait(task.given_up);
    }

    Result<std::unique_ptr<QuestionAnswer>> answer(QuestionTask task) override {
        TRY_ASSIGN(slot, slots_.take(patience_, task.given_up));
        const auto given_up = task.given_up;
        auto stay = std::make_unique<Stay>(*slot, std::move(task));
        auto outcome = stay->post<Description>([](Question& question, Slot& place) {
            return question.prepare(place, Question::Goal::rows);
        });
        TRY_ASSIGN(description, outcome->wait(given_up));
        return std::unique_ptr<QuestionAnswer>(
            std::make_unique<Answer>(std::move(stay), std::move(description.columns), given_up));
    }

    Result<WrittenFile> write(QuestionTask task, const SqlColumns& columns, const std::string& path,
                              const std::function<bool()>& given_up) override {
        TRY_ASSIGN(slot, slots_.take(patience_, given_up));
        Stay stay(*slot, std::move(task));
        auto outcome = stay.post<WrittenFile>([columns, path](Question& question, Slot& place) {
            return question.write(place, columns, path);
        });
        return outcome->wait(given_up);
    }

private:
    static InstanceLimits limits_of(const EngineOptions& options) {
        return {.memory_max = options.memory_max,
                .threads = options.threads,
                .spill_folder = options.spill_folder,
                .spill_bytes_max = options.spill_bytes_max};
    }

    Duration patience_;
    Parsing parsing_;
    Slots describers_;
    Slots slots_;
};

}  // namespace

Result<std::unique_ptr<QuestionEngine>> open_engine(EngineOptions options) {
    CHECK(options.slots > 0);
    auto engine = std::make_unique<Engine>(options);
    TRY(engine->start());
    return std::unique_ptr<QuestionEngine>(std::move(engine));
}

}  // namespace baton::duckdb_engine
