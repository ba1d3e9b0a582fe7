#include "core/tables/commit_plan.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "core/tables/protocol.h"
#include "core/tables/schema_text.h"
#include "core/tables/values.h"

namespace baton::tables {

namespace {

using Kind = SqlType::Kind;

constexpr std::string_view kOnce = "once:";
constexpr std::size_t kKeyMax = 700;     // without the folders of values that are long
constexpr std::size_t kFolderMax = 255;  // bytes of a name, as file systems have them
constexpr std::size_t kEntryMax = 64ULL << 20U;
constexpr std::size_t kColumnsOfTableMax = 1'600;
constexpr std::size_t kPartitionTextMax = 1'000;

std::string quoted_key(std::string_view key) {
    return in_quotes(key.substr(0, 200));
}

// The values of a partition, in the text of the log.
Result<Done> check_partition(const TableObject& object, const Layout& layout) {
    for (const std::string& name : layout.partition_by) {
        const auto value = object.partition.find(name);
        CHECK(value != object.partition.end());
        if (!value->second) continue;
        const SqlField* column = layout.find(name);
        CHECK(column != nullptr);
        const std::string& text = *value->second;
        const auto refuse = [&](const std::string& why) {
            return Error{.code = ErrorCode::cannot_convert,
                         .message = "cannot add rows to a partition: the value of column " +
                                    in_quotes(name) + " is " + why};
        };
        if (text.empty()) return refuse("an empty text, which a partition cannot tell from NULL");
        if (text.size() > kPartitionTextMax) return refuse("too long");
        if (order_of(column->type) == Order::whole && !whole_of(column->type, text)) {
            return refuse("no " + to_string(column->type) + " of its log");
        }
    }
    CHECK(object.partition.size() == layout.partition_by.size());
    return Done{};
}

std::optional<Conflict> conflict_of(const Snapshot& snapshot, const CommitRequest& request,
                                    const CommitStamp& stamp) {
    if (request.written_since && stamp.now - *request.written_since > stamp.add_within) {
        return Conflict{"its objects were written too long ago, and may be gone"};
    }
    if (request.layout && *request.layout != snapshot.layout()) {
        return Conflict{"the columns of the table have changed"};
    }
    for (const std::string& key : request.remove) {
        if (!snapshot.find(key)) return Conflict{"object " + quoted_key(key) + " is gone"};
    }
    for (const TableObject& object : request.add) {
        if (snapshot.find(object.key)) {
            return Conflict{"object " + quoted_key(object.key) + " is in the table already"};
        }
    }
    return std::nullopt;
}

// Where the table says so, rows are never removed.
Result<Done> check_append_only(const Snapshot& snapshot, const CommitRequest& request) {
    const auto& settings = snapshot.metadata().configuration;
    const auto found = settings.find("delta.appendOnly");
    const bool only = found != settings.end() && to_lower(found->second) == "true";
    if (!only || !request.changes_rows || request.remove.empty()) return Done{};
    return Error{.code = ErrorCode::table_not_supported,
                 .message = "the table cannot lose rows: its log says \"delta.appendOnly\"",
                 .hint = "change that setting in the engine that wrote it"};
}

CommitInfo info_of(std::string operation, const CommitStamp& stamp) {
    return {.time = stamp.now,
            .operation = std::move(operation),
            .engine = stamp.engine,
            .nonce = stamp.nonce};
}

Result<Done> check_columns(const SqlColumns& columns) {
    if (columns.empty() || columns.size() > kColumnsOfTableMax) {
        return Error{.code = ErrorCode::type_mismatch,
                     .message = "a table has 1 to " + std::to_string(kColumnsOfTableMax) +
                                " columns, not " + std::to_string(columns.size())};
    }
    std::set<std::string> names;
    for (const SqlField& column : columns) {
        const Result<SqlType> type = table_type_of(to_string(column.type));
        if (!type || *type != column.type) {
            return Error{.code = ErrorCode::type_mismatch,
                         .message = "column " + in_quotes(column.name) + " has the type " +
                                    to_string(column.type) + ", which tables do not have"};
        }
        if (!names.insert(to_lower(column.name)).second) {
            return Error{.code = ErrorCode::schema,
                         .message = "column " + in_quotes(column.name) + " is there twice"};
        }
    }
    return Done{};
}

Result<Done> check_partitions(const TableDefinition& definition) {
    const Layout layout{.columns = definition.columns};
    std::set<std::string> names;
    for (const std::string& name : definition.partition_by) {
        const SqlField* column = layout.find(name);
        if (column == nullptr) {
            return Error{.code = ErrorCode::unknown_field,
                         .message = "cannot partition by " + in_quotes(name) +
                                    ": the table has no such column"};
        }
        const Order order = order_of(column->type);
        const bool wide = column->type.kind == Kind::decimal && column->type.precision > 18;
        if ((order != Order::whole && order != Order::text) || wide) {
            return Error{.code = ErrorCode::type_mismatch,
                         .message = "cannot partition by " + in_quotes(name) + ": it is " +
                                    to_string(column->type),
                         .hint = "partition by a DATE, a text or a whole number"};
        }
        if (!names.insert(name).second) {
            return Error{.code = ErrorCode::schema,
                         .message = "cannot partition by " + in_quotes(name) + " twice"};
        }
    }
    if (names.size() == definition.columns.size()) {
        return Error{.code = ErrorCode::schema,
                     .message = "cannot partition by every column: one must be in the objects"};
    }
    return Done{};
}

// As a part of a key: letters, digits and few signs; others as %41.
std::string folder_text(std::string_view value) {
    std::string text;
    for (const char c : value) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        constexpr std::string_view kDigits = "0123456789ABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        if (plain) {
            text += c;
        } else {
            text += '%';
            text += kDigits[byte >> 4U];
            text += kDigits[byte & 15U];
        }
    }
    return text;
}

}  // namespace

