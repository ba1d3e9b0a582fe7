#include "sim/lease_store.h"

namespace baton::sim {

using namespace std::chrono_literals;
using testing::SqlCall;
using testing::SqlFault;
using testing::SqlMoment;

LeaseStore::LeaseStore(World& world, SqlDatabase& disk, std::function<void()> called)
    : world_(world),
      disk_(disk, [this](const SqlMoment& moment) { return fault_at(moment); }),
      sql_(*disk_.connect(Access::write), world.agenda),
      called_(std::move(called)) {}

// Renewals and releases are statements by themselves; what is written in a transaction has its
// outcome at the commit.
std::optional<SqlFault> LeaseStore::fault_at(const SqlMoment& moment) {
    const bool writes = moment.call == SqlCall::write || moment.call == SqlCall::commit;
    if (moment.call == SqlCall::begin) in_transaction_ = true;
    if (full_ && writes) {
        return SqlFault{.code = ErrorCode::catalog_full, .transaction_lost = in_transaction_};
    }
    const bool decides =
        moment.call == SqlCall::commit || (moment.call == SqlCall::write && !in_transaction_);
    if (moment.call == SqlCall::commit) in_transaction_ = false;
    if (decides && world_.happens(world_.unkindness.lease_unknown)) {
        return SqlFault{.code = ErrorCode::unknown_outcome,
                        .took_effect = world_.prng.chance(1, 2)};
    }
    const bool begins = decides || moment.call == SqlCall::begin || moment.call == SqlCall::read;
    if (begins && world_.happens(world_.unkindness.lease_refused)) {
        return SqlFault{.code = ErrorCode::catalog_unavailable};
    }
    return std::nullopt;
}

std::optional<election::Event> LeaseStore::take(const coordinator::LeaseClaim& claim,
                                                const coordinator::LeaseCall& call) {
    if (away_) {
        if (world_.prng.chance(1, 2)) return std::nullopt;
        return election::Failed{.call = coordinator::number_of(call), .why = "the catalog is away"};
    }
    in_transaction_ = false;
    auto event = coordinator::make_lease_call(sql_, claim, call);
    called_();
    return event;
}

std::optional<Duration> LeaseStore::travel(Duration ttl) {
    constexpr Duration kQuick = 5ms;
    if (world_.happens(world_.unkindness.lease_lost)) return std::nullopt;
    if (!world_.happens(world_.unkindness.lease_slow)) return world_.up_to(kQuick);
    return world_.up_to(world_.prng.chance(3, 4) ? ttl / 2 : ttl * 2);
}

}  // namespace baton::sim
