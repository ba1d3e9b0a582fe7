// A question in parts: leaves over shares of one relation's objects, and a final part over their
// rows. Here the leaves run side by side in this process; each is a task by itself, so that workers
// can run them as well.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/json/json.h"
#include "ports/question_engine.h"
#include "tables/access/table_access.h"
#include "threads/lane.h"

namespace baton::coordinator {

struct PartsOptions {
    std::size_t leaves_max = 2;
    std::uint64_t bytes_min = 64ULL << 20U;  // of the objects; below it is not worth the while
};

// A question that is ready to be answered.
struct PreparedQuestion {
    QuestionTask task;
    json::Value tree;                 // the task's
    std::vector<SqlColumns> columns;  // of its relations
};

// The leaves and the final tree of a question that is worth it; none: it is answered whole, and
// `why` says why.
struct QuestionParts {
    std::string_view strategy;
    std::vector<QuestionTask> leaves;
    SqlColumns leaf_columns;
    std::string final_tree;
};
struct InParts {
    std::optional<QuestionParts> parts;
    std::string why;
};
[[nodiscard]] Result<InParts> in_parts(QuestionEngine& engine, const PreparedQuestion& question,
                                       const PartsOptions& options);

// Runs the leaves on the lane, and begins the final part. Waits.
[[nodiscard]] Result<std::unique_ptr<QuestionAnswer>> answer_parts(tables::TableAccess& access,
                                                                   threads::Lane& lane,
                                                                   const std::string& user,
                                                                   const PreparedQuestion& question,
                                                                   QuestionParts parts);

}  // namespace baton::coordinator
