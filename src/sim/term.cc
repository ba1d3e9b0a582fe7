#include "sim/term.h"

namespace baton::sim {

using namespace std::chrono_literals;

SimTerm::SimTerm(Process process, Office office, std::unique_ptr<Sql> writes,
                 std::unique_ptr<Network::Line> line)
    : process_(std::move(process)),
      world_(process_.world),
      office_(std::move(office)),
      committer_(std::move(writes), process_.clock,
                 coordinator::CommitterOptions{.history = {},
                                               .epoch = office_.epoch,
                                               .start = office_.start,
                                               .may_act = office_.guard.may_act}),
      line_(std::move(line)),
      transport_(*line_, office_.guard, office_.epoch) {
    watch();
    coordinator::ControllerOptions options;
    options.epoch = office_.epoch;
    options.seed = world_.prng.next();
    options.allocation.lease = world_.partition_lease;
    const auto post = [later = process_.later](coordinator::ControlEvent event) {
        later(Duration::zero(),
              [event = std::move(event)](SimTerm& present) { present.give(event); });
    };
    coordinator::CatalogDoor& door = *this;
    controller_.emplace(options, door, transport_, process_.clock, post);
    transport_.listen([post](transport::Event event) {
        std::visit([&](auto& told) { post(std::move(told)); }, event);
    });
}

Result<Done> SimTerm::start() {
    return controller_->start();
}

void SimTerm::end() {
    if (!jobs_.empty()) commit();
    for (const auto& [number, batch] : std::exchange(unpublished_, {})) {
        for (const auto& [answered, outcome] : batch.answers) answered(outcome);
    }
}

// ---- workers ------------------------------------------------------------------------------------

void SimTerm::give(const coordinator::ControlEvent& event) {
    note_answer(event);
    controller_->take(event);
    schedule_tick();
}

void SimTerm::watch() {
    const auto beaten = [this](const std::string& worker, transport::Attempt attempt,
                               const control::Beat& beat) {
        process_.observer.spoke(office_.epoch);
        unanswered_[{worker, attempt}].insert(beat.number);
    };
    const auto hung_up = [this](const std::string& worker, transport::Attempt attempt) {
        const auto found = unanswered_.find({worker, attempt});
        if (found == unanswered_.end()) return;
        // Who may not act has not sent the last ones.
        if (office_.guard.may_act && !office_.guard.may_act()) return;
        process_.observer.given_up(worker, found->second.size());
    };
    const auto commanded = [this](const std::string& worker, std::optional<Incarnation> process,
                                  const control::Command& command) {
        process_.observer.spoke(command.epoch);
        process_.observer.commanded(worker, process, command);
    };
    const auto assigned = [this](const control::Assign& assign) {
        process_.observer.spoke(assign.epoch);
        process_.observer.assigned();
    };
    const auto greeted = [this](const control::Hello& hello) {
        process_.observer.spoke(hello.epoch);
    };
    line_->watch({.greeted = greeted,
                  .commanded = commanded,
                  .assigned = assigned,
                  .beaten = beaten,
                  .hung_up = hung_up});
}

void SimTerm::note_answer(const coordinator::ControlEvent& event) {
    const auto* heard = std::get_if<transport::MessageArrived>(&event);
    const auto* pulse = heard == nullptr ? nullptr : std::get_if<control::Pulse>(&heard->message);
    if (pulse == nullptr) return;
    const auto beats = unanswered_.find({heard->worker, heard->attempt});
    if (beats == unanswered_.end()) return;  // its Welcome was lost
    beats->second.erase(beats->second.begin(), beats->second.upper_bound(pulse->beat));
}

void SimTerm::schedule_tick() {
    const auto wanted = controller_->wake_at();
    if (!wanted || (tick_at_ && *tick_at_ <= *wanted)) return;
    tick_at_ = wanted;
    process_.later(process_.clock.until(*wanted), [wanted](SimTerm& present) {
        if (present.tick_at_ == wanted) present.tick_at_.reset();
        present.give(coordinator::control_event::Tick{});
    });
}

// ---- the catalog --------------------------------------------------------------------------------

Result<coordinator::CatalogLook> SimTerm::look(const coordinator::CatalogWanted& wanted) {
    TRY(process_.reads.begin(Access::read));
    auto seen = coordinator::look(catalog::Reader(process_.reads), wanted);
    process_.reads.rollback();
    return seen;
}

void SimTerm::submit(Ticket ticket, std::vector<catalog::Request> requests, WhenWritten written) {
    submit(coordinator::bundle_of(std::move(requests), process_.clock),
           [ticket, written](const coordinator::Outcome& outcome) {
               written(ticket, coordinator::result_of(outcome));
           });
}

void SimTerm::submit(coordinator::Bundle bundle, coordinator::Answered answered) {
    jobs_.push_back({.bundle = std::make_shared<const coordinator::Bundle>(std::move(bundle)),
                     .answered = std::move(answered)});
    if (commit_planned_) return;
    commit_planned_ = true;
    process_.later(world_.up_to(3ms), [](SimTerm& present) { present.commit(); });
}

void SimTerm::commit() {
    commit_planned_ = false;
    std::vector<coordinator::Committer::Job> jobs = std::exchange(jobs_, {});
    committer_.run(jobs, [&](coordinator::CommittedBatch batch) {
        world_.mix(batch.revision.value());
        process_.observer.committed(batch);
        const std::uint64_t number = ++batches_;
        unpublished_.emplace(number, std::move(batch));
        process_.later(world_.up_to(3ms), [number](SimTerm& present) { present.publish(number); });
    });
    process_.observer.wrote(office_.epoch);
    if (!committer_.is_unsure() || commit_planned_) return;
    commit_planned_ = true;
    process_.later(50ms, [](SimTerm& present) { present.commit(); });
}

void SimTerm::publish(std::uint64_t number) {
    const coordinator::CommittedBatch batch = std::move(unpublished_.extract(number).mapped());
    if (!batch.changes.empty()) {
        process_.observer.published(batch.changes.back().revision);
        give(coordinator::control_event::Changed{coordinator::keys_of(batch.changes)});
    }
    for (const auto& [answered, outcome] : batch.answers) answered(outcome);
}

}  // namespace baton::sim
