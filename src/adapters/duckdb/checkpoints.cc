#include "adapters/duckdb/checkpoints.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <duckdb.hpp>

#include "adapters/duckdb/instance.h"
#include "base/text.h"
#include "core/json/json.h"

namespace baton::duckdb_engine {

namespace {

constexpr std::uint64_t kCheckpointMemory = 512U << 20U;
constexpr const char* kTexts = "MAP(VARCHAR, VARCHAR)";

struct ActionField {
    const char* name;
    const char* type;
    bool written = true;
};

struct Action {
    const char* name;
    std::vector<ActionField> fields;
};

// The columns of a checkpoint, as the protocol of Delta Lake has them. Features are read, so that a
// table that needs one is refused by its name; tables of ours have none.
const std::vector<Action>& actions() {
    static const std::vector<Action> kActions = {
        {"txn", {{"appId", "VARCHAR"}, {"version", "BIGINT"}, {"lastUpdated", "BIGINT"}}},
        {"add",
         {{"path", "VARCHAR"},
          {"partitionValues", kTexts},
          {"size", "BIGINT"},
          {"modificationTime", "BIGINT"},
          {"dataChange", "BOOLEAN"},
          {"stats", "VARCHAR"},
          {"tags", kTexts}}},
        {"remove",
         {{"path", "VARCHAR"},
          {"deletionTimestamp", "BIGINT"},
          {"dataChange", "BOOLEAN"},
          {"extendedFileMetadata", "BOOLEAN"},
          {"partitionValues", kTexts},
          {"size", "BIGINT"},
          {"tags", kTexts}}},
        {"metaData",
         {{"id", "VARCHAR"},
          {"name", "VARCHAR"},
          {"description", "VARCHAR"},
          {"format", "STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR))"},
          {"schemaString", "VARCHAR"},
          {"partitionColumns", "VARCHAR[]"},
          {"createdTime", "BIGINT"},
          {"configuration", kTexts}}},
        {"protocol",
         {{"minReaderVersion", "INTEGER"},
          {"minWriterVersion", "INTEGER"},
          {"readerFeatures", "VARCHAR[]", false},
          {"writerFeatures", "VARCHAR[]", false}}},
    };
    return kActions;
}

std::string literal_of(const std::string& text) {
    std::string literal = "'";
    for (const char c : text) {
        if (c == '\'') literal += c;
        literal += c;
    }
    return literal + "'";
}

Error checkpoint_error(ErrorCode code, const char* what, const std::string& path,
                       const std::string& why) {
    return {.code = code,
            .message = std::string("cannot ") + what + " the checkpoint " + in_quotes(path) + ": " +
                       why.substr(0, why.find('\n'))};
}

// A file that is there for as long as this.
class Lines {
public:
    explicit Lines(std::string path) : path_(std::move(path)) {}
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    ~Lines() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }

    Result<Done> fill(const std::function<std::string()>& next) {
        std::FILE* file = std::fopen(path_.c_str(), "wbxe");
        if (file == nullptr) return problem();
        for (std::string piece = next(); !piece.empty(); piece = next()) {
            if (std::fwrite(piece.data(), 1, piece.size(), file) == piece.size()) continue;
            const Error error = problem();
            (void)std::fclose(file);
            return error;
        }
        return std::fclose(file) == 0 ? Result<Done>(Done{}) : problem();
    }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    [[nodiscard]] Error problem() const {
        return checkpoint_error(ErrorCode::cannot_write, "write", path_,
                                std::generic_category().message(errno));
    }

    std::string path_;
};

// A column, by the words of json_transform(): an action of another kind gives NULL.
std::string written_column(const Action& action) {
    std::string types;
    for (const ActionField& field : action.fields) {
        if (!field.written) continue;
        if (!types.empty()) types += ", ";
        append_json_string(types, field.name);
        types += ": ";
        append_json_string(types, field.type);
    }
    const std::string json =
        "json_extract(json, " + literal_of(std::string("$.") + action.name) + ")";
    return "CASE WHEN json_type(" + json + ") = 'OBJECT' THEN json_transform(" + json + ", " +
           literal_of("{" + types + "}") + ") END AS " + in_quotes(action.name);
}

QuestionRelation relation_of(const std::string& path) {
    return {.name = "checkpoint", .columns = {}, .content = RelationFiles{{{.path = path}}}};
}

class ParquetCheckpoints final : public CheckpointFiles {
public:
    Result<Done> write(const std::function<std::string()>& next, const std::string& path) override {
        Lines lines(path + ".lines");
        TRY(lines.fill(next));
        TRY_ASSIGN(instance, Instance::open({.memory_max = kCheckpointMemory}));
        instance->allow({relation_of(lines.path())}, path);
        std::string columns;
        for (const Action& action : actions()) {
            columns += (columns.empty() ? "" : ", ") + written_column(action);
        }
        const auto connection = instance->connect();
        const auto result = connection->Query(
            "COPY (SELECT " + columns + " FROM read_ndjson_objects(" + literal_of(lines.path()) +
            ", maximum_object_size = 33554432)) TO " + literal_of(path) +
            " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)");
        if (!result->HasError()) return Done{};
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
        return checkpoint_error(ErrorCode::cannot_write, "write", path,
                                result->GetErrorObject().RawMessage());
    }

