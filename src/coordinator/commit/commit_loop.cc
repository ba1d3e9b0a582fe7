#include "coordinator/commit/commit_loop.h"

#include <future>

#include "threads/waiting.h"

namespace baton::coordinator {

namespace {

// After a commit whose outcome is unknown.
constexpr std::chrono::milliseconds kLookAgain{50};
// While nothing can be committed: what waits for the log is tried, so that an end of it is noticed
// although nobody asks for a change.
constexpr std::chrono::seconds kTryAgain{1};

Error stopped() {
    return Error{.code = ErrorCode::catalog_unavailable,
                 .message = "the coordinator is stopping",
                 .hint = "nothing happened; try again when it runs"};
}

}  // namespace

CommitLoop::CommitLoop(std::unique_ptr<Sql> sql, std::unique_ptr<SqlSync> sync, const Clock& clock,
                       const CommitLoopOptions& options, Durable& durable, Published published)
    : options_(options),
      mailbox_(options.waiting_max),
      committer_(std::move(sql), clock, options.committer),
      durable_(durable),
      settler_(std::move(sync), durable, std::move(published)),
      thread_([this] { run(); }) {}

CommitLoop::~CommitLoop() {
    stop();
}

void CommitLoop::stop() {
    mailbox_.close();
    if (thread_.joinable()) thread_.join();
    settler_.stop();
    durable_.give_up(stopped());
}

Result<Done> CommitLoop::submit(Bundle bundle, Answered answered) {
    return post({.bundle = std::make_shared<const Bundle>(std::move(bundle)),
                 .answered = std::move(answered)});
}

Result<Done> CommitLoop::post(Committer::Job job) {
    if (mailbox_.post(job)) return Done{};
    if (mailbox_.closed()) return stopped();
    const Error error{
        .code = ErrorCode::slow_down,
        .message = std::to_string(options_.waiting_max) + " requests are waiting already",
        .hint = "nothing happened; try again in 100 ms"};
    committer_.log_undone(*job.bundle, error);
    mailbox_.wake();
    return error;
}

Outcome CommitLoop::submit_and_wait(const Bundle& bundle) {
    std::promise<Outcome> promise;
    std::future<Outcome> future = promise.get_future();
    const std::shared_ptr<const Bundle> borrowed(std::shared_ptr<const Bundle>(), &bundle);
    auto posted = post({.bundle = borrowed, .answered = [&](Outcome outcome) {
                            promise.set_value(std::move(outcome));
                        }});
    if (!posted) return Refused{.step = 0, .error = posted.error()};
    const threads::Waiting waiting;
    return future.get();
}

void CommitLoop::log(catalog::StatementRecord record) {
    committer_.log(std::move(record));
    mailbox_.wake();
}

void CommitLoop::run() {
    const auto hand = [this](CommittedBatch batch) { settler_.hand(std::move(batch)); };
    for (;;) {
        const bool trouble = committer_.health().trouble().has_value();
        auto jobs = committer_.is_unsure() ? mailbox_.take(options_.batch_max, kLookAgain)
                    : trouble              ? mailbox_.take(options_.batch_max, kTryAgain)
                                           : mailbox_.take(options_.batch_max);
        const bool ending = jobs.empty() && mailbox_.closed();
        if (auto broken = settler_.broken()) {
            committer_.refuse(jobs, *broken, hand);
        } else if (!jobs.empty() || committer_.is_unsure() || committer_.has_waiting_log()) {
            committer_.run(jobs, hand);
        }
        if (ending) return;
    }
}

}  // namespace baton::coordinator
