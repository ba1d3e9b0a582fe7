#include "coordinator/term/lease_calls.h"

#include "base/overload.h"
#include "catalog/lease.h"

namespace baton::coordinator {

using namespace election;  // NOLINT: its events and effects

namespace {

Event gone_wrong(Call call, const Error& error) {
    if (error.code == ErrorCode::unknown_outcome) {
        return Uncertain{.call = call, .epoch = {}, .why = to_string(error)};
    }
    return Failed{.call = call, .why = to_string(error)};
}

Held held_as(const catalog::LeaseState& state) {
    return {.owner = state.owner, .epoch = state.epoch, .remaining = state.remaining};
}

// A lock that nobody may take is not waited for as one that somebody holds.
std::optional<Event> out_of_use(Call call, const catalog::LeaseState& state) {
    if (state.status == LockStatus::active) return std::nullopt;
    return Failed{
        .call = call,
        .why = "the lock is " + std::string(to_string(state.status)) + ": it cannot be taken"};
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
                              [&](const catalog::lease::Taken& o) -> Event {
                                  return Acquired{.call = call.call, .epoch = o.epoch};
                              },
                              [&](const catalog::lease::Refused& o) -> Event {
                                  if (const auto unusable = out_of_use(call.call, o.held))
                                      return *unusable;
                                  return Refused{.call = call.call, .held = held_as(o.held)};
                              },
                              [&](const catalog::lease::Uncertain& o) -> Event {
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
    catalog::Leases leases_;
    const LeaseClaim& claim_;
};

}  // namespace

Call number_of(const LeaseCall& call) {
    return std::visit([](const auto& c) { return c.call; }, call);
}

Event make_lease_call(Sql& sql, const LeaseClaim& claim, const LeaseCall& call) {
    return std::visit(Translation(sql, claim), call);
}

}  // namespace baton::coordinator
