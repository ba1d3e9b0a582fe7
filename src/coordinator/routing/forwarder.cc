#include "coordinator/routing/forwarder.h"

#include <utility>

#include "base/text.h"
#include "coordinator/routing/forwarded_bundle.h"
#include "threads/waiting.h"

namespace baton::coordinator {

namespace {

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
    errands_.drop();
    given_up_.raise();
    thread_.join();
}

// ---- steps of a route ---------------------------------------------------------------------------

routing::Event Forwarder::take(const routing::There& step, Delivery& delivery) {
    return std::visit([&](const auto& one) { return take_one(one, delivery); }, step);
}

routing::Event Forwarder::take_one(const routing::WriteOrder& /*step*/, Delivery& delivery) const {
    auto order = order_of(delivery.bundle);
    if (!order) return routing::OrderNotWritten{order.error()};
    if (order->size() > options_.bytes_max) {
        return routing::OrderNotWritten{
            {.code = ErrorCode::too_large,
             .message = "the request is too large to be forwarded to the leader",
             .hint = "connect to the leader, or ask for less at once"}};
    }
    delivery.order = *std::move(order);
    return routing::OrderWritten{};
}

routing::Event Forwarder::take_one(const routing::Forward& step, Delivery& delivery) const {
    const threads::Waiting waiting;
    const Bundle& bundle = delivery.bundle;
    const LineAnswer answer = line_.ask(step.address, delivery.order, step.patience,
                                        [&bundle] { return is_interrupted(bundle); });
    if (const auto* unsent = std::get_if<NotSent>(&answer)) return *unsent;
    if (const auto* lost = std::get_if<AnswerLost>(&answer)) return *lost;
    auto outcome = outcome_of(std::get<std::string>(answer), bundle);
    if (!outcome) return AnswerLost{outcome.error()};
    delivery.outcome = *std::move(outcome);
    const auto* refused = std::get_if<Refused>(&*delivery.outcome);
    if (refused == nullptr) return routing::HappenedThere{};
    return routing::RefusedThere{refused->error};
}

routing::Event Forwarder::take_one(const routing::Wait& step, Delivery& delivery) const {
    const threads::Waiting waiting;
    if (step.doubts_leader) board_.doubt();
    board_.wait(step.news, step.until - clock_.now(), delivery.bundle.interrupt);
    return routing::Woken{};
}

std::variant<Outcome, LeadsHere> Forwarder::forward(const Bundle& bundle, Instant deadline) {
    routing::Route route(
        {.reach = routing::Reach::leader_alone, .trial = !bundle.keep, .deadline = deadline},
        timing());
    Delivery delivery{.bundle = bundle};
    routing::Event event = routing::Begun{};
    for (;;) {
        const LeaderBoard::Sighting known = board_.now();
        const routing::Step step = route.step(
            {.now = clock_.now(),
             .own_term = known.here ? std::optional(routing::TermNumber()) : std::nullopt,
             .leader = known.leader,
             .news = known.news,
             .cancelled = is_interrupted(bundle)},
            event);
        if (const auto* end = std::get_if<routing::End>(&step)) {
            if (std::holds_alternative<routing::Elsewhere>(*end)) return LeadsHere{};
            if (const auto* refuse = std::get_if<routing::Refuse>(end)) {
                return Outcome(Refused{.step = 0, .error = refuse->why});
            }
            return *std::move(delivery.outcome);
        }
        event = take(std::get<routing::There>(step), delivery);  // nothing of it is done here
    }
}

views::LiveCounts Forwarder::counts() {
    const auto leader = board_.now().leader;
    if (!leader) return {};
    const threads::Waiting waiting;
    const LineAnswer answer = line_.ask(leader->address, order_for_counts(),
                                        options_.counts_patience, [] { return false; });
    const auto* told = std::get_if<std::string>(&answer);
    if (told == nullptr) return {};
    auto counts = counts_of(*told);
    return counts ? *std::move(counts) : views::LiveCounts{};
}

// ---- errands --------------------------------------------------------------------------------

void Forwarder::run_errand(Bundle bundle) {
    const std::lock_guard lock(mutex_);
    if (errands_.size() + undone_.size() >= options_.errands_max) return;
    bundle.interrupt = &given_up_;
    errands_.post(std::move(bundle));
    for (Bundle& again : undone_) errands_.post(std::move(again));
    undone_.clear();
}

void Forwarder::run_errands() {
    while (auto bundle = errands_.take_one()) {
        const auto done = forward(*bundle, clock_.now() + options_.patience);
        const auto* outcome = std::get_if<Outcome>(&done);
        if (outcome == nullptr || !std::holds_alternative<Refused>(*outcome)) continue;
        const std::lock_guard lock(mutex_);
        undone_.push_back(*std::move(bundle));
    }
}

}  // namespace baton::coordinator
