// Checks test the rules that must hold after every event of a simulation, and those that must come
// true once the world has healed. They look at the catalog and at the workers from outside, and
// believe nothing that the checked code reports about itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/reader.h"
#include "coordinator/commit/committer.h"
#include "model/control.h"
#include "model/entities.h"
#include "sim/worker.h"
#include "sim/world.h"

namespace baton::sim {

class Checks {
public:
    // `disk` is read without faults.
    Checks(World& world, SqlDatabase& disk, const std::vector<std::unique_ptr<SimWorker>>& workers,
           FragmentRuns& ran);

    // ---- safety: called as it happens ---------------------------------------------------------
    // A `coordinator` is the number of one.
    void committed(const coordinator::CommittedBatch& batch);
    void published(std::size_t coordinator, Revision revision);
    void term_began(std::size_t coordinator);  // or it was started, if it leads for ever
    // The coordinator was disturbed, and cannot be expected to have done anything in time.
    void coordinator_disturbed() { undisturbed_since_ = world_.agenda.now(); }
    void world_healed() { healed_ = world_.agenda.now(); }
    void commanded(std::size_t coordinator, const std::string& worker,
                   std::optional<Incarnation> process, const control::Command& command);
    // The worker's process has ended, or another one begins: everything that it held is lost.
    void worker_renewed(const std::string& worker);
    // The coordinator ends the stream of a worker that did not answer so many beats.
    void given_up(const std::string& worker, std::size_t unanswered);
    // The requests of users and their answers. A query must exist from the moment its creation is
    // acknowledged until a user asks for its end.
    void create_acknowledged(const std::string& query, Instant asked);
    void stop_asked(const std::string& query) { ends_asked_.insert(query); }
    void drop_asked(const std::string& query);
    void drop_answered(const std::string& query);
    void stop_acknowledged(const std::string& query);

    // ---- after healing ------------------------------------------------------------------------
    // The expectations that have not come true yet, in sentences.
    [[nodiscard]] std::vector<std::string> unsettled();
    [[nodiscard]] Revision revision() const { return revision_; }
    [[nodiscard]] std::uint64_t commands() const { return commands_; }  // sent so far

    // As the catalog has them.
    [[nodiscard]] std::vector<Query> queries() const;
    [[nodiscard]] std::vector<Worker> workers() const;

    // How often each state was reached, to see whether a run did anything.
    [[nodiscard]] const std::map<QueryState, std::uint64_t>& reached() const { return reached_; }

private:
    struct QueryRows {
        Query query;
        std::vector<Fragment> fragments;
    };

    // The queries and workers that may have changed; none: it does not exist.
    struct Seen {
        std::map<QueryId, std::optional<QueryRows>> queries;
        std::map<std::string, std::optional<Worker>> workers;
    };

    void read();  // everything
    void read(const std::vector<catalog::Change>& changes);
    void take_in(Seen seen);
    void check_query(const QueryRows& known, const QueryRows* before);
    void check_course(const Query& before, const Query& after);
    void check_running(const Query& query, const Fragment& fragment);
    void check_worker(const std::string& name, const std::optional<Worker>& after);
    void check_gone(const QueryRows& before);
    void check_capacity();
    void check_acknowledged();
    [[nodiscard]] bool may_start(std::size_t coordinator, const FragmentKey& key,
                                 const std::string& worker) const;
    [[nodiscard]] bool is_known(std::size_t coordinator, const std::string& worker,
                                std::optional<Incarnation> process) const;
    [[nodiscard]] bool has_yet_to_hear(std::size_t coordinator, Revision of) const;
    [[nodiscard]] std::optional<std::string> out_of_order(const control::Command& command) const;
    void check_patience(const Query& before, const Query& after);
    void check_cause(const Query& before, const Query& after);
    void check_deadline(const Query& before, const Query& after);

    World& world_;
    std::unique_ptr<Sql> sql_;
    const std::vector<std::unique_ptr<SimWorker>>& workers_;
    FragmentRuns& ran_;
    Revision revision_;
    std::uint64_t reads_ = 0;
    std::uint64_t commands_ = 0;
    Instant term_began_;
    Instant undisturbed_since_;
    std::optional<Instant> healed_;
    std::map<QueryId, QueryRows> queries_;
    std::map<std::string, Worker> catalog_workers_;
    // The revision since which a life of a fragment is no longer wanted.
    std::map<FragmentKey, Revision> unwanted_;
    // The revision since which a life of a worker is no longer the one in the catalog.
    std::map<std::pair<std::string, Incarnation>, Revision> replaced_;
    std::map<std::size_t, Revision> published_;  // to each coordinator
    struct Drops {
        Instant last;
        std::uint64_t open = 0;  // asked for and not answered
    };
    std::map<std::string, Drops> drops_;
    std::map<std::string, QueryId> acknowledged_;  // queries that must be there
    std::set<std::string> stopped_;
    std::set<std::string> ends_asked_;  // of queries, ever
    std::map<QueryState, std::uint64_t> reached_;
};

}  // namespace baton::sim
