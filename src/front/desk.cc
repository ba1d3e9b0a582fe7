#include "front/desk.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace baton::front {

// ---- the desk -----------------------------------------------------------------------------------

namespace {

std::size_t processors() {
    return std::max<std::size_t>(std::thread::hardware_concurrency(), 2);
}

}  // namespace

Desk::Desk(CoordinatorRuntime& coordinator, const DeskOptions& options)
    : coordinator_(coordinator),
      options_(options),
      working_max_(options.working_max == 0 ? processors() : options.working_max) {
    for (std::size_t i = 0; i < options.threads; ++i) {
        threads_.emplace_back([this] { serve(); });
    }
}

Desk::~Desk() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    filled_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

std::shared_ptr<Visitor> Desk::visitor(Principal who) {
    return std::make_shared<Visitor>(*this, std::move(who));
}

Desk::Load Desk::load() const {
    const std::lock_guard lock(mutex_);
    return {.waiting = waiting_.size(), .running = running_, .visitors = visitors_};
}

Error Desk::refusal() const {
    const std::lock_guard lock(mutex_);
    if (closing_) {
        return {.code = ErrorCode::cancelled, .message = "the coordinator is shutting down"};
    }
    return {.code = ErrorCode::slow_down,
            .message = "too many requests are waiting",
            .hint = "try again in a moment"};
}

bool Desk::post(Work work) {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        if (closing_ || waiting_.size() >= options_.waiting_max) return false;
        waiting_.push_back(std::move(work));
        wake = has_room() || !watched_;
    }
    if (wake) filled_.notify_one();
    return true;
}

void Desk::waits() {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        working_ -= 1;
        wake = !waiting_.empty();
    }
    if (wake) filled_.notify_one();
}

// It is not held up, even if another works in its place by now.
void Desk::goes_on() {
    const std::lock_guard lock(mutex_);
    working_ += 1;
}

bool Desk::wait_for_work(std::unique_lock<std::mutex>& lock) {
    while (true) {
        if (!waiting_.empty() && (has_room() || closing_)) return true;
        if (closing_) return false;
        if (waiting_.empty() || watched_) {
            filled_.wait(lock);
            continue;
        }
        watched_ = true;
        const std::size_t taken = taken_;
        const bool over = filled_.wait_for(lock, options_.stall) == std::cv_status::timeout;
        watched_ = false;
        if (over && taken == taken_ && !waiting_.empty()) return true;
    }
}

void Desk::serve() {
    Waiting::tell(this);
    std::unique_lock lock(mutex_);
    while (wait_for_work(lock)) {
        Work work = std::move(waiting_.front());
        waiting_.pop_front();
        taken_ += 1;
        running_ += 1;
        working_ += 1;
        const bool may = !closing_;
        const bool wake = !waiting_.empty() && (has_room() || !watched_);
        lock.unlock();
        if (wake) filled_.notify_one();
        work(may);
        work = nullptr;  // perhaps a visitor ends with it, who tells the desk
        lock.lock();
        running_ -= 1;
        working_ -= 1;
    }
}

// ---- a visitor ----------------------------------------------------------------------------------

Visitor::Visitor(Desk& desk, Principal who)
    : desk_(desk),
      who_(std::move(who)),
      session_(desk.coordinator(), who_.name,
               [this](const sql::Statement& statement) { return permit(who_, statement); }) {
    const std::lock_guard lock(desk_.mutex_);
    desk_.visitors_ += 1;
}

Visitor::~Visitor() {
    const std::lock_guard lock(desk_.mutex_);
    desk_.visitors_ -= 1;
}

void Visitor::enqueue(Work work) {
    {
        const std::lock_guard lock(mutex_);
        turns_.push_back(std::move(work));
        if (std::exchange(busy_, true)) return;
    }
    run_next();
}

// One turn after the other; each is posted by itself, so that others get theirs in between.
void Visitor::run_next() {
    while (true) {
        const auto work = std::make_shared<Work>();
        {
            const std::lock_guard lock(mutex_);
            if (turns_.empty()) {
                session_.interrupt().clear();
                busy_ = false;
                return;
            }
            *work = std::move(turns_.front());
            turns_.pop_front();
        }
        const bool posted = desk_.post([self = shared_from_this(), work](bool may) {
            (*work)(may);
            self->run_next();
        });
        if (posted) return;
        (*work)(false);
    }
}

void Visitor::ask(Request request, std::function<void(Execution)> done) {
    enqueue([this, request = std::move(request), done = std::move(done)](bool may) {
        if (!may) return done({.results = {}, .error = desk_.refusal()});
        Execution execution = session_.execute(request.text, request.wait, request.parameters);
        // Before anybody hears of it: who then asks and cancels means what was asked.
        session_.interrupt().clear();
        done(std::move(execution));
    });
}

void Visitor::describe(std::string text, std::function<void(Result<Described>)> done) {
    enqueue([this, text = std::move(text), done = std::move(done)](bool may) {
        if (!may) return done(desk_.refusal());
        auto described = session_.describe(text);
        session_.interrupt().clear();
        done(std::move(described));
    });
}

void Visitor::cancel() {
    const std::lock_guard lock(mutex_);
    if (busy_) session_.interrupt().raise();
}

Visitor::Transaction Visitor::transaction() const {
    if (session_.transaction_failed()) return Transaction::failed;
    return session_.in_transaction() ? Transaction::open : Transaction::none;
}

}  // namespace baton::front
