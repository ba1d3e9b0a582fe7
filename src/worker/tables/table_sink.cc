#include "worker/tables/table_sink.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "core/tables/run_objects.h"
#include "tables/access/write_objects.h"

namespace baton::worker {

namespace {

constexpr std::string_view kRowsOfFile = "baton_rows";
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr Duration kClaimPatience = std::chrono::seconds(10);  // nothing interrupts it
constexpr Duration kPause = std::chrono::milliseconds(500);    // between two attempts
constexpr unsigned kRunShift = 32;
constexpr std::uint64_t kRunsMax = std::uint64_t{1} << 31U;

// As adapters write columns of a stream into Parquet.
SqlType type_in_file(DataType type) {
    if (type == DataType::uint8) return {.kind = SqlType::Kind::utinyint};
    if (type == DataType::uint16) return {.kind = SqlType::Kind::usmallint};
    if (type == DataType::uint32) return {.kind = SqlType::Kind::uinteger};
    if (type == DataType::uint64) return {.kind = SqlType::Kind::ubigint};
    return table_type_of(type);
}

bool may_pass(const Error& error) {
    return error.code == ErrorCode::store_unavailable || error.code == ErrorCode::store_full ||
           error.code == ErrorCode::unknown_outcome || error.code == ErrorCode::conflict ||
           error.code == ErrorCode::slow_down;  // the engine is busy
}

}  // namespace

Result<std::unique_ptr<TableSink>> TableSink::open(const TableSinkParts& parts,
                                                   TableSinkOptions options, const Schema& rows) {
    if (options.run >= kRunsMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "the query was restarted too often to write into a table",
                     .hint = "drop it and create it again"};
    }
    Table place;
    place.location = options.location;
    TRY_ASSIGN(table, parts.access->open(place));
    std::unique_ptr<TableSink> sink(
        new TableSink(parts, std::move(options), rows, std::move(table)));
    TRY(sink->claim());
    TRY(sink->bind_columns(rows));
    return sink;
}

TableSink::TableSink(const TableSinkParts& parts, TableSinkOptions options, const Schema& rows,
                     std::shared_ptr<tables::OpenTable> table)
    : parts_(parts),
      options_(std::move(options)),
      table_(std::move(table)),
      replaced_(!options_.replaces),
      due_us_(kNever) {
    for (std::size_t i = 0; i < rows.columns.size(); ++i) {
        Column column = rows.columns[i];
        column.name = "c" + std::to_string(i);
        file_columns_.push_back({.name = column.name, .type = type_in_file(column.type)});
        file_schema_.columns.push_back(std::move(column));
    }
}

TableSink::~TableSink() {
    forget_file();
}

std::string TableSink::application() const {
    return "baton-query:" + options_.stamp;
}

std::int64_t TableSink::number(std::uint32_t commit) const {
    return static_cast<std::int64_t>((options_.run << kRunShift) | commit);
}

Error TableSink::fenced() const {
    return {.code = ErrorCode::conflict,
            .message = "cannot write into the table at " + in_quotes(table_->log->parts().folder) +
                       " of " + table_->store->url() + ": run " + std::to_string(options_.run) +
                       " of the query was replaced by another one",
            .hint = "the newer run goes on"};
}

Error TableSink::interrupted() const {
    return {.code = ErrorCode::cancelled,
            .message = "cannot write into the table: the query was stopped"};
}

// ---- opening ------------------------------------------------------------------------------------

// A claim of the same run is from the process that was here before, which wrote nothing more.
Result<Done> TableSink::claim() {
    const tables::CommitRequest request{
        .operation = "STREAMING UPDATE",
        .transaction = tables::Transaction{.application = application(), .version = number(0)}};
    const StoreCall call{.patience = kClaimPatience};
    TRY_ASSIGN(committed, table_->log->commit(request, call));
    if (committed.snapshot->transaction(application()) != number(0)) return fenced();
    layout_ = committed.snapshot->layout();
    return Done{};
}

