// ControlWorld is a coordinator's controller, its catalog and workers in one thread and simulated
// time, with nothing going wrong but what a test does. Simulations of a worse world build their
// own.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sqlite/sqlite.h"
#include "base/time.h"
#include "coordinator/control/controller.h"
#include "model/entities.h"
#include "testing/control/direct_door.h"
#include "testing/control/manual_clock.h"
#include "testing/workers/in_process_workers.h"

namespace baton::testing {

class ControlWorld {
public:
    // Workers EDGE -> HUB that run, source READINGS on EDGE, sink ALERTS on HUB.
    explicit ControlWorld(const coordinator::ControllerOptions& options = {});
    ~ControlWorld();
    ControlWorld(const ControlWorld&) = delete;
    ControlWorld& operator=(const ControlWorld&) = delete;

    // Statements that change the catalog and must succeed.
    void run(std::string_view sql);
    [[nodiscard]] Result<catalog::Answer> try_run(std::string_view sql);

    // Lets time pass, and everything happen that is due.
    void run_for(Duration span);
    // Everything that happens without time passing.
    void settle();

    // The process of the coordinator dies: what it submitted may be lost. Workers go on.
    void crash();
    void start();

    [[nodiscard]] std::optional<Query> query(const std::string& name);
    // "RUNNING", or "none"
    [[nodiscard]] std::string state(const std::string& name);
    [[nodiscard]] std::vector<Fragment> fragments(const std::string& name);
    [[nodiscard]] Worker worker(const std::string& name);
    [[nodiscard]] std::vector<Partition> partitions();
    [[nodiscard]] Revision revision();

    [[nodiscard]] InProcessWorkers& workers() { return workers_; }
    [[nodiscard]] DirectDoor& door() { return *door_; }
    // While set, nothing that is submitted becomes durable.
    void hold_catalog(bool hold) { held_ = hold; }

private:
    [[nodiscard]] bool step();

    const coordinator::ControllerOptions options_;
    ManualClock clock_;
    std::unique_ptr<SqlDatabase> database_;
    std::unique_ptr<Sql> sql_;
    InProcessWorkers workers_;
    std::unique_ptr<DirectDoor> door_;
    std::unique_ptr<coordinator::Controller> controller_;  // none: crashed
    std::deque<coordinator::ControlEvent> events_;
    bool held_ = false;
};

}  // namespace baton::testing
