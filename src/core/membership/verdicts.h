// Verdicts keeps what is judged of the workers, and tells what of it the catalog does not say yet.
//
// A worker that has moved to another address is another worker: nothing is judged of it yet.
// Pure: no clock, no I/O, no randomness, no threads.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/membership/membership.h"
#include "model/controller_requests.h"
#include "model/entities.h"

namespace baton::membership {

class Verdicts {
public:
    // As the catalog has it; none: no longer.
    void record(const std::string& name, const std::optional<Worker>& worker);

    void judge(const membership::Judge& judgement);
    // Its process was asked to end. True if that is news.
    bool leaves(const std::string& worker);

    // None if the catalog says so already, or has no such worker.
    [[nodiscard]] std::optional<controllers::ReportWorker> unreported(
        const std::string& worker) const;

private:
    std::map<std::string, Worker> recorded_;
    std::map<std::string, controllers::ReportWorker> verdicts_;
};

}  // namespace baton::membership
