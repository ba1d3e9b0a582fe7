#include "coordinator/term/lease_callers.h"

#include <algorithm>
#include <utility>

namespace baton::coordinator {

using namespace election;  // NOLINT: its events and effects

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
    Event event = make_lease_call(*sql, claim_, call);
    if (std::holds_alternative<Failed>(event) || std::holds_alternative<Uncertain>(event)) {
        sql.reset();
    }
    return event;
}

}  // namespace baton::coordinator
