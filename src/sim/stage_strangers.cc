// What others do to the workers of a stage: coordinators of other catalogs and of other histories.
#include "sim/stage.h"

namespace baton::sim {

using namespace std::chrono_literals;

// A worker that belongs to nobody yet is anybody's.
void Stage::play_stranger(const Incident& incident) {
    SimWorker& worker = *workers_.at(incident.worker);
    const control::Allegiance kept = worker.kept();
    if (kept.catalog.empty()) return;
    control::Hello hello{.epoch = kept.epoch, .worker = worker.name(), .catalog = kept.catalog};
    if (incident.kind == IncidentKind::worker_courted) {
        hello.catalog = "another";
        hello.epoch = kept.epoch.next();
        worker.haunt(network_.greet_as_stranger(worker.name(), hello), numbers_to_come());
    } else if (incident.kind == IncidentKind::worker_poisoned) {
        hello.epoch = Epoch(world_.prng.chance(1, 2) ? ~0ULL : (1ULL << 63U) - 2);
        (void)network_.greet_as_stranger(worker.name(), hello);
    } else if (incident.kind == IncidentKind::worker_lies) {
        network_.worker_died(worker.name());  // so that it is dialled again
    } else if (incident.kind == IncidentKind::worker_haunted) {
        worker.haunt(network_.greet_as_stranger(worker.name(), hello), numbers_to_come());
    } else {
        contest(incident);
    }
}

// The other leader looks ten times a second whether the worker obeys us.
void Stage::contest(const Incident& incident) {
    if (!is_under_way(incident.kind, incident)) return;
    const SimWorker& worker = *workers_.at(incident.worker);
    const control::Allegiance kept = worker.kept();
    if (kept.epoch != rival_) {
        rival_ = kept.epoch.next();
        (void)network_.greet_as_stranger(
            worker.name(), {.epoch = rival_, .worker = worker.name(), .catalog = kept.catalog});
        network_.worker_died(worker.name());  // it hangs up on those before
    }
    world_.agenda.after(100ms, [this, incident] { contest(incident); });
}

// That the next query and its fragments will have.
std::vector<FragmentKey> Stage::numbers_to_come() const {
    constexpr std::uint64_t kFragments = 4;
    const auto sql = *disk_->connect(Access::read);
    const auto rows = *sql->query("SELECT next_id FROM meta");
    const auto next = static_cast<std::uint64_t>(std::get<std::int64_t>(rows.at(0).at(0)));
    std::vector<FragmentKey> keys;
    for (std::uint64_t i = 1; i <= kFragments; ++i) {
        keys.push_back({.query = QueryId(next), .run = 1, .fragment = FragmentId(next + i)});
    }
    return keys;
}

}  // namespace baton::sim
