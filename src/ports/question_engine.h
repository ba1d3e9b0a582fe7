// QuestionEngine parses the text of questions into trees, and answers trees over bounded relations.
//
// A question is one SELECT in the SQL of the engine. Text reaches execution only as a tree that
// core/questions has checked: the engine parses, the gate judges and renames, the engine executes.
// The relations that a tree may use are those of its task, by their names there; the engine opens
// nothing else, whatever the tree says.
//
// Calls block; any thread, many at once. interrupt() ends the answers under way of one question.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/table.h"
#include "ports/sql.h"

namespace baton {

// A Parquet file of this machine, with the values of the columns that are not in it.
struct RelationFile {
    std::string path;
    std::map<std::string, std::optional<std::string>> partition;
    std::optional<std::uint64_t> rows;  // as the log says; joins are planned by it
    std::uint64_t bytes = 0;            // as the log says; shares are made by it
    // Keeps the file at its path as long as the task or its answer lives; none: nothing removes it.
    std::shared_ptr<const void> held = {};
};
struct RelationFiles {
    std::vector<RelationFile> files;  // none: no rows
};
// Values as an answer has them; lists and structures cannot come so.
struct RelationRows {
    std::shared_ptr<const std::vector<SqlRow>> rows;
};
struct QuestionRelation {
    std::string name;  // in the tree, in lower case
    SqlColumns columns;
    std::variant<RelationFiles, RelationRows> content;
};

// $1, $2, ..: a text that takes the type which its place needs, or a value of its own type; none:
// NULL.
using QuestionParameter = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct QuestionTask {
    std::string tree;  // JSON, as parse() gives it
    std::vector<QuestionRelation> relations;
    std::vector<QuestionParameter> parameters;
    std::uint64_t memory_max = 0;  // bytes, beyond which it spills to disk; 0: the engine's share
    std::string text = {};         // of the question, for the places of errors; may be empty
    // Asked every few milliseconds while a call waits; true: the call ends with cancelled.
    std::function<bool()> given_up = {};
};

// Rows of an answer. Values: NULL, whole numbers that fit 64 bits with a sign by their type and
// booleans (0, 1) as integers, REAL and DOUBLE as numbers; everything else (UBIGINT and HUGEINT,
// too) as text in PostgreSQL's form.
struct AnswerBatch {
    std::vector<SqlRow> rows;
    bool ended = false;  // these are the last
};

// It ends before its engine does.
class QuestionAnswer {
public:
    virtual ~QuestionAnswer() = default;

    [[nodiscard]] virtual const SqlColumns& columns() const = 0;
    // The next rows, some thousand at most. One thread at a time. An error is final.
    [[nodiscard]] virtual Result<AnswerBatch> next() = 0;
    // Any thread: a next() under way fails with cancelled, and so does each later one.
    virtual void interrupt() = 0;
};

// A Parquet file that was written, with the statistics that a table's log needs.
struct WrittenFile {
    TableObject object;  // without a key
};

class QuestionEngine {
public:
    virtual ~QuestionEngine() = default;

    // The tree of a text that holds one SELECT: the statement of the engine's parser as JSON. Fails
    // with syntax, with the position, and with not_supported for any other statement.
    [[nodiscard]] virtual Result<std::string> parse(std::string_view text) = 0;
    // The text of a tree, for people.
    [[nodiscard]] virtual Result<std::string> print(const std::string& tree) = 0;

    struct Description {
        SqlColumns columns;
        std::vector<SqlType> parameters;  // `other` where any will do
    };
    // The columns of the answer, without answering.
    [[nodiscard]] virtual Result<Description> describe(const QuestionTask& task) = 0;

    // Its rows are computed as they are asked for.
    [[nodiscard]] virtual Result<std::unique_ptr<QuestionAnswer>> answer(QuestionTask task) = 0;

    // Writes the rows of the answer as a Parquet file at `path`, converted to these columns by
    // their places. Fails with cannot_convert and not_null_violation, naming the column; then there
    // is no file. After `cancelled` it may be there for a moment: do not use the path again.
    [[nodiscard]] virtual Result<WrittenFile> write(QuestionTask task, const SqlColumns& columns,
                                                    const std::string& path,
                                                    const std::function<bool()>& given_up) = 0;
};

}  // namespace baton
