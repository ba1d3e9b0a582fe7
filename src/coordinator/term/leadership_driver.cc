#include "coordinator/term/leadership_driver.h"

#include <utility>

#include "base/overload.h"
#include "model/leader.h"

namespace baton::coordinator {

namespace {

// How often followers learn who leads.
constexpr std::chrono::milliseconds kLook{250};

}  // namespace

LeadershipDriver::LeadershipDriver(const LeadershipOptions& options, SqlDatabase& database,
                                   const Clock& clock, CoordinatorRuntime& coordinator, Log& log)
    : coordinator_(coordinator),
      log_(log),
      leadership_(options, database, clock, *this),
      thread_([this] { run(); }) {
    leadership_.start();
    coordinator_.leader().on_doubt([this] { leadership_.hint(); });
}

LeadershipDriver::~LeadershipDriver() {
    coordinator_.leader().on_doubt(nullptr);
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
    coordinator_.follow();
}

void LeadershipDriver::leave(Duration at_most) {
    leadership_.leave();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, at_most, [&] { return left_; });
}

// ---- told by the election -----------------------------------------------------------------------

void LeadershipDriver::lead(Epoch epoch) {
    {
        const std::lock_guard lock(mutex_);
        verdicts_.emplace_back(election::Lead{epoch});
    }
    changed_.notify_all();
}

void LeadershipDriver::step_down(Epoch epoch, election::Reason reason, const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(verdicts_, [&](const Verdict& verdict) {
            const auto* begins = std::get_if<election::Lead>(&verdict);
            return begins != nullptr && begins->epoch == epoch;
        });
        verdicts_.emplace_back(election::StepDown{.epoch = epoch, .reason = reason, .why = why});
    }
    changed_.notify_all();
}

void LeadershipDriver::leader_changed() {
    {
        const std::lock_guard lock(mutex_);
        heard_ = true;
    }
    changed_.notify_all();
}

void LeadershipDriver::troubled(const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        trouble_ = why;
    }
    changed_.notify_all();
}

void LeadershipDriver::left() {
    {
        const std::lock_guard lock(mutex_);
        left_ = true;
    }
    changed_.notify_all();
}

// ---- done by its own thread ---------------------------------------------------------------------

void LeadershipDriver::run() {
    for (;;) {
        std::optional<Verdict> verdict;
        std::string trouble;
        {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, kLook, [&] {
                return over_ || heard_ || !trouble_.empty() || !verdicts_.empty();
            });
            heard_ = false;
            trouble = std::exchange(trouble_, {});
            if (over_ && verdicts_.empty()) return;
            if (!verdicts_.empty()) {
                verdict = std::move(verdicts_.front());
                verdicts_.pop_front();
            }
        }
        if (!trouble.empty()) {
            log_.warn("the election has trouble with the catalog", {{"reason", trouble}});
        }
        if (verdict) std::visit([this](const auto& what) { obey(what); }, *verdict);
        tell_who_leads();
        look_after_term();
    }
}

void LeadershipDriver::obey(const election::Lead& verdict) {
    const TermGuard guard{
        .may_act = [this, epoch = verdict.epoch] { return leadership_.acting() == epoch; },
        .heard_of = [this](Epoch epoch) { leadership_.heard_of(epoch); }};
    const auto begun = coordinator_.lead(verdict.epoch, guard);
    if (begun) {
        log_.info("leads", {{"epoch", to_string(verdict.epoch)}});
        return;
    }
    // The lease is kept up, and may be of use a moment later: tried again until something else is
    // told.
    log_.warn("cannot begin to lead",
              {{"epoch", to_string(verdict.epoch)}, {"reason", to_string(begun.error())}});
    std::unique_lock lock(mutex_);
    const auto told = [&] { return over_ || !verdicts_.empty(); };
    if (changed_.wait_for(lock, kLook, told)) return;
    if (leadership_.acting() == verdict.epoch) verdicts_.push_back(verdict);
}

void LeadershipDriver::obey(const election::StepDown& verdict) {
    coordinator_.follow();
    log_.info("follows", {{"epoch", to_string(verdict.epoch)}, {"reason", verdict.why}});
    leadership_.drained(verdict.epoch);
}

// A leader that cannot commit keeps others from leading. A full disk is the database's: it would be
// as full for the next.
void LeadershipDriver::look_after_term() {
    const auto trouble = coordinator_.commit_trouble();
    if (!trouble || trouble->code == ErrorCode::catalog_full || !leadership_.acting()) return;
    leadership_.unable("this coordinator cannot commit: " + trouble->message);
}

void LeadershipDriver::tell_who_leads() {
    const election::ElectionStatus status = leadership_.status();
    std::optional<Leader> leader;
    if (status.leader) {
        leader = Leader{.address = lease_owner_of(status.leader->owner).address,
                        .epoch = status.leader->epoch};
    }
    coordinator_.leader().set_leader(leader);
}

}  // namespace baton::coordinator
