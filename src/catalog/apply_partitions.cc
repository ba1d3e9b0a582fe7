// What requests about task lists and their partitions do.
#include <set>

#include "base/text.h"
#include "catalog/application.h"

namespace baton::catalog {

namespace {

Error conflict(const PartitionKey& key, const std::string& why) {
    return Error{.code = ErrorCode::conflict,
                 .message = "partition " + to_string(key) + " " + why,
                 .hint = "look again"};
}

}  // namespace

Result<Answer> Application::on(const request::CreateTaskList& r) {
    TRY_ASSIGN(existing, finds("SELECT 1 FROM task_list WHERE name = ?", r.name));
    if (existing && r.if_not_exists) return Answer{.did = Did::existed, .name = r.name};
    if (existing) {
        return Error{.code = ErrorCode::task_list_exists,
                     .message = "task list " + in_quotes(r.name) + " already exists"};
    }
    if (r.name.empty()) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "the name of a task list cannot be empty"};
    }
    if (r.partitions < 1 || r.partitions > kPartitionsMax) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "task list " + in_quotes(r.name) + " cannot have " +
                                std::to_string(r.partitions) + " partitions",
                     .hint = "give a number from 1 to " + std::to_string(kPartitionsMax)};
    }
    const TaskList list{.name = r.name, .partitions = static_cast<std::uint32_t>(r.partitions)};
    TRY(insert(list));
    // A list of this name may have been dropped, and some of it not yet be released.
    TRY_ASSIGN(left, reader_.partitions(r.name));
    std::set<std::uint32_t> there;
    for (const Partition& partition : left) there.insert(partition.key.number);
    for (std::uint32_t number = 0; number < list.partitions; ++number) {
        if (there.contains(number)) continue;
        TRY(insert(Partition{.key = {.list = r.name, .number = number}, .since = now()}));
    }
    return Answer{.did = Did::created, .name = r.name};
}

Result<Answer> Application::on(const request::DropTaskList& r) {
    TRY_ASSIGN(found, reader_.find<TaskList>(r.name));
    if (!found) return Answer{.did = Did::absent, .name = r.name};
    TRY(remove(*found));
    TRY_ASSIGN(partitions, reader_.partitions(r.name));
    for (const Partition& partition : partitions) {
        if (owner_of(partition.ownership) == nullptr) TRY(remove(partition));
    }
    return Answer{
        .did = Did::dropped, .name = r.name, .dropped = {{sql::EntityKind::task_list, 0, r.name}}};
}

Result<Done> Application::check_move(const PartitionMove& move,
                                     const std::optional<Partition>& found) {
    const std::optional<Ownership> present =
        found ? std::optional(found->ownership) : std::optional<Ownership>();
    if (present != move.before) return conflict(move.partition, "is not as it was");
    const std::string* after = move.after ? owner_of(*move.after) : nullptr;
    if (after != nullptr) TRY(known_worker(*after));
    const auto* owned = present ? std::get_if<ownership::Owned>(&*present) : nullptr;
    if (owned == nullptr || (after != nullptr && *after == owned->owner)) return Done{};
    // Whoever can be asked is asked to let go first.
    TRY_ASSIGN(owner, reader_.worker(owned->owner));
    if (!owner || owner->state == WorkerState::unreachable) return Done{};
    return conflict(move.partition,
                    "is owned by " + in_quotes(owned->owner) + ", which can be asked");
}

Result<Done> Application::move_partition(const PartitionMove& move) {
    TRY_ASSIGN(found, reader_.partition(move.partition));
    TRY(check_move(move, found));
    if (!move.after) return found ? remove(*found) : Result<Done>(Done{});
    Partition after{.key = move.partition, .ownership = *move.after, .since = now()};
    if (!found) return insert(after);
    const std::string* before = owner_of(found->ownership);
    const std::string* owner = owner_of(after.ownership);
    const bool same_owner =
        before == nullptr || owner == nullptr ? before == owner : *before == *owner;
    if (same_owner && state_of(found->ownership) == state_of(after.ownership)) {
        after.since = found->since;
    }
    return update(*found, after);
}

Result<Answer> Application::on(const controllers::AssignPartitions& r) {
    for (const PartitionMove& move : r.moves) TRY(move_partition(move));
    return Answer{.did = r.moves.empty() ? Did::unchanged : Did::changed};
}

}  // namespace baton::catalog
