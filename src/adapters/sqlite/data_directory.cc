#include "adapters/sqlite/data_directory.h"

#include <filesystem>
#include <utility>

#include <sys/stat.h>

#include "base/text.h"

namespace baton {

namespace fs = std::filesystem;

std::string catalog_path(const std::string& data) {
    return (fs::path(data) / "catalog.db").string();
}

Result<Done> make_data_directory(const std::string& data) {
    std::error_code problem;
    const bool made = fs::create_directories(data, problem);
    if (problem) {
        return Error{.code = ErrorCode::catalog_unavailable,
                     .message = "cannot create the data directory " + baton::quoted(data) + ": " +
                                problem.message()};
    }
    if (made) (void)chmod(data.c_str(), S_IRWXU);
    return Done{};
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

}  // namespace baton
