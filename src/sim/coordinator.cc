#include "sim/coordinator.h"

#include <map>
#include <utility>

#include "coordinator/routing/forwarded_bundle.h"
#include "coordinator/routing/leader_board.h"
#include "coordinator/statements/bind.h"
#include "model/leader.h"
#include "sql/parser.h"

namespace baton::sim {

namespace {

using namespace std::chrono_literals;
using testing::SqlCall;
using testing::SqlFault;
using testing::SqlMoment;

constexpr Duration kActsLate = 10ms;         // what was looked at before a pause is done after it
constexpr Duration kLeavesWithin = 5s;       // then its process ends anyway
constexpr Duration kLeadAgainAfter = 250ms;  // if a term cannot begin
constexpr Duration kPatience = 15s;          // of a request, for a leader

}  // namespace

// One process: everything here is lost when it is killed, but for what is committed.
struct SimCoordinator::Life {
    Life(const Agenda& agenda, std::uint64_t own_number, std::int64_t drift_ppm)
        : number(own_number), clock(agenda, drift_ppm) {}

    const std::uint64_t number;
    const DriftingClock clock;
    std::unique_ptr<Sql> reads;
    catalog::Reader::KnownCluster cluster;
    Revision followed;                     // up to which the catalog was seen
    std::unique_ptr<Candidate> candidate;  // none: it leads for ever
    std::optional<Epoch> elected;          // to have a term, though it may not have begun
    std::uint64_t term_number = 0;
    coordinator::LeaderBoard board;
    std::uint64_t waits = 0;
    std::map<std::uint64_t, std::function<void()>> waiting;  // requests, for news of the leader
    std::unique_ptr<SimTerm> term;                           // last: it uses the others
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
        observer_.commit_lost();
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
    auto seen = catalog::Reader(*life.reads).revision();
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
    process.stepped = [this] { see_who_leads(*life_); };
    const std::string owner = to_string(
        LeaseOwner{.process = std::to_string(identity_.number) + ":" + std::to_string(life.number),
                   .address = name()});
    life.candidate = std::make_unique<Candidate>(world_, store_, life.clock, *identity_.timers,
                                                 owner, std::move(process));
}

void SimCoordinator::begin_term(Life& life, Epoch epoch) {
    if (life.elected != epoch) return;
    if (life.term) {  // the one before is about to end
        return later(1ms, [this, epoch](Life& same) { begin_term(same, epoch); });
    }
    observer_.began(epoch);
    const coordinator::TermGuard guard{
        .may_act = [this, epoch] { return looked_before_ || acting() == epoch; },
        .heard_of =
            [this](Epoch heard) {
                later(Duration::zero(),
                      [heard](Life& same) { same.candidate->give(election::EpochHeard{heard}); });
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
    life.board.set_here(true);
    wake_waiting(life);
    return Done{};
}

void SimCoordinator::end_term(Life& life, Epoch epoch) {
    if (life.term && life.term->epoch() == epoch) {
        const auto over = std::exchange(life.term, nullptr);
        life.board.set_here(false);
        wake_waiting(life);
        over->end();
        observer_.ended(epoch);
        if (const auto seen = revision(life)) life.followed = *seen;
    }
    life.candidate->give(election::Drained{epoch});
}

// ---- users --------------------------------------------------------------------------------------

void SimCoordinator::ask(const std::string& user, const std::string& statement,
                         const Answered& told) {
    later(world_.travel(), [this, user, statement, told](Life& life) {
        observer_.arrived(user);
        const auto refuse = [&](const Error& error) {
            answer(user, {.outcome = coordinator::Refused{.step = 0, .error = error}}, told);
        };
        const auto statements = sql::parse(statement);
        if (!statements) return refuse(statements.error());
        auto request = coordinator::bind(statements->front());
        if (!request) return refuse(request.error());
        coordinator::Bundle bundle;
        bundle.steps.push_back({.what = *std::move(request),
                                .statement = statement,
                                .source = std::make_shared<coordinator::StepSource>(
                                    coordinator::StepSource{.text = statement})});
        bundle.principal = user;
        bundle.received = life.clock.wall_now();
        bundle.started = life.clock.now();
        const auto answer_it = [this, user, told](const Journey::Arrival& arrival) {
            answer(user, arrival, told);
        };
        if (identity_.lines == nullptr) {
            return execute(life, bundle, routing::Reach::here, answer_it);
        }
        // By a thread that may not wait for others, then by one that may.
        execute(life, bundle, routing::Reach::here_now,
                [this, bundle, answer_it](const Journey::Arrival& arrival) {
                    if (arrival.outcome) return answer_it(arrival);
                    later(world_.up_to(3ms), [this, bundle, answer_it](Life& same) {
                        execute(same, bundle, routing::Reach::anywhere, answer_it);
                    });
                });
    });
}

void SimCoordinator::answer(const std::string& user, const Journey::Arrival& arrival,
                            const Answered& told) {
    const coordinator::Outcome& outcome = *arrival.outcome;
    observer_.answered(user, outcome);
    if (arrival.was_tried && world_.happens(world_.unkindness.answer_lost)) return;
    const auto* refused = std::get_if<baton::coordinator::Refused>(&outcome);
    if (refused == nullptr) return told(UserAnswer::accepted, nullptr);
    const bool unknown = refused->error.code == ErrorCode::unknown_outcome;
    told(unknown ? UserAnswer::nothing : UserAnswer::refused, &refused->error);
}

void SimCoordinator::take_order(const std::string& order,
                                const std::function<void(const std::string&)>& answer) {
    later(Duration::zero(), [this, order, answer](Life& life) {
        const auto wanted = coordinator::bundle_in(order, life.clock.now());
        if (const auto* refused = std::get_if<baton::coordinator::Refused>(&wanted)) {
            return answer(coordinator::answer_of(*refused));
        }
        execute(life, std::get<coordinator::Bundle>(wanted), routing::Reach::anywhere,
                [answer](const Journey::Arrival& arrival) {
                    answer(coordinator::answer_of(*arrival.outcome));
                });
    });
}

void SimCoordinator::execute(Life& life, const coordinator::Bundle& bundle, routing::Reach reach,
                             const Journey::Arrived& arrived) {
    const routing::Request request{.reach = bundle.passed_on ? routing::Reach::passed_on : reach,
                                   .trial = !bundle.keep,
                                   .deadline = bundle.started + kPatience};
    std::make_shared<Journey>(process_of(life), bundle, request, arrived)->begin();
}

Journey::Process SimCoordinator::process_of(Life& life) {
    const std::uint64_t number = life.number;
    Journey::Process process;
    process.look = [this] { return look(*life_); };
    process.planning_view = [this](const planning::MentionedNames& names) {
        return planning_view(*life_, names);
    };
    process.commit = [this, number](routing::TermNumber term, const coordinator::Bundle& bundle,
                                    const coordinator::Answered& answered) {
        if (!life_->term || life_->term_number != term.value()) return false;
        life_->term->submit(bundle, [this, number, answered](const coordinator::Outcome& outcome) {
            if (life_ && life_->number == number) answered(outcome);
        });
        return true;
    };
    process.look_at_database = [this]() -> Result<Done> {
        TRY(life_->reads->begin(Access::read));
        life_->reads->rollback();
        return Done{};
    };
    process.ask = [this](const routing::Forward& step, const std::string& order,
                         const std::function<void(const LineAnswer&)>& answered) {
        forward(*life_, step, order, answered);
    };
    process.wait = [this](const routing::Wait& step, const std::function<void()>& woken) {
        wait(*life_, step, woken);
    };
    return process;
}

routing::Sight SimCoordinator::look(const Life& life) const {
    const coordinator::LeaderBoard::Sighting known = life.board.now();
    return {
        .now = life.clock.now(),
        .own_term = life.term ? std::optional(routing::TermNumber(life.term_number)) : std::nullopt,
        .leader = known.leader,
        .news = known.news};
}

Result<planning::PlanningView> SimCoordinator::planning_view(
    Life& life, const planning::MentionedNames& names) {
    TRY(life.reads->begin(Access::read));
    auto view = catalog::Reader(*life.reads).planning_view(names, life.cluster);
    life.reads->rollback();
    return view;
}

void SimCoordinator::forward(const Life& life, const routing::Forward& step,
                             const std::string& order,
                             const std::function<void(const LineAnswer&)>& answered) {
    const Duration patience = life.clock.until(life.clock.now() + step.patience);
    identity_.lines->ask({.from = name(), .to = step.address, .text = order, .patience = patience},
                         [this, number = life.number, answered](const LineAnswer& answer) {
                             deliver(number, [answered, answer](Life&) { answered(answer); });
                         });
}

// ---- who leads ----------------------------------------------------------------------------------

void SimCoordinator::wait(Life& life, const routing::Wait& step,
                          const std::function<void()>& woken) {
    if (step.doubts_leader) {
        later(Duration::zero(), [](Life& same) { same.candidate->give(election::Hinted{}); });
    }
    const std::uint64_t number = ++life.waits;
    life.waiting[number] = woken;
    if (life.board.now().news != step.news) return wake_waiting(life);
    later(life.clock.until(step.until), [number](Life& same) {
        const auto waits = same.waiting.extract(number);
        if (!waits.empty()) waits.mapped()();
    });
}

void SimCoordinator::see_who_leads(Life& life) {
    const std::uint64_t before = life.board.now().news;
    const election::ElectionStatus status = life.candidate->status();
    std::optional<Leader> leader;
    if (status.leader) {
        leader = Leader{.address = lease_owner_of(status.leader->owner).address,
                        .epoch = status.leader->epoch};
    }
    life.board.set_leader(leader);
    if (life.board.now().news != before) wake_waiting(life);
}

void SimCoordinator::wake_waiting(Life& life) {
    for (const auto& [number, woken] : std::exchange(life.waiting, {})) {
        later(Duration::zero(), [woken = woken](Life&) { woken(); });
    }
}

}  // namespace baton::sim
