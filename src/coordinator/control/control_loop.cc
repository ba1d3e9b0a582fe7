#include "coordinator/control/control_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace baton::coordinator {

namespace {

constexpr std::size_t kUnaskedMax = 10'000;
constexpr Duration kStartAgainAfter = std::chrono::milliseconds(200);

bool is_unasked(const ControlEvent& event) {
    const auto* heard = std::get_if<transport::MessageArrived>(&event);
    if (heard == nullptr) return false;
    const auto* pulse = std::get_if<control::Pulse>(&heard->message);
    return pulse != nullptr && pulse->beat == 0;
}

}  // namespace

// ---- the door -----------------------------------------------------------------------------------

Result<CatalogLook> CommitLoopDoor::look(const CatalogWanted& wanted) {
    TRY_ASSIGN(snapshot, readers_.snapshot());
    return baton::coordinator::look(snapshot.read(), wanted);
}

void CommitLoopDoor::submit(Ticket ticket, std::vector<catalog::Request> requests,
                            WhenWritten written) {
    const auto posted = commits_.submit(
        bundle_of(std::move(requests), clock_),
        [ticket, written](const Outcome& outcome) { written(ticket, result_of(outcome)); });
    if (!posted) written(ticket, posted.error());
}

// ---- the mailbox --------------------------------------------------------------------------------

void ControlMailbox::post(ControlEvent event) {
    (void)events_.post_below(is_unasked(event) ? unasked_max_ : events_.kNoLimit, event);
}

void ControlMailbox::changed(const std::set<EntityKey>& keys) {
    if (closed()) return;
    {
        const std::lock_guard lock(mutex_);
        changed_.insert(keys.begin(), keys.end());
    }
    events_.wake();
}

std::vector<ControlEvent> ControlMailbox::take(std::optional<Duration> at_most) {
    std::vector<ControlEvent> taken = events_.take_all(at_most);
    if (closed()) return taken;
    const std::lock_guard lock(mutex_);
    if (!changed_.empty()) taken.emplace_back(control_event::Changed{std::exchange(changed_, {})});
    return taken;
}

void ControlMailbox::close() {
    events_.drop();
}

// ---- the loop -----------------------------------------------------------------------------------

ControlLoop::ControlLoop(const ControllerOptions& options, const World& world)
    : transport_(world.transport, world.guard, options.epoch),
      clock_(world.clock),
      mailbox_(std::make_shared<ControlMailbox>(kUnaskedMax)),
      door_(world.commits, world.readers, world.clock),
      controller_(options, door_, transport_, world.clock,
                  [box = mailbox_](ControlEvent event) { box->post(std::move(event)); }),
      registration_(world.feed.listen(
          controller_.watches(),
          [box = mailbox_](const std::set<EntityKey>& keys) { box->changed(keys); })) {
    transport_.listen([box = mailbox_](transport::Event event) {
        std::visit([&](auto&& e) { box->post(std::forward<decltype(e)>(e)); }, std::move(event));
    });
    thread_ = std::thread([this] { run(); });
}

ControlLoop::~ControlLoop() {
    mailbox_->close();
    thread_.join();
    transport_.listen(nullptr);
    transport_.hang_up_all();
}

bool ControlLoop::start() {
    while (!controller_.start()) {
        // The mailbox only wakes us here: what it says is in the catalog when that can be read.
        (void)mailbox_->take(kStartAgainAfter);
        if (mailbox_->closed()) return false;
    }
    return true;
}

std::optional<Duration> ControlLoop::until_wake() const {
    const auto at = controller_.wake_at();
    if (!at) return std::nullopt;
    return std::max(*at - clock_.now(), Duration::zero());
}

void ControlLoop::run() {
    if (!start()) return;
    while (true) {
        for (const ControlEvent& event : mailbox_->take(until_wake())) controller_.take(event);
        if (mailbox_->closed()) return;
        if (until_wake() == Duration::zero()) controller_.take(control_event::Tick{});
    }
}

}  // namespace baton::coordinator
