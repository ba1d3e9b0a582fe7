// Questions answers the SELECTs over bounded relations: tables, views of schema BATON, VALUES.
//
// prepare() goes from a text to a task: it parses, judges (core/questions), resolves the relations
// on one snapshot of the catalog and one version of each table, and leaves out objects that cannot
// matter. ask() prepares and answers on a thread of its own, so that its caller does not wait.
//
// A text over streams is none of its business: it fails with the error that the grammar of streams
// had for it, or says that the two kinds of relations cannot be mixed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/views/view_query.h"
#include "coordinator/questions/parts.h"
#include "coordinator/reading/readers.h"
#include "core/questions/gate.h"
#include "ports/clock.h"
#include "ports/question_engine.h"
#include "tables/access/table_access.h"
#include "threads/halt.h"
#include "threads/lane.h"
#include "threads/later.h"

namespace baton::coordinator {

struct AskedQuestion {
    std::string text;
    std::vector<QuestionParameter> parameters = {};
    std::string user;
    std::optional<Error> otherwise = {};  // why the grammar of streams does not take the text
    threads::SharedHalt halt = {};        // none: the caller never gives up
};

struct DescribedQuestion {
    std::vector<views::TableColumn> columns;
    std::vector<SqlType> parameters;  // `other` where any will do
};

// The beginning of an answer.
struct FirstRows {
    std::vector<views::TableColumn> columns;
    std::vector<SqlRow> rows;
    std::unique_ptr<QuestionAnswer> rest;  // none: these were all
};
using FirstRowsLater = threads::Later<Result<FirstRows>>;

// All outlive the questions.
struct QuestionsParts {
    QuestionEngine* engine = nullptr;
    tables::TableAccess* tables = nullptr;
    std::function<Result<Snapshot>()> snapshot;
    std::function<views::LiveCounts()> live_counts;
    const Clock* clock = nullptr;
    std::string version;  // of Baton
    PartsOptions parts;
};

class Questions {
public:
    explicit Questions(QuestionsParts parts, std::size_t threads = 8);
    // Questions that run are interrupted.
    ~Questions();
    Questions(const Questions&) = delete;
    Questions& operator=(const Questions&) = delete;

    // Whether it can be parsed at all; fails with `otherwise` if there is one.
    [[nodiscard]] Result<Done> check_syntax(const std::string& text,
                                            const std::optional<Error>& otherwise);
    [[nodiscard]] Result<QuestionTask> prepare(const AskedQuestion& asked);
    // The columns of the answer, as text and parameters have them, without answering.
    [[nodiscard]] Result<DescribedQuestion> describe(const AskedQuestion& asked);
    [[nodiscard]] Result<SqlColumns> columns_of(const AskedQuestion& asked);
    [[nodiscard]] std::shared_ptr<FirstRowsLater> ask(AskedQuestion asked);

    // Any table of these names.
    [[nodiscard]] Result<bool> is_table(const std::vector<std::string>& names);

    [[nodiscard]] threads::Lane& lane() { return lane_; }
    [[nodiscard]] tables::TableAccess& tables() { return *parts_.tables; }

private:
    class Preparation;

    [[nodiscard]] Result<FirstRows> answer(const AskedQuestion& asked);
    // In parts where that is worth the while.
    [[nodiscard]] Result<std::unique_ptr<QuestionAnswer>> begin(const AskedQuestion& asked);

    const QuestionsParts parts_;
    std::atomic<bool> closing_ = false;
    threads::Lane leaves_;  // of questions that the lane below waits for
    threads::Lane lane_;    // last: its threads use everything above
};

// The columns of an answer as rows for clients have them.
[[nodiscard]] std::vector<views::TableColumn> shown_columns(const SqlColumns& columns);

}  // namespace baton::coordinator
