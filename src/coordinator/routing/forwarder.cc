#include "coordinator/routing/forwarder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "coordinator/commit/waiting.h"
#include "coordinator/routing/forwarded_bundle.h"

namespace baton {

namespace {

Outcome refused(ErrorCode code, std::string message, std::string hint) {
    return Refused{.step = 0,
                   .error = {.code = code, .message = std::move(message), .hint = std::move(hint)}};
}

Error nobody_leads() {
    return {.code = ErrorCode::fenced,
            .message = "nobody leads now, so nothing is changed",
            .hint = "try again in a moment"};
}

bool is_interrupted(const Bundle& bundle) {
    return bundle.interrupt != nullptr && bundle.interrupt->raised();
}

}  // namespace

Forwarder::Forwarder(LeaderLine& line, LeaderBoard& board, const Clock& clock,
                     const ForwarderOptions& options)
    : line_(line), board_(board), clock_(clock), options_(options), thread_([this] {
          run_errands();
      }) {}

Forwarder::~Forwarder() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    filled_.notify_one();
    given_up_.raise();
    thread_.join();
}

// ---- what is waited for -------------------------------------------------------------------------

std::variant<Outcome, LeadsHere> Forwarder::forward(const Bundle& bundle, Instant deadline) {
    const auto order = order_of(bundle);
    if (!order) return Outcome(Refused{.step = 0, .error = order.error()});
    if (order->size() > options_.bytes_max) {
        return refused(ErrorCode::too_large, "this is too much to be passed on to who leads",
                       "ask the one that leads, or for less at once");
    }
    const Waiting waiting;
    Error why_not = nobody_leads();
    LeaderBoard::Known known = board_.now();
    for (;;) {
        if (known.here) return LeadsHere{};
        if (is_interrupted(bundle)) {
            return refused(ErrorCode::cancelled, "it was cancelled before it was passed on",
                           "nothing has happened");
        }
        if (known.address.empty()) {
            why_not = nobody_leads();
        } else if (auto done = attempt(known.address, *order, bundle, why_not)) {
            return *std::move(done);
        }
        const Duration left = deadline - clock_.now();
        if (left <= Duration::zero()) return Outcome(Refused{.step = 0, .error = why_not});
        board_.doubt();
        known = board_.wait(known.news, std::min(left, options_.pause), bundle.interrupt);
    }
}

Forwarder::Attempt Forwarder::attempt(const std::string& address, const std::string& order,
                                      const Bundle& bundle, Error& why_not) {
    LineAnswer answer =
        line_.ask(address, order, options_.patience, [&bundle] { return is_interrupted(bundle); });
    if (const auto* unsent = std::get_if<NotSent>(&answer)) {
        why_not = {.code = ErrorCode::fenced,
                   .message = "the coordinator that leads, at " + address +
                              ", cannot be asked: " + unsent->why.message,
                   .hint = "nothing has happened; try again in a moment"};
        const bool for_good = unsent->why.code == ErrorCode::not_authenticated ||
                              unsent->why.code == ErrorCode::not_supported;
        return for_good ? Attempt(Refused{.step = 0, .error = why_not}) : std::nullopt;
    }
    std::string lost;
    if (const auto* unanswered = std::get_if<NoAnswer>(&answer)) {
        lost = unanswered->why.message;
    } else {
        auto outcome = outcome_of(std::get<std::string>(answer), bundle);
        const auto* no = outcome ? std::get_if<Refused>(&*outcome) : nullptr;
        if (no != nullptr && no->error.code == ErrorCode::fenced) {
            why_not = no->error;
            return std::nullopt;
        }
        if (outcome) return *std::move(outcome);
        lost = outcome.error().message;
    }
    if (!bundle.keep && !is_interrupted(bundle)) {
        why_not = {.code = ErrorCode::fenced, .message = lost, .hint = "nothing has happened"};
        return std::nullopt;
    }
    return refused(ErrorCode::unknown_outcome,
                   "it was passed on to the coordinator that leads, at " + address +
                       ", and no answer came: " + lost,
                   "look before it is tried again: it may or may not have happened");
}

LiveCounts Forwarder::counts() {
    const std::string address = board_.now().address;
    if (address.empty()) return {};
    const Waiting waiting;
    const LineAnswer answer =
        line_.ask(address, order_for_counts(), options_.counts_patience, [] { return false; });
    const auto* told = std::get_if<std::string>(&answer);
    if (told == nullptr) return {};
    auto counts = counts_of(*told);
    return counts ? *std::move(counts) : LiveCounts{};
}

// ---- what is not --------------------------------------------------------------------------------

void Forwarder::run_errand(Bundle bundle) {
    {
        const std::lock_guard lock(mutex_);
        if (errands_.size() + undone_.size() >= options_.errands_max) return;
        bundle.interrupt = &given_up_;
        errands_.push_back(std::move(bundle));
        std::move(undone_.begin(), undone_.end(), std::back_inserter(errands_));
        undone_.clear();
    }
    filled_.notify_one();
}

void Forwarder::run_errands() {
    std::unique_lock lock(mutex_);
    for (;;) {
        filled_.wait(lock, [&] { return over_ || !errands_.empty(); });
        if (over_) return;
        Bundle bundle = std::move(errands_.front());
        errands_.pop_front();
        lock.unlock();
        const auto done = forward(bundle, clock_.now() + options_.patience);
        lock.lock();
        const auto* outcome = std::get_if<Outcome>(&done);
        if (outcome != nullptr && std::holds_alternative<Refused>(*outcome)) {
            undone_.push_back(std::move(bundle));
        }
    }
}

}  // namespace baton
