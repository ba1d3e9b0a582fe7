#include "coordinator/reading/readers.h"

namespace baton::coordinator {

Snapshot::~Snapshot() {
    if (!sql_) return;
    sql_->rollback();
    owner_->give_back(std::move(sql_));
}

Result<Snapshot> Readers::snapshot(Urgency urgency) {
    TRY_ASSIGN(sql, connections_.take(urgency));
    Snapshot snapshot(connections_, std::move(sql));
    TRY(snapshot.sql().begin(Access::read));
    TRY_ASSIGN(revision, snapshot.read().revision());
    TRY(durable_.wait_for(revision));
    snapshot.revision_ = revision;
    return snapshot;
}

}  // namespace baton::coordinator
