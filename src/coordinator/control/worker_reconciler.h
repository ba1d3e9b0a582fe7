// WorkerReconciler reads the workers that changed in the catalog, for all reconcilers, and writes
// to the catalog what is judged of them.
#pragma once

#include <optional>
#include <string>

#include "coordinator/control/reconciler.h"
#include "core/membership/verdicts.h"
#include "core/workqueue/due_keys.h"

namespace baton::coordinator {

class WorkerReconciler final : public Reconciler {
public:
    explicit WorkerReconciler(ReconcilerActions& actions)
        : actions_(actions), due_(kCatalogBackoff) {}

    [[nodiscard]] EntitySet watches() const override;
    void start(Instant now, const CatalogLook& everything) override;
    void changed(const EntityKey& key) override { due_.changed(key.key); }
    void written(Instant now, CatalogDoor::Ticket ticket, const Result<Done>& outcome) override;
    void recorded(Instant now, const std::string& worker,
                  const std::optional<Worker>& as_read) override;
    void heard(Instant now, const transport::MessageArrived& event) override;
    void judged(const membership::Judge& judgement) override;
    void reconcile(Instant now) override;
    [[nodiscard]] std::optional<Instant> wake_at(Instant now) const override;

private:
    // Brings what is known of it up to date. False if that failed.
    [[nodiscard]] bool refresh(Instant now, const std::string& worker);

    ReconcilerActions& actions_;
    membership::Verdicts verdicts_;
    workqueue::DueKeys<std::string> due_;  // names
};

}  // namespace baton::coordinator
