// PartitionReconciler keeps the partitions of all task lists with workers, as the Allocator
// decides. Partitions are looked at as a whole; one change of them is written at a time.
#pragma once

#include <optional>
#include <string>

#include "coordinator/control/reconciler.h"
#include "core/allocation/allocator.h"
#include "core/workqueue/due_keys.h"

namespace baton::coordinator {

class PartitionReconciler final : public Reconciler {
public:
    PartitionReconciler(ReconcilerActions& actions, const allocation::AllocatorOptions& options,
                        Epoch epoch, Instant start)
        : actions_(actions), allocator_(options, epoch, start), due_(kCatalogBackoff) {}

    [[nodiscard]] EntitySet watches() const override;
    void start(Instant now, const CatalogLook& everything) override;
    void changed(const EntityKey& key) override;
    void written(Instant now, CatalogDoor::Ticket ticket, const Result<Done>& outcome) override;
    void recorded(Instant now, const std::string& worker,
                  const std::optional<Worker>& as_read) override;
    void connected(Instant now, const transport::Dialled& event) override;
    void heard(Instant now, const transport::MessageArrived& event) override;
    void disconnected(Instant now, const std::string& worker) override;
    void add_to(control::Beat& beat, const std::string& worker) const override;
    void tick(Instant now) override;
    void reconcile(Instant now) override;
    [[nodiscard]] std::optional<Instant> wake_at(Instant now) const override;

private:
    struct All {
        friend auto operator<=>(const All&, const All&) = default;
    };

    // Brings what is known of them up to date. False if that failed.
    [[nodiscard]] bool refresh();

    ReconcilerActions& actions_;
    allocation::Allocator allocator_;
    workqueue::DueKeys<All> due_;
    std::optional<Instant> look_at_;  // when they want to be looked at
};

}  // namespace baton::coordinator
