// The tables that a client's question is answered from: made and filled in an SQLite database.
// Internal to pg_catalog.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "doors/pg/catalog/pg_catalog.h"
#include "doors/pg/catalog/store.h"

namespace baton::pg {

struct TableDefinition {
    std::string_view name;
    std::string_view columns;  // "oid# relname relhasindex?"
};
[[nodiscard]] std::span<const TableDefinition> table_definitions();

struct TypeDefinition {
    std::int64_t oid;
    std::string_view name;
    std::int64_t length;
    bool by_value;
    char type;
    char category;
    bool preferred;
    std::int64_t array;  // the type of arrays of it; 0: there is none
    std::string_view words;
};
[[nodiscard]] std::span<const TypeDefinition> type_definitions();

inline constexpr std::int64_t kCatalogSchema = 11;
inline constexpr std::int64_t kPublicSchema = 2200;
inline constexpr std::int64_t kInformationSchema = 13'000;
inline constexpr std::int64_t kBatonSchema = 16'384;
inline constexpr std::int64_t kUser = 10;
inline constexpr std::int64_t kClassOfClasses = 1259;  // pg_class as a row of itself

// The numbers of relations: the same for a name each time.
[[nodiscard]] std::map<std::int64_t, const Relation*> numbered(const World& world);

// Those that are never empty, and of the others those with a name among these.
[[nodiscard]] Result<Done> make_tables(Store& store, const World& world,
                                       const std::set<std::string>& names);

}  // namespace baton::pg
