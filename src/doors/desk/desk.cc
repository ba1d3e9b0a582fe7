#include "doors/desk/desk.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace baton::desk {

// ---- the desk -----------------------------------------------------------------------------------

namespace {

std::size_t processors() {
    return std::max<std::size_t>(std::thread::hardware_concurrency(), 2);
}

constexpr std::size_t kProbesMax = 1'000;  // that wait
constexpr std::size_t kPagesMax = 100;
constexpr std::chrono::seconds kSweepEvery{1};

std::size_t half_of(std::size_t most) {
    return std::max<std::size_t>(most / 2, 1);
}

}  // namespace

Desk::Desk(coordinator::CoordinatorRuntime& coordinator, const DeskOptions& options)
    : coordinator_(coordinator),
      options_(options),
      working_max_(options.working_max == 0 ? processors() : options.working_max),
      forwarding_(options.forwarding_max, options.waiting_max),
      probes_(1, kProbesMax),
      pages_(1, kPagesMax) {
    for (std::size_t i = 0; i < options.threads; ++i) {
        threads_.emplace_back([this] { serve(); });
    }
    timekeeper_ = std::thread([this] { keep_time(); });
}

Desk::~Desk() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        while (!standing_.empty()) {
            const auto one = std::find_if(standing_.begin(), standing_.end(),
                                          [](const auto& s) { return s.second.go_on != nullptr; });
            if (one == standing_.end()) break;  // the others see it when they settle
            move_to_woken(one->first);
        }
    }
    filled_.notify_all();
    time_changed_.notify_all();
    timekeeper_.join();
    forwarding_.close();
    probes_.close();
    pages_.close();
    for (std::thread& thread : threads_) thread.join();
    // Statements that a lane let stand still when the threads were gone already.
    for (; !woken_.empty(); woken_.pop_front()) woken_.front()(false);
}

std::shared_ptr<Visitor> Desk::visitor(Principal who, Line line) {
    return std::make_shared<Visitor>(*this, std::move(who), line);
}

Desk::Load Desk::load() const {
    const std::lock_guard lock(mutex_);
    return {.waiting = waiting_.size() + woken_.size(),
            .running = running_,
            .visitors = visitors_,
            .standing = standing_.size(),
            .forwarding = forwarding_.waiting()};
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

bool Desk::post(const std::string& whose, Line line, Work work) {
    if (line == Line::probes) return probes_.post({}, std::move(work));
    if (line == Line::pages) return pages_.post({}, std::move(work));
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        if (closing_ || waiting_.size() >= options_.waiting_max) return false;
        if (waiting_.size_of(whose) >= half_of(options_.waiting_max)) return false;
        waiting_.push(whose, std::move(work));
        wake = has_room() || !watched_;
    }
    if (wake) filled_.notify_one();
    return true;
}

// ---- what stands still --------------------------------------------------------------------------

std::optional<Desk::Place> Desk::reserve(const std::string& whose) {
    const std::lock_guard lock(mutex_);
    const auto mine = standing_of_.find(whose);
    const bool too_many =
        standing_.size() >= options_.standing_max ||
        (mine != standing_of_.end() && mine->second >= half_of(options_.standing_max));
    if (closing_ || too_many) return std::nullopt;
    standing_of_[whose] += 1;
    standing_[++last_place_] = {.whose = whose, .until = {}, .go_on = nullptr};
    return last_place_;
}

void Desk::settle(Place place, std::optional<Instant> until, Work go_on) {
    {
        const std::lock_guard lock(mutex_);
        Standing& standing = standing_.at(place);
        standing.go_on = std::move(go_on);
        standing.until = until;
        if (standing.woken || closing_) {
            move_to_woken(place);
        } else if (until) {
            ends_.emplace(*until, place);
        }
    }
    filled_.notify_one();
    time_changed_.notify_one();
}

void Desk::wake(Place place) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = standing_.find(place);
        if (found == standing_.end()) return;
        found->second.woken = true;
        if (found->second.go_on == nullptr) return;
        move_to_woken(place);
    }
    filled_.notify_one();
}

void Desk::move_to_woken(Place place) {
    const auto found = standing_.find(place);
    Standing& standing = found->second;
    if (standing.until) ends_.erase({*standing.until, place});
    const auto mine = standing_of_.find(standing.whose);
    if (--mine->second == 0) standing_of_.erase(mine);
    woken_.push_back(std::move(standing.go_on));
    standing_.erase(found);
}

void Desk::keep_time() {
    std::unique_lock lock(mutex_);
    Instant swept = coordinator_.clock().now();
    while (!closing_) {
        const Instant now = coordinator_.clock().now();
        bool woke = false;
        while (!ends_.empty() && ends_.begin()->first <= now) {
            move_to_woken(ends_.begin()->second);
            woke = true;
        }
        if (woke) filled_.notify_all();
        // Old snapshots end at the desk, since that may wait for the database.
        if (now - swept >= kSweepEvery && coordinator_.transaction_views().kept() > 0) {
            swept = now;
            woken_.emplace_back([this](bool) {
                coordinator_.transaction_views().sweep(coordinator_.feed().last());
            });
            filled_.notify_one();
        }
        Duration rest = kSweepEvery;
        if (!ends_.empty()) rest = std::min(rest, ends_.begin()->first - now);
        time_changed_.wait_for(lock, rest);
    }
}

