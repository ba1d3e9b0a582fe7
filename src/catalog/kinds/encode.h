// The JSON in which schemas and configurations are kept in the catalog. One value has one text
// (keys sorted, no spaces), so that texts can be compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/config.h"
#include "model/schema.h"
#include "model/table.h"

namespace baton::kinds {

[[nodiscard]] std::string json_string(std::string_view text);  // with its quotes, escaped

// ["ID UINT64 NOT NULL","PRICE FLOAT64"]
[[nodiscard]] std::string to_json(const Schema& schema);
[[nodiscard]] Result<Schema> schema_from_json(const std::string& text);

// [{"name":"id","type":"BIGINT","nullable":false}]
[[nodiscard]] std::string to_json(const SqlColumns& columns);
[[nodiscard]] Result<SqlColumns> sql_columns_from_json(const std::string& text);

// {"APPEND":false,"FILE_PATH":"/tmp/x.csv"}
[[nodiscard]] std::string to_json(const Config& config);
[[nodiscard]] Result<Config> config_from_json(const std::string& text);

// ["EDGE","HUB"]
[[nodiscard]] std::string to_json(const std::vector<std::string>& texts);
[[nodiscard]] Result<std::vector<std::string>> texts_from_json(const std::string& text);

// 128 bits of `text` in hexadecimal: equal texts have equal fingerprints.
[[nodiscard]] std::string fingerprint(std::string_view text);
// Of the plan of a fragment, and of the query that it was made for: numbers come again after a
// restore, the moment in which a query was created does not.
[[nodiscard]] std::string plan_fingerprint(const std::string& plan, WallTime created);

}  // namespace baton::kinds
