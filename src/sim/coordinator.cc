#include "sim/coordinator.h"

#include <utility>

#include "coordinator/statements/bind.h"
#include "sql/parser.h"

namespace baton::sim {

namespace {

using namespace std::chrono_literals;
using testing::SqlCall;
using testing::SqlFault;
using testing::SqlMoment;

constexpr int kAttemptsMax = 20;
constexpr Duration kActsLate = 10ms;         // what was looked at before a pause is done after it
constexpr Duration kLeavesWithin = 5s;       // then its process ends anyway
constexpr Duration kLeadAgainAfter = 250ms;  // if a term cannot begin

Error not_leading() {
    return {.code = ErrorCode::fenced,
            .message = "this coordinator does not lead, so it changes nothing"};
}

}  // namespace

// One process: everything here is lost when it is killed, but for what is committed.
struct SimCoordinator::Life {
    Life(const Agenda& agenda, std::uint64_t own_number, std::int64_t drift_ppm)
        : number(own_number), clock(agenda, drift_ppm) {}

    const std::uint64_t number;
    const DriftingClock clock;
    std::unique_ptr<Sql> reads;
    Reader::KnownCluster cluster;
    Revision followed;                     // up to which the catalog was seen
    std::unique_ptr<Candidate> candidate;  // none: it leads for ever
    std::optional<Epoch> elected;          // to have a term, though it may not have begun
    std::uint64_t term_number = 0;
    std::unique_ptr<SimTerm> term;  // last: it uses the others
};

SimCoordinator::SimCoordinator(World& world, Network& network, SqlDatabase& disk, LeaseStore& store,
                               Identity identity, Observer observer)
    : world_(world),
      network_(network),
      disk_(disk, [this](const SqlMoment& moment) { return fault_at(moment); }),
      store_(store),
      identity_(std::move(identity)),
      observer_(std::move(observer)) {}

SimCoordinator::~SimCoordinator() = default;

std::string SimCoordinator::owner() const {
    return life_ && life_->candidate ? life_->candidate->owner() : std::string();
}

std::optional<Epoch> SimCoordinator::acting() const {
    if (!life_ || !life_->candidate) return std::nullopt;
    return life_->candidate->acting();
}

std::optional<Epoch> SimCoordinator::in_term() const {
    if (!life_ || !life_->term) return std::nullopt;
    return life_->term->epoch();
}

std::optional<SqlFault> SimCoordinator::fault_at(const SqlMoment& moment) {
    const bool begins = moment.call == SqlCall::begin || moment.call == SqlCall::connect;
    if (begins && !reaches_store()) return SqlFault{.code = ErrorCode::catalog_unavailable};
    if (disk_full_ && (moment.call == SqlCall::write || moment.call == SqlCall::commit)) {
        return SqlFault{.code = ErrorCode::catalog_full, .transaction_lost = true};
    }
    if (moment.call == SqlCall::begin && world_.happens(world_.unkindness.busy)) {
        return SqlFault{.code = ErrorCode::catalog_unavailable};
    }
    if (moment.call != SqlCall::commit) return std::nullopt;
    if (world_.happens(world_.unkindness.commit_unknown)) {
        return SqlFault{.code = ErrorCode::unknown_outcome,
                        .took_effect = world_.prng.chance(1, 2)};
    }
    if (world_.happens(world_.unkindness.commit_refused)) {
        return SqlFault{.code = ErrorCode::catalog_unavailable};
    }
    return std::nullopt;
}

// ---- its life -----------------------------------------------------------------------------------

void SimCoordinator::start() {
    if (life_ || starting_) return;
    starting_ = true;
    try_start();
}

void SimCoordinator::try_start() {
    const bool contends = identity_.timers.has_value();
    const std::int64_t drift = contends ? identity_.drift_ppm : world_.unkindness.drift_ppm;
    auto life = std::make_unique<Life>(world_.agenda, ++lives_, drift);
    const auto begun = come_alive(*life);
    if (!begun) {
        life.reset();
        world_.tell(20, [&] { return name() + " cannot start: " + begun.error().message; });
        world_.agenda.after(1s, [this] { try_start(); });
        return;
    }
    starting_ = false;
    life_ = std::move(life);
    world_.tell(21, [&] { return name() + " starts"; });
    if (life_->term) life_->term->schedule_tick();
    if (life_->candidate) life_->candidate->give(election::Tick{});
}

Result<Done> SimCoordinator::come_alive(Life& life) {
    TRY_ASSIGN(reads, disk_.connect(Access::read));
    life.reads = std::move(reads);
    if (!identity_.timers) return open_term(life, {});
    TRY_ASSIGN(seen, revision(life));
    life.followed = seen;
    contend(life);
    return Done{};
}

Result<Revision> SimCoordinator::revision(Life& life) {
    TRY(life.reads->begin(Access::read));
    auto seen = Reader(*life.reads).revision();
    life.reads->rollback();
    return seen;
}

void SimCoordinator::kill() {
    if (!life_) return;
    world_.tell(22, [&] { return name() + " is killed"; });
    end_life();
}

void SimCoordinator::end_life() {
    life_.reset();
    waiting_.clear();
    looked_before_ = false;
}

void SimCoordinator::pause() {
    if (!paused_) acted_when_paused_ = acting().has_value();
    paused_ = true;
}

void SimCoordinator::resume() {
    paused_ = false;
    looked_before_ = acted_when_paused_ && life_ && world_.prng.chance(1, 2);
    acted_when_paused_ = false;
    for (const auto& action : std::exchange(waiting_, {})) action();
    if (looked_before_) later(kActsLate, [this](Life&) { looked_before_ = false; });
}

void SimCoordinator::leave() {
    later(Duration::zero(), [this](Life& life) {
        life.candidate->give(election::LeaveAsked{});
        later(kLeavesWithin, [this](Life& same) {
            world_.tell(23, [&] { return name() + " does not wait any longer, and ends"; });
            world_.agenda.after(Duration::zero(), [this, number = same.number] {
                if (!life_ || life_->number != number) return;
                kill();
                observer_.gone();
            });
        });
    });
}

void SimCoordinator::later(Duration delay, const std::function<void(Life&)>& action) {
    const std::uint64_t number = life_ ? life_->number : lives_;
    world_.agenda.after(delay, [this, number, action] { deliver(number, action); });
}

void SimCoordinator::deliver(std::uint64_t life, const std::function<void(Life&)>& action) {
    if (!life_ || life_->number != life) return;
    if (paused_) {
        waiting_.emplace_back([this, life, action] { deliver(life, action); });
    } else {
        action(*life_);
    }
}

// ---- leading and following ----------------------------------------------------------------------

void SimCoordinator::contend(Life& life) {
    Candidate::Process process;
    process.later = [this, number = life.number](Duration delay, std::function<void()> action) {
        world_.agenda.after(delay, [this, number, action = std::move(action)] {
            deliver(number, [action](Life&) { action(); });
        });
    };
    process.reaches_store = [this] { return reaches_store(); };
    process.lead = [this](Epoch epoch) {
        life_->elected = epoch;
        later(world_.up_to(3ms), [this, epoch](Life& same) { begin_term(same, epoch); });
    };
    process.step_down = [this](Epoch epoch, election::Reason reason) {
        life_->elected.reset();
        if (reason == election::Reason::superseded) observer_.superseded();
        later(world_.up_to(3ms), [this, epoch](Life& same) { end_term(same, epoch); });
    };
    process.left = [this] {
        world_.agenda.after(Duration::zero(), [this, number = life_->number] {
            if (!life_ || life_->number != number) return;
            world_.tell(24, [&] { return name() + " has left"; });
            end_life();
            observer_.gone();
        });
    };
    const std::string owner = name() + " in its life " + std::to_string(life.number);
    life.candidate = std::make_unique<Candidate>(world_, store_, life.clock, *identity_.timers,
                                                 owner, std::move(process));
}

void SimCoordinator::begin_term(Life& life, Epoch epoch) {
    if (life.elected != epoch) return;
    if (life.term) {  // the one before is about to end
        return later(1ms, [this, epoch](Life& same) { begin_term(same, epoch); });
    }
    observer_.began(epoch);
    const TermGuard guard{.may_act = [this, epoch] { return looked_before_ || acting() == epoch; },
                          .heard_of =
                              [this](Epoch heard) {
                                  later(Duration::zero(), [heard](Life& same) {
                                      same.candidate->give(election::EpochHeard{heard});
                                  });
                              }};
    const auto begun = open_term(life, {.epoch = epoch, .guard = guard, .start = life.followed});
    if (begun) return life.term->schedule_tick();
    world_.tell(25, [&] { return name() + " cannot lead: " + begun.error().message; });
    later(kLeadAgainAfter, [this, epoch](Life& same) { begin_term(same, epoch); });
}

// Without a start, from the catalog as it is.
Result<Done> SimCoordinator::open_term(Life& life, SimTerm::Office office) {
    TRY_ASSIGN(writes, disk_.connect(Access::write));
    TRY_ASSIGN(now, revision(life));
    if (!identity_.timers || world_.prng.chance(1, 2)) office.start = now;
    const std::uint64_t number = ++terms_;
    const auto later_in_term = [this, of = life.number, number](
                                   Duration delay, std::function<void(SimTerm&)> action) {
        world_.agenda.after(delay, [this, of, number, action = std::move(action)] {
            deliver(of, [number, action](Life& same) {
                if (same.term && same.term_number == number) action(*same.term);
            });
        });
    };
    auto term = std::make_unique<SimTerm>(SimTerm::Process{.world = world_,
                                                           .clock = life.clock,
                                                           .reads = *life.reads,
                                                           .observer = observer_.term,
                                                           .later = later_in_term},
                                          std::move(office), std::move(writes),
                                          network_.connect_coordinator(identity_.number));
    TRY(term->start());
    life.term = std::move(term);
    life.term_number = number;
    return Done{};
}

void SimCoordinator::end_term(Life& life, Epoch epoch) {
    if (life.term && life.term->epoch() == epoch) {
        const auto over = std::exchange(life.term, nullptr);
        over->end();
        observer_.ended(epoch);
        if (const auto seen = revision(life)) life.followed = *seen;
    }
    life.candidate->give(election::Drained{epoch});
}

// ---- users --------------------------------------------------------------------------------------

void SimCoordinator::ask(const std::string& statement, const Answered& told) {
    later(world_.travel(), [this, statement, told](Life& life) {
        const auto statements = sql::parse(statement);
        if (!statements) return told(Told::refused, &statements.error());
        auto request = bind(statements->front());
        if (!request) return told(Told::refused, &request.error());
        Bundle bundle;
        bundle.steps.push_back({.what = *std::move(request), .statement = statement});
        bundle.received = life.clock.wall_now();
        bundle.started = life.clock.now();
        execute(life, std::move(bundle), 0, told);
    });
}

void SimCoordinator::execute(Life& life, Bundle bundle, int attempts, const Answered& told) {
    if (!life.term) {
        const Error error = not_leading();
        return told(Told::refused, &error);
    }
    auto* query = std::get_if<request::CreateQuery>(&std::get<Request>(bundle.steps.front().what));
    if (query != nullptr && !query->plan) {
        const auto planned = [&]() -> Result<QueryPlan> {
            TRY(life.reads->begin(Access::read));
            auto view = Reader(*life.reads).planning_view(names_in(query->tree), life.cluster);
            life.reads->rollback();
            if (!view) return view.error();
            return plan(query->tree, *view);
        }();
        if (!planned) return told(Told::refused, &planned.error());
        query->plan = *planned;
    }
    Bundle kept = bundle;
    life.term->submit(std::move(bundle), [this, kept, attempts, told](const Outcome& outcome) {
        if (!life_) return;
        const auto* wanted = std::get_if<NeedsPlan>(&outcome);
        if (wanted != nullptr && attempts == kAttemptsMax) {
            return world_.violated("a query is planned again and again, and no plan fits");
        }
        if (wanted != nullptr) {
            Bundle again = kept;
            auto& create =
                std::get<request::CreateQuery>(std::get<Request>(again.steps.front().what));
            const auto replanned = plan(create.tree, wanted->view);
            if (!replanned) return told(Told::refused, &replanned.error());
            create.plan = *replanned;
            return execute(*life_, std::move(again), attempts + 1, told);
        }
        if (world_.happens(world_.unkindness.answer_lost)) return;
        if (const auto* refused = std::get_if<baton::Refused>(&outcome)) {
            const bool unknown = refused->error.code == ErrorCode::unknown_outcome;
            return told(unknown ? Told::nothing : Told::refused, &refused->error);
        }
        told(Told::accepted, nullptr);
    });
}

}  // namespace baton::sim
