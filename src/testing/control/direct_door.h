// DirectDoor is a controller's door to a catalog on the caller's thread. Submitted requests wait
// until settle_next() carries them out, so that the test decides when they become durable, and
// whether they do.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "catalog/requests.h"
#include "catalog/write_transaction.h"
#include "coordinator/commit/feed.h"
#include "coordinator/control/catalog_door.h"
#include "core/planning/planner.h"
#include "ports/clock.h"
#include "ports/sql.h"

namespace baton::testing {

class DirectDoor : public coordinator::CatalogDoor {
public:
    // Called after each commit with the keys that it changed, before its outcome is reported.
    using Published = std::function<void(const std::set<coordinator::EntityKey>&)>;

    // `sql` is a writing connection, with the present schema, for the door alone.
    DirectDoor(Sql& sql, const Clock& clock, Epoch epoch, planning::Planner planner,
               Published published)
        : sql_(sql),
          clock_(clock),
          epoch_(epoch),
          planner_(std::move(planner)),
          published_(std::move(published)) {}

    [[nodiscard]] Result<coordinator::CatalogLook> look(
        const coordinator::CatalogWanted& wanted) override;
    void submit(Ticket ticket, std::vector<catalog::Request> requests,
                WhenWritten written) override;

    [[nodiscard]] bool waiting() const { return !waiting_.empty(); }
    // Carries out the requests that were submitted first. With `instead` it does not, and reports
    // this error as their outcome.
    void settle_next(const std::optional<Error>& instead = std::nullopt);
    // Callers that wait are never answered, as after a crash.
    void forget() { waiting_.clear(); }

    // A client's request, at once.
    [[nodiscard]] Result<catalog::Answer> execute(const catalog::Request& request);

private:
    struct Submitted {
        Ticket ticket = 0;
        std::vector<catalog::Request> requests;
        WhenWritten written;
    };

    [[nodiscard]] Result<catalog::Answer> apply_one(catalog::WriteTransaction& tx,
                                                    const catalog::Request& request) const;
    [[nodiscard]] Result<catalog::Answer> apply(const std::vector<catalog::Request>& requests);

    Sql& sql_;
    const Clock& clock_;
    const Epoch epoch_;
    const planning::Planner planner_;
    const Published published_;
    std::deque<Submitted> waiting_;
};

}  // namespace baton::testing
