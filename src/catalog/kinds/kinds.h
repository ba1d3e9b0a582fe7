// The kinds of entities. A new one is a file here, its enumerator in entity.h and a line in each of
// the two lists below.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "catalog/kinds/kind_table.h"
#include "model/entities.h"
#include "model/partition.h"

namespace baton::kinds {

// A link as the catalog keeps it.
struct KeptLink {
    NetworkLink link;
    Revision revision;
};

// In the order of Entity, in which none refers to a later one.
using KindTypes = std::tuple<Worker, KeptLink, LogicalSource, PhysicalSource, Sink, Query, Fragment,
                             TaskList, Partition, Table>;
static_assert(std::tuple_size_v<KindTypes> == kEntityCount);

template <class E>
const KindTable<E>& table_of() = delete;
template <>
const KindTable<Worker>& table_of();
template <>
const KindTable<KeptLink>& table_of();
template <>
const KindTable<LogicalSource>& table_of();
template <>
const KindTable<PhysicalSource>& table_of();
template <>
const KindTable<Sink>& table_of();
template <>
const KindTable<Query>& table_of();
template <>
const KindTable<Fragment>& table_of();
template <>
const KindTable<TaskList>& table_of();
template <>
const KindTable<Partition>& table_of();
template <>
const KindTable<Table>& table_of();

// An entity as a row of its view: own columns.
template <class E>
[[nodiscard]] SqlRow row_of(const E& entity) {
    return table_of<E>().row(entity);
}

// A kind without the type of its entities.
struct AnyKind {
    View view;
    // In the order of their references.
    std::vector<std::string_view> tables;
    // The statements that a version of the schema adds to the one before; see kind_table.h for the
    // types.
    std::function<std::string(std::int64_t version)> statements;
    std::int64_t version = 1;  // the last one that adds any
};

// In the order of KindTypes.
[[nodiscard]] std::span<const AnyKind> kinds();

// The SQL condition under which a fragment occupies its slots.
[[nodiscard]] std::string occupies_slots(std::string_view state_column);

}  // namespace baton::kinds
