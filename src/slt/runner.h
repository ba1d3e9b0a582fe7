// Runs a script with a client, one query at a time, and says of each expectation whether it was
// met.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slt/client.h"
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
    std::string scratch;  // a directory for inputs and results
};

class Runner {
public:
    // The client outlives it.
    Runner(Client& client, const RunnerOptions& options);

    // One for each expectation, and for each statement without one that failed.
    [[nodiscard]] std::vector<Check> run(const Script& script);

private:
    struct Rows {
        std::vector<std::string> rows;
        bool known = true;  // false: the sink keeps none
    };

    [[nodiscard]] std::string check(const Item& item);
    [[nodiscard]] std::string check_rows(const Result<Rows>& rows,
                                         const std::optional<Expectation>& expected);
    [[nodiscard]] Result<Done> create(const sql::CreateSink& given, const std::string& text);
    [[nodiscard]] Result<Rows> rows_of(const sql::CreateQuery& given, const std::string& text);
    [[nodiscard]] Result<Rows> rows_of(const std::string& text);
    [[nodiscard]] Result<Done> run_to_its_end(const std::string& text);
    [[nodiscard]] Result<SourceData> serve(const Attach& attached, const std::string& type);

    Client& client_;
    const RunnerOptions options_;
    Supply supply_;
    std::vector<std::unique_ptr<RowServer>> servers_;
    std::size_t inputs_ = 0;
};

}  // namespace baton::slt