Result<Done> TableSink::bind_columns(const Schema& rows) {
    std::vector<std::string> items(layout_.columns.size(), "NULL");
    for (std::size_t i = 0; i < rows.columns.size(); ++i) {
        const auto found = std::find_if(
            layout_.columns.begin(), layout_.columns.end(), [&](const SqlField& field) {
                return equal_ignoring_case(field.name, rows.columns[i].name);
            });
        if (found == layout_.columns.end()) {
            return Error{.code = ErrorCode::schema,
                         .message = "cannot write into the table at " +
                                    in_quotes(options_.location) + ": it has no column " +
                                    in_quotes(rows.columns[i].name),
                         .hint =
                             "its log says other columns than the catalog: drop the query and "
                             "the table, and create them again"};
        }
        items[static_cast<std::size_t>(found - layout_.columns.begin())] = file_columns_[i].name;
    }
    select_ = "SELECT " + join(items, ", ") + " FROM " + std::string(kRowsOfFile);
    return Done{};
}

// ---- rows ---------------------------------------------------------------------------------------

Result<Done> TableSink::begin_file() {
    folder_ = parts_.access->work_path();
    std::error_code problem;
    std::filesystem::create_directory(folder_, problem);
    if (problem) {
        return Error{.code = ErrorCode::cannot_open,
                     .message = "cannot make the folder " + in_quotes(folder_) +
                                " for rows on their way: " + problem.message(),
                     .hint = "see that the disk of the worker has room"};
    }
    TRY_ASSIGN(file, parts_.files->write(path(), file_schema_));
    const std::lock_guard lock(mutex_);
    if (interrupted_) return interrupted();
    file_ = std::move(file);
    due_us_ = (parts_.clock->now() + options_.period).time_since_epoch().count();
    return Done{};
}

void TableSink::forget_file() {
    std::unique_ptr<engine::RowSink> file;
    {
        const std::lock_guard lock(mutex_);
        file = std::move(file_);
    }
    file.reset();
    if (!folder_.empty()) {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    folder_.clear();
    rows_in_file_ = 0;
    bytes_in_file_ = 0;
    due_us_ = kNever;
}

Result<Done> TableSink::write(const engine::Batch& batch) {
    if (interrupted_) return interrupted();
    if (batch.rows == 0) return Done{};
    if (!file_) TRY(begin_file());
    TRY(file_->write(batch));
    rows_in_file_ += batch.rows;
    for (const engine::ColumnVector& column : batch.columns) bytes_in_file_ += column.memory();
    rows_ += batch.rows;
    const bool full = rows_in_file_ >= options_.rows_max || bytes_in_file_ >= options_.bytes_max;
    return full || wants_flush() ? commit(false) : Done{};
}

bool TableSink::wants_flush() const {
    return parts_.clock->now().time_since_epoch().count() >= due_us_;
}

Result<Done> TableSink::flush() {
    return wants_flush() ? commit(false) : Done{};
}

Result<Done> TableSink::finish() {
    return commit(true);
}

void TableSink::interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    if (file_) file_->interrupt();
    changed_.notify_all();
}

engine::SinkCounts TableSink::counts() const {
    return {.rows = rows_, .bytes = bytes_};
}

// ---- commits ------------------------------------------------------------------------------------

bool TableSink::try_again(const Error& error, Instant deadline) {
    if (!may_pass(error) || parts_.clock->now() >= deadline) return false;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPause, [this] { return interrupted_.load(); });
    return !interrupted_;
}

// Without rows, only the last commit of a run may have something to do: to remove those of earlier
// runs.
Result<Done> TableSink::commit(bool last) {
    std::vector<TableObject> objects;
    if (rows_in_file_ > 0) {
        TRY(file_->finish());
        TRY_ASSIGN(written, write_objects());
        objects = std::move(written);
    } else if (!last || replaced_) {
        return Done{};
    }
    TRY(commit_entry(objects));
    for (const TableObject& object : objects) bytes_ += object.bytes;
    forget_file();
    return Done{};
}

