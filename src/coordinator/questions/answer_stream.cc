#include "coordinator/questions/answer_stream.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "threads/waiting.h"

namespace baton::coordinator {

namespace {

// Bytes that wait for the client, about. A larger answer waits with its place in the engine.
constexpr std::size_t kAheadMax = std::size_t{16} << 20U;

std::size_t bytes_of(const SqlRow& row) {
    std::size_t bytes = sizeof(SqlRow) + row.size() * sizeof(SqlValue);
    for (const SqlValue& value : row) {
        if (const auto* text = std::get_if<std::string>(&value)) bytes += text->capacity();
    }
    return bytes;
}

}  // namespace

// Lives as long as a thread fetches for it.
struct AnswerStream::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<SqlRow> rows;
    std::size_t bytes = 0;
    std::shared_ptr<QuestionAnswer> answer;  // none: it has ended
    std::optional<Error> error;
    bool fetching = false;
    bool closed = false;
    bool interrupted = false;
    std::function<void()> wake;

    [[nodiscard]] bool wants_more() const { return answer && !closed && bytes < kAheadMax; }
    [[nodiscard]] bool is_over() const { return !answer && rows.empty(); }
};

AnswerStream::AnswerStream(FirstRows first, threads::Lane& lane, std::string user)
    : columns_(std::move(first.columns)),
      lane_(lane),
      user_(std::move(user)),
      shared_(std::make_shared<Shared>()) {
    for (SqlRow& row : first.rows) {
        shared_->bytes += bytes_of(row);
        shared_->rows.push_back(std::move(row));
    }
    shared_->answer = std::move(first.rest);
    fetch_more();
}

AnswerStream::~AnswerStream() {
    std::shared_ptr<QuestionAnswer> answer;
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->closed = true;
        shared_->wake = nullptr;
        answer = shared_->fetching ? shared_->answer : std::exchange(shared_->answer, nullptr);
    }
    if (answer) answer->interrupt();
}

void AnswerStream::fetch_more() {
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->fetching || !shared_->wants_more()) return;
        shared_->fetching = true;
    }
    if (!lane_.post(user_, [shared = shared_](bool may) { fetch(shared, may); })) {
        fetch(shared_, false);
    }
}

void AnswerStream::fetch(const std::shared_ptr<Shared>& shared, bool may) {
    std::unique_lock lock(shared->mutex);
    while (shared->wants_more()) {
        const std::shared_ptr<QuestionAnswer> answer = shared->answer;
        lock.unlock();
        auto batch = may ? answer->next()
                         : Result<AnswerBatch>(Error{
                               .code = ErrorCode::slow_down,
                               .message = "too many questions are being answered: this one ends",
                               .hint = "try again in a moment"});
        lock.lock();
        if (!batch) {
            shared->error = batch.error();
            shared->answer = nullptr;
        } else {
            for (SqlRow& row : batch->rows) {
                shared->bytes += bytes_of(row);
                shared->rows.push_back(std::move(row));
            }
            if (batch->ended) shared->answer = nullptr;
        }
        shared->changed.notify_all();
        if (shared->wake) shared->wake();
    }
    shared->fetching = false;
    const std::shared_ptr<QuestionAnswer> left =
        shared->closed ? std::exchange(shared->answer, nullptr) : nullptr;
    lock.unlock();  // the answer's place in the engine is given back without the lock
}

Result<FedRows> AnswerStream::poll(std::size_t most) {
    FedRows fed;
    {
        const std::lock_guard lock(shared_->mutex);
        while (fed.rows.size() < most && !shared_->rows.empty()) {
            shared_->bytes -= std::min(shared_->bytes, bytes_of(shared_->rows.front()));
            fed.rows.push_back(std::move(shared_->rows.front()));
            shared_->rows.pop_front();
        }
        if (shared_->is_over()) {
            if (shared_->error && fed.rows.empty()) return *shared_->error;
            fed.ended = !shared_->error;
        }
    }
    fetch_more();
    return fed;
}

Result<FedRows> AnswerStream::next(Duration timeout, std::size_t most) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        TRY_ASSIGN(fed, poll(most));
        if (fed.ended || !fed.rows.empty()) return fed;
        const threads::Waiting waiting;
        std::unique_lock lock(shared_->mutex);
        const auto news = [&] {
            return shared_->interrupted || !shared_->rows.empty() || !shared_->answer;
        };
        const bool came = shared_->changed.wait_until(lock, deadline, news);
        if (std::exchange(shared_->interrupted, false) || !came) return fed;
    }
}

void AnswerStream::interrupt() {
    const std::lock_guard lock(shared_->mutex);
    shared_->interrupted = true;
    shared_->changed.notify_all();
}

void AnswerStream::wake_with(std::function<void()> wake) {
    const std::lock_guard lock(shared_->mutex);
    shared_->wake = std::move(wake);
    if (shared_->wake) shared_->wake();
}

}  // namespace baton::coordinator
