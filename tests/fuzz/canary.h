// Canary is a coordinator over a real catalog that lives through all cases of a fuzzer: what a case
// means is run there, and after each case a write must succeed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sqlite/sqlite.h"
#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"

namespace baton::fuzz {

class Canary {
public:
    static Canary& shared() {
        static Canary canary;
        return canary;
    }

    // As a client's statements, with an administrator's rights. A wait ends at once.
    void run(std::string_view text, const std::vector<sql::Literal>& parameters = {}) {
        coordinator::Session session(*coordinator_, "fuzzer");
        session.interrupt().raise();
        const coordinator::Execution execution = session.execute(text, {}, parameters);
        CHECK(!execution.error || execution.error->code != ErrorCode::defect);
    }

    // At the end of each case.
    void write() {
        coordinator::Session session(*coordinator_, "canary");
        const coordinator::Execution made = session.execute(
            "CREATE LOGICAL SOURCE \"the canary\" (A INT8); DROP LOGICAL SOURCE \"the canary\"");
        if (made.error) {
            (void)std::fprintf(stderr, "%s\n", to_string(*made.error).c_str());
            std::abort();
        }
        if (++cases_ % kCasesPerCatalog == 0) open();
    }

private:
    static constexpr std::size_t kCasesPerCatalog = 10'000;  // so that it does not grow for ever

    Canary() { open(); }

    void open() {
        coordinator_.reset();
        auto database = sqlite::open_temporary_sqlite({.initialise = catalog::migrate});
        CHECK(database);
        auto coordinator = coordinator::CoordinatorRuntime::open(*std::move(database), clock_);
        CHECK(coordinator);
        coordinator_ = *std::move(coordinator);
        coordinator::Session session(*coordinator_, "canary");
        const coordinator::Execution made = session.execute(
            "CREATE WORKER 'hub:1' SET ('HUB' AS NAME);"
            "CREATE WORKER 'edge:1' SET ('EDGE' AS NAME, 'HUB' AS DOWNSTREAM);"
            "CREATE LOGICAL SOURCE readings (id UINT64 NOT NULL, value FLOAT64);"
            "CREATE PHYSICAL SOURCE FOR readings TYPE File "
            "SET ('in.csv' AS SOURCE.FILE_PATH, 'EDGE' AS SOURCE.HOST);"
            "CREATE SINK alerts (id UINT64 NOT NULL) TYPE Print SET ('HUB' AS SINK.HOST)");
        CHECK(!made.error);
    }

    system::SystemClock clock_;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_;
    std::size_t cases_ = 0;
};

}  // namespace baton::fuzz
