// A Schema is the named, typed columns of a source, a sink or a query's result.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/data_type.h"

namespace baton {

struct Column {
    std::string name;
    DataType type = DataType::int64;
    bool nullable = true;

    friend bool operator==(const Column&, const Column&) = default;
};

struct Schema {
    std::vector<Column> columns;

    friend bool operator==(const Schema&, const Schema&) = default;
};

// Fails with `schema` if there is no column, a name is empty, or a name appears twice.
[[nodiscard]] Result<Done> validate(const Schema& schema, std::string_view of_what);

}  // namespace baton
