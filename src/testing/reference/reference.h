// The reference says which rows a plan gives over finite tables, as plainly as it can be said: it
// is what optimised and distributed plans are compared with.
//
// All rows are there at once and none is late. Where a window has no time column, every row arrives
// at time 0.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/plan.h"

namespace baton::testing {

using Row = std::vector<Value>;

// The rows of each physical source, with all columns of its logical source.
struct TestTable {
    std::string logical;
    Schema schema;
    std::vector<Row> rows;
};
using TestTables = std::map<PhysicalSourceId, TestTable>;

// The rows, sorted. Fails as evaluating an expression does.
[[nodiscard]] Result<std::vector<Row>> rows_of(const PlanNode& root, const TestTables& tables);

// The rows that arrive at the sink when all fragments run; each exchange has to have a receiver and
// exactly the senders it names.
[[nodiscard]] Result<std::vector<Row>> rows_of(const std::vector<FragmentPlan>& fragments,
                                               const TestTables& tables);

// Whether both have the same rows; numbers with a fraction may differ in the last digits.
[[nodiscard]] bool same_rows(const std::vector<Row>& a, const std::vector<Row>& b);
[[nodiscard]] std::string to_string(const std::vector<Row>& rows);

}  // namespace baton::testing
