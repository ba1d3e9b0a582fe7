// A TableProcess is the part of a process that tables need: the real engine, the folder store and
// checkpoints in Parquet. Several of them share one folder.
#pragma once

#include <memory>
#include <string>

#include "adapters/checkpoints/parquet_checkpoints.h"
#include "ports/clock.h"
#include "ports/question_engine.h"
#include "stores/url_stores.h"
#include "tables/access/table_access.h"

namespace baton::testing {

class TableProcess {
public:
    // `name` is unique among those that share the folder. The clock outlives it.
    TableProcess(const std::string& folder, const std::string& name, const Clock& clock);

    [[nodiscard]] tables::TableAccess& access() { return *access_; }
    [[nodiscard]] QuestionEngine& engine() { return *engine_; }
    // Where managed tables are.
    [[nodiscard]] static std::string store_folder(const std::string& folder) {
        return folder + "/store";
    }
    // The only value of the answer to a question over relation `r`, the newest version of the
    // table; or the text of an error.
    [[nodiscard]] std::string ask(const Table& of, const std::string& sql);
    [[nodiscard]] std::uint64_t objects(const Table& of);

private:
    stores::UrlStores stores_;
    std::unique_ptr<QuestionEngine> engine_;
    checkpoints::ParquetCheckpoints checkpoints_;
    std::unique_ptr<tables::TableAccess> access_;
};

// Parquet objects below a folder, in a table or not.
[[nodiscard]] std::size_t stored_objects(const std::string& folder);

}  // namespace baton::testing
