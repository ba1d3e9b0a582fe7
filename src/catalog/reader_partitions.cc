// Task lists and their partitions, out of the catalog.
#include "catalog/kinds/row_cursor.h"
#include "catalog/reader.h"

namespace baton {

namespace {

constexpr const char* kListColumns = "SELECT name, partitions, revision FROM task_list";
constexpr const char* kPartitionColumns =
    "SELECT list, number, state, owner, epoch, heir, since, revision FROM task_partition";

TaskList list_from(const SqlRow& row) {
    RowCursor cursor(row);
    TaskList list;
    list.name = cursor.text();
    list.partitions = static_cast<std::uint32_t>(cursor.number());
    list.revision = cursor.revision();
    return list;
}

Partition partition_from(const SqlRow& row) {
    RowCursor cursor(row);
    Partition partition;
    partition.key.list = cursor.text();
    partition.key.number = static_cast<std::uint32_t>(cursor.number());
    const auto state = cursor.state<PartitionState>();
    std::string owner = cursor.text();
    const Epoch epoch(cursor.number());
    std::string next = cursor.text();
    if (state == PartitionState::owned) {
        partition.ownership = ownership::Owned{.owner = std::move(owner), .epoch = epoch};
    } else if (state == PartitionState::releasing) {
        partition.ownership = ownership::Releasing{
            .owner = std::move(owner), .epoch = epoch, .next = std::move(next)};
    }
    partition.since = cursor.time();
    partition.revision = cursor.revision();
    return partition;
}

template <class Entity>
std::vector<Entity> all_of(const std::vector<SqlRow>& rows, Entity (*from)(const SqlRow&)) {
    std::vector<Entity> list;
    list.reserve(rows.size());
    for (const SqlRow& row : rows) list.push_back(from(row));
    return list;
}

}  // namespace

Result<std::optional<TaskList>> Reader::task_list(const std::string& name) const {
    TRY_ASSIGN(rows, sql_.query(std::string(kListColumns) + " WHERE name = ?", {name}));
    return rows.empty() ? std::optional<TaskList>() : list_from(rows[0]);
}

Result<std::vector<TaskList>> Reader::task_lists() const {
    TRY_ASSIGN(rows, sql_.query(std::string(kListColumns) + " ORDER BY name"));
    return all_of(rows, list_from);
}

Result<std::optional<Partition>> Reader::partition(const PartitionKey& key) const {
    TRY_ASSIGN(rows, sql_.query(std::string(kPartitionColumns) + " WHERE list = ? AND number = ?",
                                {key.list, std::int64_t{key.number}}));
    return rows.empty() ? std::optional<Partition>() : partition_from(rows[0]);
}

Result<std::vector<Partition>> Reader::partitions(const std::optional<std::string>& list) const {
    std::string sql = kPartitionColumns;
    std::vector<SqlValue> parameters;
    if (list) {
        sql += " WHERE list = ?";
        parameters.emplace_back(*list);
    }
    TRY_ASSIGN(rows, sql_.query_with(sql + " ORDER BY list, number", parameters));
    return all_of(rows, partition_from);
}

}  // namespace baton
