#include "sim/coordinator.h"

#include <map>
#include <utility>

#include "base/overload.h"
#include "runtime/bind.h"
#include "sql/parser.h"

namespace baton::sim {

namespace {

using namespace std::chrono_literals;
using testing::SqlCall;
using testing::SqlFault;
using testing::SqlMoment;

constexpr std::int64_t kMillion = 1'000'000;
constexpr int kAttemptsMax = 20;

}  // namespace

Instant DriftingClock::now() const {
    const auto passed = (world_.agenda.now() - started_).count();
    return at(Duration(passed + passed * ppm_ / kMillion));
}

WallTime DriftingClock::wall_now() const {
    return WallTime(world_.agenda.now().time_since_epoch());
}

Duration DriftingClock::until(Instant local) const {
    const auto left = (local - now()).count();
    if (left <= 0) return Duration::zero();
    return Duration(left * kMillion / (kMillion + ppm_) + 1);
}

// One process: everything here is lost when it is killed, but for what is committed.
struct SimCoordinator::Life final : CatalogDoor {
    Life(SimCoordinator& owner, std::uint64_t own_number)
        : self(owner), number(own_number), clock(owner.world_) {}

    Result<CatalogLook> look(const CatalogWanted& wanted) override {
        TRY(reads->begin(Access::read));
        auto seen = baton::look(Reader(*reads), wanted);
        reads->rollback();
        return seen;
    }

    void submit(Ticket ticket, std::vector<Request> requests, Settled settled) override {
        self.submit(
            *this, bundle_of(std::move(requests), clock),
            [ticket, settled](const Outcome& outcome) { settled(ticket, settled_by(outcome)); });
    }

