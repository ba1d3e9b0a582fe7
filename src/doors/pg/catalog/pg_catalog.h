// The catalog that clients of PostgreSQL query: tables, columns, types, roles, settings, in the
// tables of pg_catalog and information_schema, and SELECT without any table.
//
// Input:   the entities (World), and a statement in PostgreSQL's dialect with its parameters.
// Output: rows; or not_supported, if the statement wants more than is here.
//
// Each question gets an SQLite database in memory of its own, filled from the World; the statement
// is rewritten into SQLite's dialect token by token and run there. It can only read, and has a
// bounded time of the processor, memory and number of rows. Blocks for some milliseconds: not for a
// thread of the network.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "doors/pg/wire/values.h"
#include "ports/sql.h"

namespace baton::pg {

struct Attribute {
    std::string name;
    pgwire::KnownType type = pgwire::KnownType::text;  // or PostgreSQL's number of an array of it
    std::int32_t modifier = -1;
    bool not_null = false;
    std::string comment;
};

struct Relation {
    std::string schema;
    std::string name;
    char kind = 'v';  // as in pg_class.relkind: r is a table, v a view
    std::string comment;
    std::vector<Attribute> columns;
};

struct World {
    std::vector<Relation> relations;
    std::string user;
    std::string database;
    std::string version;  // "PostgreSQL 15.0 (Baton 0.1.0)"
    std::uint32_t process = 0;
    bool may_write = true;
    std::vector<std::pair<std::string, std::string>> settings;
};

struct Rows {
    std::vector<pgwire::Column> columns;
    std::vector<SqlRow> rows;
};

// Whether the answer may depend on World::relations: without a table and a function about one it
// does not, and they need not be read for it.
[[nodiscard]] bool concerns_relations(std::string_view statement);

// Ends early, with cancelled, when another thread sets `halt`; null: none will.
[[nodiscard]] Result<Rows> answer(const World& world, std::string_view statement,
                                  std::span<const SqlValue> parameters,
                                  const std::atomic<bool>* halt = nullptr);

}  // namespace baton::pg
