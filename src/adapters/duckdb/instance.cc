#include "adapters/duckdb/instance.h"

#include <exception>
#include <filesystem>
#include <utility>

#include <duckdb/storage/buffer_manager.hpp>

#include "adapters/duckdb/errors.h"
#include "base/text.h"

namespace baton::duckdb_engine {

namespace {

using duckdb::Value;

// Options by name, so that one that this DuckDB does not know is an error and no silence.
void configure(duckdb::DBConfig& config, const InstanceLimits& limits) {
    const auto bytes = [](std::uint64_t count) { return std::to_string(count) + "B"; };
    const std::vector<std::pair<const char*, Value>> options = {
        {"threads", Value::BIGINT(limits.threads)},
        {"memory_limit", Value(bytes(limits.memory_max))},
        {"temp_directory", Value(limits.spill_folder)},
        {"max_temp_directory_size", Value(bytes(limits.spill_bytes_max))},
        {"autoinstall_known_extensions", Value::BOOLEAN(false)},
        {"autoload_known_extensions", Value::BOOLEAN(false)},
        {"allow_community_extensions", Value::BOOLEAN(false)},
        {"allow_persistent_secrets", Value::BOOLEAN(false)},
        {"extension_directory", Value("/nonexistent")},
        {"secret_directory", Value("/nonexistent")},
        {"enable_external_file_cache", Value::BOOLEAN(false)},
        {"preserve_insertion_order", Value::BOOLEAN(true)},
        {"default_null_order", Value("postgres")},
    };
    for (const auto& [name, value] : options) config.SetOptionByName(name, value);
}

// What extensions bring, and what can only be said once the instance is there.
constexpr const char* kFirstWords[] = {
    "SET GLOBAL TimeZone = 'UTC'",
    "SET GLOBAL Calendar = 'gregorian'",
    "SET GLOBAL parquet_metadata_cache = true",
    "SET GLOBAL enable_external_access = false",
    "SET GLOBAL lock_configuration = true",
};

}  // namespace

Result<std::unique_ptr<Instance>> Instance::open(const InstanceLimits& limits) {
    std::unique_ptr<Instance> instance(new Instance(limits));
    try {
        if (!limits.spill_folder.empty()) {
            std::filesystem::remove_all(limits.spill_folder);  // of a process that was killed
            std::filesystem::create_directories(limits.spill_folder);
        }
        duckdb::DBConfig config;
        configure(config, limits);
        instance->database_ = std::make_unique<duckdb::DuckDB>(nullptr, &config);
        install(*instance->database_->instance, instance->relations_);
        auto connection = instance->connect();
        for (const char* sql : kFirstWords) {
            const auto result = connection->Query(sql);
            if (!result->HasError()) continue;
            return Error{.code = ErrorCode::cannot_open,
                         .message = "cannot start DuckDB: " + result->GetError()};
        }
    } catch (const std::exception& problem) {
        return Error{.code = ErrorCode::cannot_open,
                     .message = "cannot start DuckDB: " + duckdb::ErrorData(problem).RawMessage()};
    }
    return instance;
}

duckdb::unique_ptr<duckdb::Connection> Instance::connect() {
    auto connection = duckdb::make_uniq<duckdb::Connection>(*database_);
    auto& config = duckdb::ClientConfig::GetConfig(*connection->context);
    config.enable_progress_bar = false;
    config.print_progress_bar = false;
    return connection;
}

void Instance::allow(const std::vector<QuestionRelation>& relations, const std::string& written) {
    auto& config = duckdb::DBConfig::GetConfig(*database_->instance);
    config.options.allowed_paths.clear();
    for (const QuestionRelation& relation : relations) {
        const auto* files = std::get_if<RelationFiles>(&relation.content);
        if (files == nullptr) continue;
        for (const RelationFile& file : files->files) config.AddAllowedPath(file.path);
        files_seen_ += files->files.size();
    }
    if (!written.empty()) config.AddAllowedPath(written);
}

void Instance::set_memory(std::uint64_t bytes) {
    const std::uint64_t share = limits_.memory_max;
    auto& buffers = database_->instance->GetBufferManager();
    buffers.SetMemoryLimit(bytes == 0 || bytes > share ? share : bytes);
}

}  // namespace baton::duckdb_engine
