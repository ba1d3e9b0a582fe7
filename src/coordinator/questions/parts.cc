#include "coordinator/questions/parts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/questions/shares.h"
#include "core/questions/split.h"
#include "threads/doorbell.h"
#include "threads/later.h"

namespace baton::coordinator {

namespace {

// Files of leaves, which go with the answer that reads them.
class LeafFiles {
public:
    LeafFiles() = default;
    ~LeafFiles() {
        std::error_code ignored;
        for (const std::string& path : paths_) std::filesystem::remove(path, ignored);
    }
    LeafFiles(const LeafFiles&) = delete;
    LeafFiles& operator=(const LeafFiles&) = delete;

    void add(std::string path) { paths_.push_back(std::move(path)); }
    [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

private:
    std::vector<std::string> paths_;
};

class AnswerOfParts final : public QuestionAnswer {
public:
    AnswerOfParts(std::unique_ptr<LeafFiles> files, std::unique_ptr<QuestionAnswer> answer)
        : files_(std::move(files)), answer_(std::move(answer)) {}

    [[nodiscard]] const SqlColumns& columns() const override { return answer_->columns(); }
    [[nodiscard]] Result<AnswerBatch> next() override { return answer_->next(); }
    void interrupt() override { answer_->interrupt(); }

private:
    std::unique_ptr<LeafFiles> files_;  // outlive the answer
    std::unique_ptr<QuestionAnswer> answer_;
};

// Parquet has no whole numbers of 128 bits: they travel as decimals, which hold all but the last
// digit of them. A sum that is larger fails, and the question is answered whole.
SqlColumns as_kept(SqlColumns columns) {
    constexpr std::uint8_t kDigits = 38;
    for (SqlField& column : columns) {
        if (column.type.kind != SqlType::Kind::hugeint) continue;
        column.type = {.kind = SqlType::Kind::decimal, .precision = kDigits, .scale = 0};
    }
    return columns;
}

// The relation whose objects are the most bytes; none: no relation has any to share.
std::optional<std::size_t> largest(const QuestionTask& task, std::uint64_t bytes_min) {
    std::optional<std::size_t> best;
    std::uint64_t most = bytes_min;
    for (std::size_t i = 0; i < task.relations.size(); ++i) {
        const auto* files = std::get_if<RelationFiles>(&task.relations[i].content);
        if (files == nullptr || files->files.size() < 2) continue;
        std::uint64_t bytes = 0;
        for (const RelationFile& file : files->files) bytes += file.bytes;
        if (bytes < most) continue;
        most = bytes;
        best = i;
    }
    return best;
}

}  // namespace

Result<InParts> in_parts(QuestionEngine& engine, const PreparedQuestion& question,
                         const PartsOptions& options) {
    const QuestionTask& task = question.task;
    const auto shared = largest(task, options.bytes_min);
    if (!shared || options.leaves_max < 2) {
        return InParts{.parts = {}, .why = "there is too little to share out"};
    }
    TRY_ASSIGN(described, engine.describe(task));
    auto split = questions::split({.tree = question.tree,
                                   .shared = *shared,
                                   .tables = question.columns,
                                   .answer = described.columns});
    if (auto* whole = std::get_if<questions::Whole>(&split)) {
        return InParts{.parts = {}, .why = std::move(whole->why)};
    }
    auto& two = std::get<questions::Split>(split);
    QuestionParts parts{.strategy = two.strategy,
                        .leaves = {},
                        .leaf_columns = {},
                        .final_tree = json::to_text(two.final)};
    const auto& files = std::get<RelationFiles>(task.relations[*shared].content).files;
    std::vector<std::uint64_t> bytes;
    for (const RelationFile& file : files) bytes.push_back(file.bytes);
    for (const auto& share : questions::share_out(bytes, options.leaves_max)) {
        QuestionTask& leaf = parts.leaves.emplace_back(task);
        leaf.tree = json::to_text(two.leaf);
        auto& kept = std::get<RelationFiles>(leaf.relations[*shared].content).files;
        kept.clear();
        for (const std::size_t place : share) kept.push_back(files[place]);
    }
    TRY_ASSIGN(leaf, engine.describe(parts.leaves.front()));
    parts.leaf_columns = std::move(leaf.columns);
    return InParts{.parts = std::move(parts), .why = {}};
}

Result<std::unique_ptr<QuestionAnswer>> answer_parts(tables::TableAccess& access,
                                                     threads::Lane& lane, const std::string& user,
                                                     const PreparedQuestion& question,
                                                     QuestionParts parts) {
    using Written = threads::Later<Result<WrittenFile>>;
    QuestionEngine& engine = *access.parts().engine;
    const SqlColumns kept = as_kept(parts.leaf_columns);
    const auto& given_up = question.task.given_up;
    auto files = std::make_unique<LeafFiles>();
    std::vector<std::shared_ptr<Written>> leaves;
    threads::Doorbell bell;
    for (QuestionTask& leaf : parts.leaves) {
        files->add(access.work_path());
        auto later = leaves.emplace_back(std::make_shared<Written>());
        later->wake_with([&bell] { bell.ring(); });
        const auto work = [&engine, later, leaf = std::move(leaf), &kept, &given_up,
                           path = files->paths().back()](bool may) {
            if (may) return later->give(engine.write(leaf, kept, path, given_up));
            later->give(Error{.code = ErrorCode::slow_down,
                              .message = "too many questions are being answered",
                              .hint = "try again in a moment"});
        };
        if (!lane.post(user, work)) work(false);
    }
    std::optional<Error> failed;
    for (const auto& leaf : leaves) {
        while (!leaf->given()) bell.wait();
        leaf->wake_with(nullptr);
        auto written = leaf->take();
        if (!written && !failed) failed = written.error();
    }
    if (failed) return *failed;
    QuestionTask last = question.task;
    last.tree = std::move(parts.final_tree);
    QuestionRelation rows{.name = std::string(questions::kLeaves),
                          .columns = parts.leaf_columns,
                          .content = RelationFiles{}};
    for (const std::string& path : files->paths()) {
        std::get<RelationFiles>(rows.content).files.push_back({.path = path});
    }
    last.relations = {std::move(rows)};
    TRY_ASSIGN(answer, engine.answer(std::move(last)));
    return std::unique_ptr<QuestionAnswer>(
        std::make_unique<AnswerOfParts>(std::move(files), std::move(answer)));
}

}  // namespace baton::coordinator
