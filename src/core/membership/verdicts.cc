#include "core/membership/verdicts.h"

#include <utility>

namespace baton::membership {

void Verdicts::record(const std::string& name, const std::optional<Worker>& worker) {
    const auto known = recorded_.find(name);
    const bool moved =
        known != recorded_.end() && worker && known->second.control != worker->control;
    if (!worker || moved) verdicts_.erase(name);
    if (worker) {
        recorded_.insert_or_assign(name, *worker);
    } else {
        recorded_.erase(name);
    }
}

void Verdicts::judge(const Judge& judgement) {
    verdicts_[judgement.worker] = {.name = judgement.worker,
                                   .state = judgement.state,
                                   .incarnation = judgement.incarnation,
                                   .reason = judgement.reason};
}

bool Verdicts::leaves(const std::string& worker) {
    const auto found = verdicts_.find(worker);
    if (found == verdicts_.end() || found->second.state != WorkerState::active) return false;
    return !std::exchange(found->second.leaving, true);
}

std::optional<controllers::ReportWorker> Verdicts::unreported(const std::string& worker) const {
    const auto found = verdicts_.find(worker);
    const auto known = recorded_.find(worker);
    if (found == verdicts_.end() || known == recorded_.end()) return std::nullopt;
    const controllers::ReportWorker& verdict = found->second;
    const Worker& recorded = known->second;
    const bool same_process = !verdict.incarnation || verdict.incarnation == recorded.incarnation;
    if (same_process && recorded.state == verdict.state && recorded.reason == verdict.reason &&
        recorded.leaving == verdict.leaving) {
        return std::nullopt;
    }
    return verdict;
}

}  // namespace baton::membership