// ---- its threads --------------------------------------------------------------------------------

void Desk::waits() {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        working_ -= 1;
        wake = has_work();
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
        if (has_work() && (has_room() || closing_)) return true;
        if (closing_) return false;
        if (!has_work() || watched_) {
            filled_.wait(lock);
            continue;
        }
        watched_ = true;
        const std::size_t taken = taken_;
        const bool over = filled_.wait_for(lock, options_.stall) == std::cv_status::timeout;
        watched_ = false;
        if (over && taken == taken_ && has_work()) return true;
    }
}

// New requests go first, since many may be woken at once; each fourth turn is for a woken one.
Desk::Work Desk::take_work() {
    taken_ += 1;
    if (waiting_.empty() || (!woken_.empty() && taken_ % 4 == 0)) {
        Work work = std::move(woken_.front());
        woken_.pop_front();
        return work;
    }
    return waiting_.pop();
}

void Desk::serve() {
    threads::Waiting::tell(this);
    std::unique_lock lock(mutex_);
    while (wait_for_work(lock)) {
        Work work = take_work();
        running_ += 1;
        working_ += 1;
        const bool may = !closing_;
        const bool wake = has_work() && (has_room() || !watched_);
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

Visitor::Visitor(Desk& desk, Principal who, Line line)
    : desk_(desk),
      who_(std::move(who)),
      line_(line),
      session_(desk.coordinator(), who_.name,
               [this](const sql::Statement& statement) { return permit(who_, statement); }) {
    if (line != Line::statements) session_.set_urgent();
    const std::lock_guard lock(desk_.mutex_);
    desk_.visitors_ += 1;
}

Visitor::~Visitor() {
    const std::lock_guard lock(desk_.mutex_);
    desk_.visitors_ -= 1;
}

void Visitor::enqueue(Turn turn) {
    {
        const std::lock_guard lock(mutex_);
        turns_.push_back(std::move(turn));
        if (std::exchange(busy_, true)) return;
    }
    run_next();
}

// One turn after the other; each is posted by itself, so that others get theirs in between.
void Visitor::run_next() {
    while (true) {
        const auto turn = std::make_shared<Turn>();
        {
            const std::lock_guard lock(mutex_);
            if (turns_.empty()) {
                session_.interrupt().clear();
                busy_ = false;
                return;
            }
            *turn = std::move(turns_.front());
            turns_.pop_front();
        }
        const bool posted =
            desk_.post(who_.name, line_, [self = shared_from_this(), turn](bool may) {
                if ((*turn)(may)) self->run_next();
            });
        if (posted) return;
        (void)(*turn)(false);
    }
}

void Visitor::ask(Request request, Answer done) {
    enqueue([this, request = std::move(request),
             done = std::make_shared<Answer>(std::move(done))](bool may) mutable {
        if (!may) {
            (*done)({.results = {}, .error = desk_.refusal()});
            return true;
        }
        if (request.rows) {
            session_.begin_insert(std::move(request.text), *std::move(request.rows));
        } else {
            session_.begin(std::move(request.text), request.wait, std::move(request.parameters));
        }
        return drive(patience(), done);
    });
}

bool Visitor::drive(coordinator::Patience patience, const std::shared_ptr<Answer>& done) {
    auto execution = session_.go_on(patience);
    if (!execution) {
        stand_still(done);
        return false;
    }
    // Before anybody hears of it: who then asks and cancels means what was asked.
    session_.interrupt().clear();
    (*done)(*std::move(execution));
    return true;
}

// When this returns another thread may have gone on already.
void Visitor::stand_still(const std::shared_ptr<Answer>& done) {
    const auto go_on_with = [self = shared_from_this(), done](coordinator::Patience patience) {
        return [self, done, patience](bool may) { self->go_on(may, patience, done); };
    };
    if (session_.paused() == coordinator::Pause::leader) {
        if (!desk_.forwarding_.post(who_.name, go_on_with(coordinator::Patience::leader))) {
            go_on(false, coordinator::Patience::none, done);
        }
        return;
    }
    const auto place = desk_.reserve(who_.name);
    if (!place) return go_on(false, coordinator::Patience::none, done);
    standing_ = true;
    session_.wake_with([&desk = desk_, place = *place] { desk.wake(place); });
    desk_.settle(*place, session_.until(), go_on_with(patience()));
}

void Visitor::go_on(bool may, coordinator::Patience patience, const std::shared_ptr<Answer>& done) {
    standing_ = false;
    if (may) {
        if (!drive(patience, done)) return;
    } else {
        coordinator::Execution execution = session_.give_up(desk_.refusal().message);
        session_.interrupt().clear();
        (*done)(std::move(execution));
    }
    run_next();
}

void Visitor::describe(std::string text, std::function<void(Result<coordinator::Described>)> done) {
    enqueue([this, text = std::move(text), done = std::move(done)](bool may) {
        if (!may) {
            done(desk_.refusal());
            return true;
        }
        auto described = session_.describe(text);
        session_.interrupt().clear();
        done(std::move(described));
        return true;
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

}  // namespace baton::desk
