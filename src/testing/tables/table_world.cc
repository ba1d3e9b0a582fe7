#include "testing/tables/table_world.h"

#include <filesystem>

#include "adapters/checkpoints/parquet_checkpoints.h"
#include "adapters/duckdb/duckdb_engine.h"
#include "adapters/folder/folder_store.h"
#include "base/check.h"

namespace baton::testing {

TableWorld::TableWorld(const Clock& clock, std::size_t slots) : clock_(clock) {
    for (const char* name : {"/tables", "/work", "/spill"}) {
        std::filesystem::create_directory(directory_.path() + name);
    }
    stores::StoreFactories factories;
    factories.folder = [&clock](const stores::FolderUrl& url) -> stores::OpenedAttempts {
        folder::FolderOptions options;
        options.path = url.path;
        auto opened = folder::FolderStore::open(options, clock);
        if (!opened) return opened.error();
        return std::unique_ptr<StoreAttempts>(*std::move(opened));
    };
    factories.s3 = [](const stores::S3Url&) -> stores::OpenedAttempts {
        return Error{.code = ErrorCode::not_supported, .message = "there is no S3 here"};
    };
    stores_ = std::make_unique<stores::UrlStores>(std::move(factories), clock, 1);
    auto engine = duckdb_engine::open_engine({.slots = slots,
                                              .memory_max = 256ULL << 20U,
                                              .spill_folder = directory_.path() + "/spill"});
    CHECK(engine.has_value());
    engine_ = *std::move(engine);
    checkpoints_ = std::make_unique<checkpoints::ParquetCheckpoints>();
    access_ = another_access();
}

std::unique_ptr<tables::TableAccess> TableWorld::another_access() {
    return std::make_unique<tables::TableAccess>(
        tables::TableAccessParts{.stores = stores_.get(),
                                 .engine = engine_.get(),
                                 .checkpoints = checkpoints_.get(),
                                 .clock = &clock_,
                                 .default_store = folder(),
                                 .work_folder = directory_.path() + "/work",
                                 .process = "p" + std::to_string(++processes_),
                                 .engine_name = "Baton/test"});
}

}  // namespace baton::testing