    SimCoordinator& self;
    const std::uint64_t number;
    DriftingClock clock;
    std::unique_ptr<Sql> reads;
    std::unique_ptr<Committer> committer;
    std::vector<Committer::Job> jobs;
    bool commit_planned = false;
    std::unique_ptr<Network::Line> line;
    std::unique_ptr<Controller> controller;
    std::optional<Instant> tick_at;  // on its clock
    // Beats without an answer, by stream.
    std::map<std::pair<std::string, transport::Attempt>, std::set<std::uint64_t>> unanswered;
    Reader::KnownCluster cluster;
};

SimCoordinator::SimCoordinator(World& world, Network& network, SqlDatabase& disk, Observer observer)
    : world_(world),
      network_(network),
      disk_(disk, [this](const SqlMoment& moment) { return fault_at(moment); }),
      observer_(std::move(observer)) {}

SimCoordinator::~SimCoordinator() = default;

std::optional<SqlFault> SimCoordinator::fault_at(const SqlMoment& moment) {
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

void SimCoordinator::start() {
    if (life_ || starting_) return;
    starting_ = true;
    try_start();
}

void SimCoordinator::try_start() {
    auto life = std::make_unique<Life>(*this, ++lives_);
    const auto begin = [&]() -> Result<Done> {
        TRY_ASSIGN(reads, disk_.connect(Access::read));
        TRY_ASSIGN(writes, disk_.connect(Access::write));
        TRY(reads->begin(Access::read));
        const auto revision = Reader(*reads).revision();
        reads->rollback();
        if (!revision) return revision.error();
        life->reads = std::move(reads);
        life->committer = std::make_unique<Committer>(
            std::move(writes), life->clock,
            CommitterOptions{.history = {}, .epoch = {}, .start = *revision});
        life->line = network_.connect_coordinator();
        watch(*life);
        ControllerOptions options;
        options.seed = world_.prng.next();
        const std::uint64_t number = life->number;
        const auto post = [this, number](ControlEvent event) {
            world_.agenda.after(Duration::zero(), [this, number, event = std::move(event)] {
                deliver(number, [this, event](Life& present) { give(present, event); });
            });
        };
        life->controller =
            std::make_unique<Controller>(options, *life, *life->line, life->clock, post);
        life->line->listen([post](transport::Event event) {
            std::visit([&](auto& told) { post(std::move(told)); }, event);
        });
        return life->controller->start();
    };
    const auto begun = begin();
    if (!begun) {
        life.reset();
        world_.tell(20, [&] { return "the coordinator cannot start: " + begun.error().message; });
        world_.agenda.after(1s, [this] { try_start(); });
        return;
    }
    starting_ = false;
    life_ = std::move(life);
    world_.tell(21, [] { return std::string("the coordinator starts"); });
    schedule_tick(*life_);
}

void SimCoordinator::kill() {
    if (!life_) return;
    world_.tell(22, [] { return std::string("the coordinator is killed"); });
    life_.reset();
    waiting_.clear();
}

void SimCoordinator::resume() {
    paused_ = false;
    for (const auto& action : std::exchange(waiting_, {})) action();
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

void SimCoordinator::give(Life& life, const ControlEvent& event) {
    note_answer(life, event);
    life.controller->take(event);
    schedule_tick(life);
}

void SimCoordinator::watch(Life& life) {
    const auto beaten = [&life](const std::string& worker, transport::Attempt attempt,
                                const control::Beat& beat) {
        life.unanswered[{worker, attempt}].insert(beat.number);
    };
    const auto hung_up = [this, &life](const std::string& worker, transport::Attempt attempt) {
        const auto found = life.unanswered.find({worker, attempt});
        if (found == life.unanswered.end()) return;
        observer_.given_up(worker, found->second.size());
    };
    life.line->watch({.commanded = observer_.commanded, .beaten = beaten, .hung_up = hung_up});
}

void SimCoordinator::note_answer(Life& life, const ControlEvent& event) {
    const auto* heard = std::get_if<transport::Heard>(&event);
    const auto* pulse = heard == nullptr ? nullptr : std::get_if<control::Pulse>(&heard->message);
    if (pulse == nullptr) return;
    const auto beats = life.unanswered.find({heard->worker, heard->attempt});
    if (beats == life.unanswered.end()) return;  // its Welcome was lost
    beats->second.erase(beats->second.begin(), beats->second.upper_bound(pulse->beat));
}

void SimCoordinator::schedule_tick(Life& life) {
    const auto wanted = life.controller->wake_at();
    if (!wanted || (life.tick_at && *life.tick_at <= *wanted)) return;
    life.tick_at = wanted;
    later(life.clock.until(*wanted), [this, wanted](Life& present) {
        if (present.tick_at == wanted) present.tick_at.reset();
        give(present, control_event::Tick{});
    });
}

// ---- the catalog --------------------------------------------------------------------------------

void SimCoordinator::submit(Life& life, Bundle bundle, ::baton::Answered answered) {
    life.jobs.push_back({.bundle = std::make_shared<const Bundle>(std::move(bundle)),
                         .answered = std::move(answered)});
    if (life.commit_planned) return;
    life.commit_planned = true;
    later(world_.up_to(3ms), [this](Life& present) { commit(present); });
}

void SimCoordinator::commit(Life& life) {
    life.commit_planned = false;
    std::vector<Committer::Job> jobs = std::exchange(life.jobs, {});
    life.committer->run(jobs, [&](CommittedBatch batch) {
        world_.mix(batch.revision.value());
        observer_.committed(batch);
        auto shared = std::make_shared<CommittedBatch>(std::move(batch));
        later(world_.up_to(3ms), [this, shared](Life& present) { publish(present, *shared); });
    });
    if (!life.committer->is_unsure() || life.commit_planned) return;
    life.commit_planned = true;
    later(50ms, [this](Life& present) { commit(present); });
}

void SimCoordinator::publish(Life& life, const CommittedBatch& batch) {
    if (!batch.changes.empty()) {
        observer_.published(batch.changes.back().revision);
        control_event::Changed changed{keys_of(batch.changes)};
        give(life, changed);
    }
    for (const auto& [answered, outcome] : batch.answers) answered(outcome);
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
    submit(life, std::move(bundle), [this, kept, attempts, told](const Outcome& outcome) {
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
        if (const auto* refused = std::get_if<Refused>(&outcome)) {
            const bool unknown = refused->error.code == ErrorCode::unknown_outcome;
            return told(unknown ? Told::nothing : Told::refused, &refused->error);
        }
        told(Told::accepted, nullptr);
    });
}

}  // namespace baton::sim
