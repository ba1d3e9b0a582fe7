#include "adapters/sqlite/data_directory.h"

#include <filesystem>
#include <utility>

#include "adapters/system/private_directory.h"

namespace baton::sqlite {

namespace fs = std::filesystem;

std::string catalog_path(const std::string& data) {
    return (fs::path(data) / "catalog.db").string();
}

Result<Done> make_data_directory(const std::string& data) {
    return system::make_private_directory(data, ErrorCode::catalog_unavailable);
}

Result<OpenedCatalog> open_catalog_in(const std::string& data, bool create,
                                      std::function<Result<Done>(Sql& sql)> initialise) {
    if (create) TRY(make_data_directory(data));
    SqliteOptions options;
    options.path = catalog_path(data);
    options.create = create;
    options.initialise = std::move(initialise);
    const bool is_new = !fs::exists(options.path);
    TRY_ASSIGN(database, open_sqlite(options));
    return OpenedCatalog{.database = std::move(database), .is_new = is_new};
}

}  // namespace baton::sqlite