Result<std::vector<TableObject>> TableSink::write_objects() {
    QuestionEngine& engine = *parts_.access->parts().engine;
    TRY_ASSIGN(tree, engine.parse(select_));
    const Instant deadline = parts_.clock->now() + options_.patience;
    for (;;) {
        const QuestionRelation rows{
            .name = std::string(kRowsOfFile),
            .columns = file_columns_,
            .content =
                RelationFiles{.files = {{.path = path(), .partition = {}, .rows = rows_in_file_}}}};
        auto objects = tables::write_objects(
            *parts_.access, *table_, layout_,
            {.task = {.tree = tree, .relations = {rows}, .parameters = {}},
             .columns = layout_.columns,
             .given_up = [this] { return interrupted_.load(); },
             .mark = options_.replaces ? tables::mark_of_run(options_.stamp, options_.run) : ""});
        if (objects || !try_again(objects.error(), deadline)) return objects;
    }
}

Result<tables::CommitRequest> TableSink::request_of(const std::vector<TableObject>& objects) {
    tables::CommitRequest request{
        .operation = "STREAMING UPDATE",
        .add = objects,
        .transaction =
            tables::Transaction{.application = application(), .version = number(commits_ + 1)},
        .layout = layout_};
    if (replaced_) return request;
    const StoreCall call{.patience = options_.patience,
                         .given_up = [this] { return interrupted_.load(); }};
    TRY_ASSIGN(snapshot, table_->log->newest(call));
    request.remove = objects_of_earlier_runs(*snapshot);
    return request;
}

// Not later than claim() no earlier run adds objects any longer: the list is complete.
std::vector<std::string> TableSink::objects_of_earlier_runs(
    const tables::Snapshot& snapshot) const {
    std::vector<std::string> keys;
    snapshot.each([&](tables::ObjectPlace place) {
        const std::string_view key = snapshot.key(place);
        if (tables::is_of_another_run(key, options_.stamp, options_.run)) keys.emplace_back(key);
    });
    std::sort(keys.begin(), keys.end());
    return keys;
}

// The number is there already: an attempt of ours whose answer was lost, or another writer.
Result<Done> TableSink::check_ours(const tables::Committed& committed,
                                   const tables::CommitRequest& request) const {
    const bool same_number =
        committed.snapshot->transaction(application()) == request.transaction->version;
    const bool has_objects =
        std::all_of(request.add.begin(), request.add.end(), [&](const TableObject& object) {
            return committed.snapshot->find(object.key).has_value();
        });
    if (same_number && has_objects) return Done{};
    return fenced();
}

Result<Done> TableSink::commit_entry(const std::vector<TableObject>& objects) {
    const Instant deadline = parts_.clock->now() + options_.patience;
    bool unknown = false;  // whether an attempt may have succeeded
    for (;;) {
        auto request = request_of(objects);
        if (request && objects.empty() && request->remove.empty()) return Done{};
        Result<Done> done = Done{};
        if (!request) {
            done = request.error();
        } else {
            auto committed =
                table_->log->commit(*request, {.patience = options_.patience,
                                               .given_up = [this] { return interrupted_.load(); }});
            if (!committed) {
                done = committed.error();
            } else if (committed->before) {
                done = check_ours(*committed, *request);
                if (!done && !unknown) tables::remove_objects(*table_, objects);
                if (!done) return done;
            }
        }
        if (done) {
            commits_ += 1;
            replaced_ = true;
            return Done{};
        }
        if (done.error().code == ErrorCode::unknown_outcome) unknown = true;
        if (try_again(done.error(), deadline)) continue;
        if (!unknown && done.error().code != ErrorCode::cancelled) {
            tables::remove_objects(*table_, objects);
        }
        return done;
    }
}

}  // namespace baton::worker
