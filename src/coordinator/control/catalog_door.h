// CatalogDoor is the controller's way to the catalog: the controller reads durable rows through it,
// and submits changes, whose outcome arrives later in a callback. One implementation stands before
// the commit loop and the readers of a CoordinatorRuntime, another one is part of the simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/reader.h"
#include "catalog/requests.h"
#include "coordinator/commit/bundle.h"
#include "model/entities.h"
#include "ports/clock.h"

namespace baton::coordinator {

struct StoredQuery {
    Query query;
    std::vector<Fragment> fragments;  // without the texts of their plans
};

struct PlanText {
    std::string text;
    std::string fingerprint;
};

// All of one revision.
struct CatalogLook {
    std::map<QueryId, std::optional<StoredQuery>> queries;  // none: it is not there
    std::map<std::string, std::optional<Worker>> workers;
    std::map<FragmentId, PlanText> plans;
    std::string catalog;  // its id; only with everything
    std::vector<TaskList> task_lists;
    std::vector<Partition> partitions;
};

struct CatalogWanted {
    std::set<QueryId> queries;
    std::set<std::string> workers;
    std::set<FragmentId> plans;
    bool partitions = false;  // and their lists
    bool everything = false;  // all queries, workers and partitions

    [[nodiscard]] bool empty() const {
        return queries.empty() && workers.empty() && plans.empty() && !partitions && !everything;
    }
};

// Reads what is wanted in the transaction that the reader is in.
[[nodiscard]] Result<CatalogLook> look(const catalog::Reader& reader, const CatalogWanted& wanted);

// For implementations that stand before a committer: submitted requests as a bundle, and the
// outcome of a bundle as `written` reports it.
[[nodiscard]] Bundle bundle_of(std::vector<catalog::Request> requests, const Clock& clock);
[[nodiscard]] Result<Done> result_of(const Outcome& outcome);

class CatalogDoor {
public:
    using Ticket = std::uint64_t;
    // Done: the requests happened together and are durable. An error: none of them did, except for
    // unknown_outcome.
    using WhenWritten = std::function<void(Ticket, const Result<Done>&)>;

    virtual ~CatalogDoor() = default;

    // Sees everything that was written before it. Fails with errors of the database and slow_down.
    [[nodiscard]] virtual Result<CatalogLook> look(const CatalogWanted& wanted) = 0;
    // Does not wait. `written` is called once, from any thread, possibly before this returns, and
    // must not call back. Requests happen in the order in which they are submitted.
    virtual void submit(Ticket ticket, std::vector<catalog::Request> requests,
                        WhenWritten written) = 0;
};

}  // namespace baton::coordinator