std::string once(std::string_view key) {
    return std::string(kOnce) + std::string(key);
}

bool is_once(std::string_view application) {
    return application.starts_with(kOnce);
}

Result<CommitPlan> plan_commit(const Snapshot& snapshot, const CommitRequest& request,
                               const CommitStamp& stamp) {
    CHECK(snapshot.version() >= 0);
    TRY(check_writable(snapshot.protocol(), snapshot.metadata()));
    if (request.transaction) {
        const auto done = snapshot.transaction(request.transaction->application);
        if (done && *done >= request.transaction->version) {
            return CommitPlan(AlreadyDone{.number = *done});
        }
    }
    TRY(check_append_only(snapshot, request));
    if (auto conflict = conflict_of(snapshot, request, stamp))
        return CommitPlan(*std::move(conflict));
    std::string text = to_text(info_of(request.operation, stamp), snapshot.layout());
    if (request.transaction) {
        Transaction transaction = *request.transaction;
        transaction.updated = stamp.now;
        text += to_text(transaction, snapshot.layout());
    }
    for (const std::string& key : request.remove) {
        text += to_text(
            RemoveObject{.key = key, .removed = stamp.now, .data_change = request.changes_rows},
            snapshot.layout());
    }
    for (const TableObject& object : request.add) {
        TRY(check_partition(object, snapshot.layout()));
        text += to_text(AddObject{.object = normalised(object, snapshot.layout()),
                                  .data_change = request.changes_rows},
                        snapshot.layout());
        if (text.size() > kEntryMax) {
            return Error{
                .code = ErrorCode::too_large,
                .message = "a commit has too many objects: " + std::to_string(request.add.size()),
                .hint = "add them in several commits"};
        }
    }
    return CommitPlan(NextEntry{.version = snapshot.version() + 1, .text = std::move(text)});
}

Result<std::string> first_entry(const TableDefinition& definition, const CommitStamp& stamp) {
    TRY(check_columns(definition.columns));
    TRY(check_partitions(definition));
    const Layout layout{.columns = definition.columns, .partition_by = definition.partition_by};
    const Metadata metadata{
        .id = definition.id,
        .name = definition.name,
        .schema_text = schema_text(definition.columns),
        .columns = definition.columns,
        .partition_by = definition.partition_by,
        // How long other engines may rely on an object that was removed.
        .configuration = {{"delta.deletedFileRetentionDuration", "interval 1 hours"}},
        .created = stamp.now,
    };
    return entry_text({info_of("CREATE TABLE", stamp), Protocol{}, metadata}, layout);
}

std::string object_key(const Layout& layout,
                       const std::map<std::string, std::optional<std::string>>& partition,
                       std::string_view name) {
    const std::string file = "part-" + std::string(name) + ".parquet";
    std::string folders;
    for (const std::string& column : layout.partition_by) {
        const auto found = partition.find(column);
        CHECK(found != partition.end());
        const std::string folder = folder_text(column) + "=" +
                                   (found->second ? folder_text(*found->second)
                                                  : std::string("__HIVE_DEFAULT_PARTITION__"));
        if (folder.size() > kFolderMax) return file;
        folders += folder + "/";
    }
    // The path in the log escapes the escapes once more.
    return folders.size() + file.size() > kKeyMax ? file : folders + file;
}

std::string nonce_of(std::string_view entry, const EntryLimits& limits) {
    // Ours is in the first line; others may have it anywhere.
    const std::string_view line = entry.substr(0, entry.find('\n'));
    const Layout none;
    const Result<std::optional<Action>> action = read_action(line, &none, limits);
    if (!action || !*action) return {};
    const auto* info = std::get_if<CommitInfo>(&**action);
    return info == nullptr ? std::string() : info->nonce;
}

}  // namespace baton::tables
