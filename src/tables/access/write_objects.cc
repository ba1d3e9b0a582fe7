#include "tables/access/write_objects.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "core/tables/commit_plan.h"

namespace baton::tables {

namespace {

constexpr std::size_t kPartitionsMax = 1'000;  // of the rows that are written together
constexpr std::string_view kRows = "baton_rows";

// A file on its way to a store, which goes with its owner.
class WorkFile {
public:
    explicit WorkFile(std::string path) : path_(std::move(path)) {}
    ~WorkFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    WorkFile(const WorkFile&) = delete;
    WorkFile& operator=(const WorkFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

class ObjectWriter {
public:
    ObjectWriter(TableAccess& access, const OpenTable& table, const Layout& layout,
                 const RowsToWrite& rows)
        : access_(access),
          table_(table),
          layout_(layout),
          given_up_(rows.given_up),
          mark_(rows.mark) {}

    // `partition` is that of all rows of the task.
    Result<Done> write(QuestionTask task, const SqlColumns& columns,
                       std::map<std::string, std::optional<std::string>> partition) {
        const WorkFile file(access_.work_path());
        task.given_up = given_up_;
        TRY_ASSIGN(written,
                   access_.parts().engine->write(std::move(task), columns, file.path(), given_up_));
        TableObject object = std::move(written.object);
        if (object.rows == std::uint64_t{0}) return Done{};
        object.partition = std::move(partition);
        const std::string name = mark_ + std::filesystem::path(file.path()).stem().string();
        object.key = object_key(layout_, object.partition, name);
        object.modified = access_.parts().clock->wall_now();
        const StoreCall call{.given_up = given_up_};
        auto put = table_.store->put_file(table_.key(object), file.path(), IfAbsent{}, call);
        if (!put) {
            // It may have got there.
            if (put.error().code == ErrorCode::unknown_outcome) objects_.push_back(object);
            return put.error();
        }
        if (std::holds_alternative<ConditionFailed>(*put)) {
            return Error{
                .code = ErrorCode::defect,
                .message = "an object of the name " + in_quotes(object.key) + " is there already"};
        }
        objects_.push_back(std::move(object));
        return Done{};
    }

    // Rows of any partitions: they are kept in a file until each has its object.
    Result<Done> write_parts(QuestionTask task, const SqlColumns& columns) {
        const WorkFile all(access_.work_path());
        task.given_up = given_up_;
        QuestionEngine& engine = *access_.parts().engine;
        TRY_ASSIGN(written, engine.write(std::move(task), columns, all.path(), given_up_));
        if (written.object.rows == std::uint64_t{0}) return Done{};
        const QuestionRelation rows{.name = std::string(kRows),
                                    .columns = columns,
                                    .content = RelationFiles{.files = {{.path = all.path()}}}};
        TRY_ASSIGN(parts, parts_of(rows));
        for (const SqlRow& part : parts) TRY(write_part(rows, part));
        return Done{};
    }

    [[nodiscard]] std::vector<TableObject> take() { return std::move(objects_); }
    [[nodiscard]] const std::vector<TableObject>& objects() const { return objects_; }

private:
    [[nodiscard]] Result<QuestionTask> task_of(const std::string& text,
                                               const QuestionRelation& rows) {
        TRY_ASSIGN(tree, access_.parts().engine->parse(text));
        return QuestionTask{.tree = std::move(tree), .relations = {rows}, .given_up = given_up_};
    }

    // A column that an INSERT leaves out is NULL.
    [[nodiscard]] static bool is_given(const std::string& column, const SqlColumns& columns) {
        return std::any_of(columns.begin(), columns.end(),
                           [&](const SqlField& given) { return given.name == column; });
    }

    // The values of the partition columns that there are, as texts.
    [[nodiscard]] Result<std::vector<SqlRow>> parts_of(const QuestionRelation& rows) {
        std::string text = "SELECT DISTINCT ";
        for (std::size_t i = 0; i < layout_.partition_by.size(); ++i) {
            text += i == 0 ? "" : ", ";
            text += is_given(layout_.partition_by[i], rows.columns)
                        ? in_quotes(layout_.partition_by[i]) + "::VARCHAR"
                        : "NULL::VARCHAR";
        }
        TRY_ASSIGN(task, task_of(text + " FROM " + std::string(kRows), rows));
        TRY_ASSIGN(answer, access_.parts().engine->answer(std::move(task)));
        std::vector<SqlRow> parts;
        for (;;) {
            TRY_ASSIGN(batch, answer->next());
            std::move(batch.rows.begin(), batch.rows.end(), std::back_inserter(parts));
            if (parts.size() > kPartitionsMax) {
                return Error{.code = ErrorCode::too_large,
                             .message = "the rows belong to more than " +
                                        std::to_string(kPartitionsMax) + " partitions of the table",
                             .hint =
                                 "add them in smaller portions, or choose columns with fewer "
                                 "values for TABLE.PARTITION_BY"};
            }
            if (batch.ended) return parts;
        }
    }

    Result<Done> write_part(const QuestionRelation& rows, const SqlRow& part) {
        std::string text = "SELECT * FROM " + std::string(kRows);
        std::map<std::string, std::optional<std::string>> partition;
        std::vector<QuestionParameter> parameters;
        for (std::size_t i = 0; i < layout_.partition_by.size(); ++i) {
            const std::string& column = layout_.partition_by[i];
            const auto* value = std::get_if<std::string>(&part[i]);
            partition[column] = value == nullptr ? std::nullopt : std::optional(*value);
            if (!is_given(column, rows.columns)) continue;
            parameters.emplace_back();
            if (value != nullptr) parameters.back() = *value;
            text += (parameters.size() == 1 ? " WHERE " : " AND ") + in_quotes(column) +
                    "::VARCHAR IS NOT DISTINCT FROM $" + std::to_string(parameters.size()) +
                    "::VARCHAR";
        }
        TRY_ASSIGN(task, task_of(text, rows));
        task.parameters = std::move(parameters);
        return write(std::move(task), rows.columns, std::move(partition));
    }

    TableAccess& access_;
    const OpenTable& table_;
    const Layout& layout_;
    const std::function<bool()>& given_up_;
    const std::string& mark_;
    std::vector<TableObject> objects_;
};

}  // namespace

Result<std::vector<TableObject>> write_objects(TableAccess& access, const OpenTable& table,
                                               const Layout& layout, RowsToWrite rows) {
    ObjectWriter writer(access, table, layout, rows);
    const auto done = layout.partition_by.empty()
                          ? writer.write(std::move(rows.task), rows.columns, {})
                          : writer.write_parts(std::move(rows.task), rows.columns);
    if (done) return writer.take();
    remove_objects(table, writer.objects());
    return done.error();
}

Result<std::vector<TableObject>> write_object(TableAccess& access, const OpenTable& table,
                                              const Layout& layout, RowsToWrite rows,
                                              const PartitionValues& partition) {
    ObjectWriter writer(access, table, layout, rows);
    TRY(writer.write(std::move(rows.task), rows.columns, partition));
    return writer.take();
}

void remove_objects(const OpenTable& table, const std::vector<TableObject>& objects) {
    std::vector<std::string> keys;
    for (const TableObject& object : objects) keys.push_back(table.key(object));
    // The caller waits for its answer, and a store that is away may have taken its patience
    // already.
    const StoreCall call{.patience = std::chrono::seconds(3)};
    if (!keys.empty()) (void)table.store->remove(keys, call);
}

}  // namespace baton::tables
