#include "runtime/leadership/lease_callers.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"
#include "catalog/lease.h"

namespace baton {

using namespace election;  // NOLINT: its events and effects

namespace {

Call number_of(const LeaseCall& call) {
    return std::visit([](const auto& c) { return c.call; }, call);
}

Event gone_wrong(Call call, const Error& error) {
    if (error.code == ErrorCode::unknown_outcome) {
        return Uncertain{.call = call, .epoch = {}, .why = to_string(error)};
    }
    return Failed{.call = call, .why = to_string(error)};
}

Held held_as(const LeaseState& state) {
    return {.owner = state.owner, .epoch = state.epoch, .remaining = state.remaining};
}

// A lock that nobody may take is not waited for as one that somebody holds.
std::optional<Event> out_of_use(Call call, const LeaseState& state) {
    if (state.status == LockStatus::active) return std::nullopt;
    return Failed{
        .call = call,
        .why = "the lock is " + std::string(to_string(state.status)) + ": nobody can take it"};
}

// One call, in the words of the lock service and back.
class Translation {
public:
    Translation(Sql& sql, const LeaseClaim& claim) : leases_(sql), claim_(claim) {}

    [[nodiscard]] Event operator()(const Watch& call) {
        const auto found = leases_.watch(claim_.key);
        if (!found) return gone_wrong(call.call, found.error());
        if (!*found) return Watched{.call = call.call, .held = {}};  // whoever takes it makes it
        if (const auto unusable = out_of_use(call.call, **found)) return *unusable;
        return Watched{.call = call.call, .held = held_as(**found)};
    }
    [[nodiscard]] Event operator()(const Acquire& call) {
        const auto outcome =
            leases_.acquire(claim_.key, claim_.owner, claim_.ttl, call.least_epoch);
        if (!outcome) return gone_wrong(call.call, outcome.error());
        return std::visit(Overload{
                              [&](const lease::Taken& o) -> Event {
                                  return Acquired{.call = call.call, .epoch = o.epoch};
                              },
                              [&](const lease::Refused& o) -> Event {
                                  if (const auto unusable = out_of_use(call.call, o.held))
                                      return *unusable;
                                  return Refused{.call = call.call, .held = held_as(o.held)};
                              },
                              [&](const lease::Uncertain& o) -> Event {
                                  return Uncertain{.call = call.call,
                                                   .epoch = o.epoch,
                                                   .why = to_string(o.error)};
                              },
                          },
                          *outcome);
    }
    [[nodiscard]] Event operator()(const Renew& call) {
        const auto renewed = leases_.renew(claim_.key, claim_.owner, call.epoch, claim_.ttl);
        if (!renewed) return gone_wrong(call.call, renewed.error());
        if (!*renewed) return Lost{call.epoch};
        return Renewed{call.call};
    }
    [[nodiscard]] Event operator()(const Release& call) {
        const auto done = leases_.release(claim_.key, claim_.owner, call.epoch);
        if (!done) return gone_wrong(call.call, done.error());
        return Released{call.call};
    }

private:
    Leases leases_;
    const LeaseClaim& claim_;
};

}  // namespace

LeaseCallers::LeaseCallers(SqlDatabase& database, LeaseClaim claim, Answer answer)
    : database_(database), claim_(std::move(claim)), answer_(std::move(answer)) {
    const std::lock_guard lock(mutex_);
    add_caller();
}

LeaseCallers::~LeaseCallers() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        calls_.clear();
    }
    filled_.notify_all();
    for (Caller& caller : callers_) caller.thread.join();
}

void LeaseCallers::call(const LeaseCall& call) {
    {
        const std::lock_guard lock(mutex_);
        if (ready() > 0) {
            calls_.push_back(call);
            filled_.notify_one();
            return;
        }
    }
    answer_(Failed{.call = number_of(call),
                   .why = "earlier calls of the lease store have not come back"});
}

void LeaseCallers::abandon(Call number) {
    const std::lock_guard lock(mutex_);
    std::erase_if(calls_, [&](const LeaseCall& call) { return number_of(call) == number; });
    for (Caller& caller : callers_) {
        if (caller.making == number) caller.abandoned = true;
    }
    if (ready() > 0) return;
    callers_.remove_if([](Caller& caller) {
        if (caller.ended) caller.thread.join();
        return caller.ended;
    });
    if (callers_.size() < kCallersMax) add_caller();
}

std::size_t LeaseCallers::ready() const {
    return static_cast<std::size_t>(
        std::count_if(callers_.begin(), callers_.end(),
                      [](const Caller& c) { return !c.abandoned && !c.ended; }));
}

void LeaseCallers::add_caller() {
    Caller& caller = callers_.emplace_back();
    caller.thread = std::thread([this, &caller] { run(caller); });
}

void LeaseCallers::run(Caller& me) {
    std::unique_ptr<Sql> sql;
    while (const auto call = next(me)) {
        answer_(make(sql, *call));
        if (!finish(me, sql)) return;
    }
}

std::optional<LeaseCall> LeaseCallers::next(Caller& me) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return stopped_ || !calls_.empty(); });
    if (stopped_) return std::nullopt;
    const LeaseCall call = calls_.front();
    calls_.pop_front();
    me.making = number_of(call);
    return call;
}

bool LeaseCallers::finish(Caller& me, std::unique_ptr<Sql>& sql) {
    const std::lock_guard lock(mutex_);
    me.making = 0;
    if (!me.abandoned) return true;
    sql.reset();  // what hung once may hang again
    me.ended = ready() > 0;
    me.abandoned = false;
    return !me.ended;
}

// A connection on which something failed is not used again.
Event LeaseCallers::make(std::unique_ptr<Sql>& sql, const LeaseCall& call) const {
    if (!sql) {
        auto connected = database_.connect(Access::write);
        if (!connected) return Failed{.call = number_of(call), .why = to_string(connected.error())};
        sql = *std::move(connected);
    }
    Event event = std::visit(Translation(*sql, claim_), call);
    if (std::holds_alternative<Failed>(event) || std::holds_alternative<Uncertain>(event)) {
        sql.reset();
    }
    return event;
}

}  // namespace baton