    Result<Done> read(const std::string& path, const Limits& limits,
                      const std::function<Result<Done>(std::string_view)>& take) override {
        TRY_ASSIGN(instance, Instance::open({.memory_max = kCheckpointMemory}));
        instance->allow({relation_of(path)}, "");
        const auto connection = instance->connect();
        try {
            std::uint64_t count = 0;
            const std::string from =
                " FROM read_parquet(" + literal_of(path) + ", hive_partitioning = false)";
            TRY_ASSIGN(columns, columns_of(*connection, from, path));
            const std::array<std::vector<std::string>, 2> rounds = {
                {{"protocol", "metaData"}, {"txn", "add", "remove"}}};
            for (const auto& names : rounds) {
                for (const std::string& name : names) {
                    const auto column = columns.find(name);
                    if (column == columns.end()) continue;
                    const std::string sql = "SELECT to_json(" + column->second + ")" + from +
                                            " WHERE " + in_quotes(name) + " IS NOT NULL";
                    TRY(lines_of(*connection, sql, name, {path, limits, take, count}));
                }
            }
            return Done{};
        } catch (const std::exception& problem) {
            return checkpoint_error(ErrorCode::damaged_table, "read", path,
                                    duckdb::ErrorData(problem).RawMessage());
        }
    }

private:
    struct Reading {
        const std::string& path;
        const Limits& limits;
        const std::function<Result<Done>(std::string_view)>& take;
        std::uint64_t& count;
    };

    // For each action of the file, the structure of those of its fields that are known.
    static Result<std::map<std::string, std::string>> columns_of(duckdb::Connection& connection,
                                                                 const std::string& from,
                                                                 const std::string& path) {
        const auto prepared = connection.Prepare("SELECT *" + from);
        if (prepared->HasError()) {
            return checkpoint_error(ErrorCode::damaged_table, "read", path,
                                    prepared->GetErrorObject().RawMessage());
        }
        std::map<std::string, std::string> columns;
        const auto& names = prepared->GetNames();
        const auto& types = prepared->GetTypes();
        for (const Action& action : actions()) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (names[i] != action.name) continue;
                if (types[i].id() != duckdb::LogicalTypeId::STRUCT) continue;
                columns.emplace(action.name, structure(action, types[i]));
            }
        }
        if (columns.contains("protocol") && columns.contains("metaData")) return columns;
        return checkpoint_error(ErrorCode::damaged_table, "read", path, "it is no checkpoint");
    }

    static std::string structure(const Action& action, const duckdb::LogicalType& type) {
        std::string fields;
        for (const ActionField& field : action.fields) {
            for (const auto& [name, child] : duckdb::StructType::GetChildTypes(type)) {
                if (name != field.name) continue;
                if (!fields.empty()) fields += ", ";
                fields += in_quotes(name) + " := CAST(" + in_quotes(action.name) + "." +
                          in_quotes(name) + " AS " + field.type + ")";
            }
        }
        return "struct_pack(" + fields + ")";
    }

    // Fields that are NULL are absent from a line. Values of partitions stay NULL.
    static Result<std::string> line_of(const std::string& name, const std::string& text,
                                       const Reading& reading) {
        TRY_ASSIGN(value, json::parse(text, {.bytes = reading.limits.line_bytes,
                                             .depth = 100,
                                             .damaged = ErrorCode::damaged_table}));
        if (auto* fields = std::get_if<json::Object>(&value.value)) {
            std::erase_if(*fields, [](const json::Field& field) {
                return std::holds_alternative<std::monostate>(field.value.value);
            });
        }
        return json::to_text({json::Object{{.key = name, .value = std::move(value)}}});
    }

    static Result<Done> lines_of(duckdb::Connection& connection, const std::string& sql,
                                 const std::string& name, const Reading& reading) {
        const auto result = connection.SendQuery(sql);
        for (;;) {
            if (result->HasError()) {
                return checkpoint_error(ErrorCode::damaged_table, "read", reading.path,
                                        result->GetErrorObject().RawMessage());
            }
            const auto chunk = result->Fetch();
            if (chunk == nullptr || chunk->size() == 0) break;
            for (duckdb::idx_t i = 0; i < chunk->size(); ++i) {
                const std::string text = chunk->GetValue(0, i).GetValue<std::string>();
                reading.count += 1;
                if (reading.count > reading.limits.actions ||
                    text.size() > reading.limits.line_bytes) {
                    return checkpoint_error(ErrorCode::too_large, "read", reading.path,
                                            "it is too large");
                }
                TRY_ASSIGN(line, line_of(name, text, reading));
                TRY(reading.take(line));
            }
        }
        if (!result->HasError()) return Done{};
        return checkpoint_error(ErrorCode::damaged_table, "read", reading.path,
                                result->GetErrorObject().RawMessage());
    }
};

}  // namespace

std::unique_ptr<CheckpointFiles> make_checkpoint_files() {
    return std::make_unique<ParquetCheckpoints>();
}

}  // namespace baton::duckdb_engine
