// Model is the catalog as one would explain it: a few maps, and for each request the rule in words.
//
// It knows nothing of SQL, revisions, plans or threads, and is never faster than it is plain. For
// every request it says what the catalog must answer and what must be in it afterwards; random
// sequences of requests hold the catalog to that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/reader.h"
#include "catalog/requests.h"

namespace baton::properties {

// Stands for any reason that the catalog words itself.
inline const Reason kOwnWords{.text = "(in its own words)"};
// The reasons that requests of these tests give.
[[nodiscard]] const std::vector<Reason>& given_reasons();

struct ModelWorker {
    std::string address;  // empty: the embedded worker
    std::string data;
    std::optional<std::uint64_t> capacity;
    WorkerState state = WorkerState::active;
    bool draining = false;
    bool leaving = false;
    std::optional<std::uint64_t> incarnation;
    Reason reason = kOwnWords;

    friend bool operator==(const ModelWorker&, const ModelWorker&) = default;
};

// A physical source or a sink.
struct ModelConnector {
    std::string logical;  // of a physical source
    Schema schema;        // of a sink
    std::string worker;
    std::string type;
    Config options;
    Config format;

    friend bool operator==(const ModelConnector&, const ModelConnector&) = default;
};

struct ModelQuery {
    std::string name;
    QueryState state = QueryState::pending;
    QueryDesire desired = QueryDesire::running;
    StopMode mode = StopMode::graceful;
    std::uint64_t run = 1;
    Reason reason;
    std::set<std::uint64_t> sources;
    std::set<std::string> sinks;
};

struct ModelFragment {
    std::uint64_t query = 0;
    std::string worker;
    FragmentState state = FragmentState::pending;
    Reason reason;
};

using ModelLink = std::pair<std::string, std::string>;  // upstream, downstream

struct ModelState {
    std::map<std::string, ModelWorker> workers;
    std::set<ModelLink> links;
    std::map<std::string, Schema> logical;
    std::map<std::uint64_t, ModelConnector> physical;
    std::map<std::string, ModelConnector> sinks;
    std::map<std::uint64_t, ModelQuery> queries;
    std::map<std::uint64_t, ModelFragment> fragments;
    std::map<std::string, std::uint64_t> task_lists;             // how many partitions each has
    std::map<std::string, std::optional<std::uint64_t>> tables;  // the newest version, once noted
    std::map<PartitionKey, Ownership> partitions;  // with those that outlive their list

    [[nodiscard]] std::uint64_t used(const std::string& worker) const;
    // Whether data gets from one worker to the other along links; a worker reaches itself.
    [[nodiscard]] bool reaches(const std::string& from, const std::string& to) const;
    // Whether a fragment may be put on it.
    [[nodiscard]] bool takes_part(const std::string& worker) const;
    // The workers on the shortest path through those that take part, both ends included; the first
    // by name where there are several. Empty if there is none.
    [[nodiscard]] std::set<std::string> route(const std::string& from, const std::string& to) const;
    [[nodiscard]] std::optional<std::uint64_t> query_named(const std::string& name) const;
    // Whether its list is there and has so many.
    [[nodiscard]] bool is_wanted(const PartitionKey& partition) const;
};

// One line per entity, to compare two states and to show how they differ.
[[nodiscard]] std::set<std::string> lines_of(const ModelState& state);
// What is in a catalog, in the same terms.
[[nodiscard]] ModelState state_in(const catalog::Reader& reader);

// What must be answered.
struct Verdict {
    // Everything that is wrong with the request; the catalog names one of them. Empty: it happens.
    std::set<ErrorCode> refusals;
    std::set<std::string> related;  // who stands in the way of a drop
    catalog::Did did = catalog::Did::unchanged;
    std::optional<std::uint64_t> id;  // of what was created
    std::string name;                 // of a created query

    Verdict(catalog::Did done) : did(done) {}      // NOLINT(google-explicit-constructor)
    Verdict(ErrorCode code) : refusals({code}) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool refused() const { return !refusals.empty(); }
    // Whether the revision rises.
    [[nodiscard]] bool changes() const;
};

class Model {
public:
    // What is refused changes nothing.
    Verdict apply(const catalog::Request& request);

    [[nodiscard]] const ModelState& state() const { return state_; }

private:
    Verdict on(const catalog::request::CreateLogicalSource& r);
    Verdict on(const catalog::request::CreatePhysicalSource& r);
    Verdict on(const catalog::request::CreateSink& r);
    Verdict on(const catalog::request::CreateWorker& r);
    Verdict on(const catalog::request::CreateQuery& r);
    Verdict create_query(const catalog::request::CreateQuery& r);
    Verdict on(const catalog::request::DropLogicalSource& r);
    Verdict on(const catalog::request::DropPhysicalSource& r);
    Verdict on(const catalog::request::DropSink& r);
    Verdict on(const catalog::request::DropWorker& r);
    Verdict on(const catalog::request::DropQuery& r);
    Verdict on(const catalog::request::StopQuery& r);
    Verdict on(const catalog::request::DrainWorker& r);
    Verdict on(const catalog::request::Drop& r);
    Verdict on(const controllers::ReportWorker& r);
    Verdict on(const controllers::ReportFragment& r);
    Verdict on(const controllers::MarkQuery& r);
    Verdict on(const controllers::FailQuery& r);
    Verdict on(const controllers::RestartQuery& r);
    Verdict on(const controllers::ReleaseQuery& r);
    Verdict on(const catalog::request::CreateTaskList& r);
    Verdict on(const catalog::request::DropTaskList& r);
    Verdict on(const catalog::request::CreateTable& r);
    Verdict on(const catalog::request::DropTable& r);
    Verdict on(const catalog::request::NoteTable& r);
    // No ask makes it: it changes nothing that the model knows.
    Verdict on(const catalog::request::ForgetDroppedTable& r);
    Verdict on(const controllers::AssignPartitions& r);
    // Why it does not happen; none: it did.
    [[nodiscard]] std::optional<ErrorCode> move(const PartitionMove& move);

    // The worker where something is to be, or why there is none.
    struct Place {
        std::string worker;
        std::optional<ErrorCode> refusal;
    };
    [[nodiscard]] Place place(const std::optional<std::string>& host) const;
    [[nodiscard]] std::optional<std::uint64_t> find(const catalog::request::QueryRef& ref) const;
    Verdict drop_each(sql::EntityKind kind, const sql::AttributeIs& where, StopMode mode,
                      bool if_exists);
    void erase_query(std::uint64_t id);

    ModelState state_;
    std::uint64_t next_id_ = 1;  // of physical sources, queries and fragments alike; never again
};

}  // namespace baton::properties
