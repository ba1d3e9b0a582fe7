// The sink of a query INTO a table: where it runs, and the options by which its worker finds the
// table and adds each row once.
//
// A query whose sources all begin anew when it is restarted (File, Generator) replaces, with the
// first rows of a new run, those of earlier runs. One whose sources cannot (TCP, MQTT) keeps them
// and goes on. Both at once in one query cannot be right, and is refused.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/planning/planner.h"
#include "model/config.h"
#include "model/plan.h"

namespace baton::planning {

// QUERY.TABLE_WORKER: the worker that writes the objects. None: the one nearest to all sources.
inline constexpr const char* kTableWorkerOption = "TABLE_WORKER";

[[nodiscard]] bool writes_table(const PlanNode& root);

// The one that the settings name; none: they name none. Fails with unknown_worker.
[[nodiscard]] Result<std::optional<std::string>> table_worker(const Config& settings,
                                                              const topology::Cluster& cluster);

// Of a plan whose sources are physical. Fails with not_supported for sources of both ways.
[[nodiscard]] Result<Done> complete_table_sink(PlanNode& root, const std::string& worker,
                                               const Config& settings);

// Plans of queries into tables, with the URL of managed tables below that of their store, and with
// the stamp of the query. `store` is the store's URL without secrets, or empty; `stamp` gives no
// text twice.
[[nodiscard]] Planner planner_into_tables(std::string store, std::function<std::string()> stamp);

// Fails with missing_configuration for a table whose URL or stamp is not known.
[[nodiscard]] Result<Done> check_table_has_place(const PlanNode& root);

// The URL of a folder below that of a store.
[[nodiscard]] std::string url_below(std::string url, const std::string& folder);

}  // namespace baton::planning
