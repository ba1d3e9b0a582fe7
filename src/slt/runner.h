// Runs a script against a coordinator, one query at a time, and says of each expectation whether it
// was met.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "catalog/requests.h"
#include "runtime/coordinator_runtime.h"
#include "runtime/session.h"
#include "slt/row_server.h"
#include "slt/script.h"
#include "slt/supply.h"

namespace baton::slt {

struct Check {
    std::size_t line = 0;
    std::string problem;  // empty: as expected
};

struct RunnerOptions {
    Places places;
    std::string testdata;
    std::string scratch;                           // a directory for inputs and results
    Duration patience = std::chrono::seconds(60);  // for one query
};

class Runner {
public:
    Runner(CoordinatorRuntime& coordinator, const RunnerOptions& options);

    // One for each expectation, and for each statement without one that failed.
    [[nodiscard]] std::vector<Check> run(const Script& script);

private:
    struct Rows {
        std::vector<std::string> rows;
        bool known = true;  // false: the sink keeps none
    };

    [[nodiscard]] std::string check(const Item& item);
    [[nodiscard]] std::string check_explained(const Table& table, const Expectation& expected);
    // Runs what is no query; or the query until it ends.
    [[nodiscard]] Result<Did> change(const sql::Statement& statement);
    [[nodiscard]] Result<Done> create(sql::CreateSink sink);
    [[nodiscard]] Result<Rows> rows_of(sql::CreateQuery query);
    [[nodiscard]] Result<Rows> rows_of(const std::string& text);
    [[nodiscard]] Result<Done> run_to_its_end(const sql::CreateQuery& query);
    [[nodiscard]] Result<SourceData> serve(const Attach& attached, const std::string& type);

    CoordinatorRuntime& coordinator_;
    Session session_;
    const RunnerOptions options_;
    Supply supply_;
    std::vector<std::unique_ptr<RowServer>> servers_;
    std::size_t inputs_ = 0;
};

}  // namespace baton::slt
