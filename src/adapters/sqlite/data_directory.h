// A data directory is where one Baton keeps its things; its catalog is a file in it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/sqlite/sqlite.h"

namespace baton::sqlite {

[[nodiscard]] std::string catalog_path(const std::string& data);

// If it is not there, it is made, for its owner alone.
[[nodiscard]] Result<Done> make_data_directory(const std::string& data);

struct OpenedCatalog {
    std::unique_ptr<SqlDatabase> database;
    bool is_new = false;
};

// `create`: makes the directory and the catalog, filled by `initialise`, if they are not there.
// Errors as of open_sqlite.
[[nodiscard]] Result<OpenedCatalog> open_catalog_in(
    const std::string& data, bool create, std::function<Result<Done>(Sql& sql)> initialise);

}  // namespace baton::sqlite
