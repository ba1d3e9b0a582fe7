#include "catalog/kinds/kinds.h"

namespace baton::kinds {

namespace {

// The columns of an ownership, of which the state comes first.
KindColumn<Partition> state_column() {
    return {.name = "state",
            .definition = "{key} NOT NULL " + one_of<PartitionState>("state"),
            .value = [](const Partition& p) { return value_of(state_of(p.ownership)); },
            .read = [](Partition& p, const SqlValue& value) -> Result<Done> {
                PartitionState state{};
                TRY(read_value(value, state));
                if (state == PartitionState::owned) p.ownership = ownership::Owned{};
                if (state == PartitionState::releasing) p.ownership = ownership::Releasing{};
                return Done{};
            },
            .changes = true};
}

// A fact of those that have an owner, absent of others: a function from Owned or Releasing to it.
template <class Fact>
KindColumn<Partition> column_of_owner(std::string name, std::string definition, Fact fact) {
    return {.name = std::move(name),
            .definition = std::move(definition),
            .value = [fact](const Partition& p) -> SqlValue {
                if (const auto* owned = std::get_if<ownership::Owned>(&p.ownership)) {
                    return value_of(fact(*owned));
                }
                const auto* releasing = std::get_if<ownership::Releasing>(&p.ownership);
                return releasing == nullptr ? SqlValue() : value_of(fact(*releasing));
            },
            .read = [fact](Partition& p, const SqlValue& value) -> Result<Done> {
                if (auto* owned = std::get_if<ownership::Owned>(&p.ownership)) {
                    return read_value(value, fact(*owned));
                }
                auto* releasing = std::get_if<ownership::Releasing>(&p.ownership);
                return releasing == nullptr ? Done{} : read_value(value, fact(*releasing));
            },
            .changes = true};
}

KindColumn<Partition> next_owner_column() {
    return {.name = "heir",  // as version 2 of the schema called it
            .definition = "{key}",
            .value = [](const Partition& p) -> SqlValue {
                const auto* releasing = std::get_if<ownership::Releasing>(&p.ownership);
                if (releasing == nullptr || releasing->next_owner.empty()) return SqlValue();
                return releasing->next_owner;
            },
            .read = [](Partition& p, const SqlValue& value) -> Result<Done> {
                auto* releasing = std::get_if<ownership::Releasing>(&p.ownership);
                return releasing == nullptr ? Done{} : read_value(value, releasing->next_owner);
            },
            .changes = true};
}

}  // namespace

template <>
const KindTable<Partition>& table_of() {
    using enum ViewType;
    static const KindTable<Partition> kTable({
        .entity = Entity::partition,
        .table = "task_partition",
        .since = 2,
        .key_columns = 2,
        .columns = {column_of<Partition>(
                        "list", "{key} NOT NULL", [](auto& p) -> auto& { return p.key.list; })
                        .shown("LIST", text, "the task list it is of")
                        .in_brief(),
                    column_of<Partition>(
                        "number", "{int} NOT NULL CHECK (number >= 0)",
                        [](auto& p) -> auto& { return p.key.number; })
                        .shown("NUMBER", integer, "which one, from 0")
                        .in_brief(),
                    state_column()
                        .shown("STATE", text,
                               "UNOWNED, OWNED, or RELEASING: its owner was asked to release it")
                        .in_brief(),
                    column_of_owner(
                        "owner", "{key} REFERENCES worker (name) ON DELETE RESTRICT",
                        [](auto& one) -> auto& { return one.owner; })
                        .shown("OWNER", text, "the worker that has it")
                        .in_brief(),
                    column_of_owner(
                        "epoch", "{int}", [](auto& one) -> auto& { return one.epoch; })
                        .shown("EPOCH", integer, "of the leader that gave it to that worker")
                        .in_brief(),
                    next_owner_column()
                        .shown("NEXT", text, "the worker that gets it when it is released")
                        .in_brief(),
                    column<&Partition::since>("since", "{key} NOT NULL")
                        .shown("SINCE", time, "when its state or its owner last changed")
                        .in_brief()
                        .changing(),
                    column<&Partition::revision>("revision", "{int} NOT NULL")
                        .shown("REVISION", integer, "of its last change")
                        .changing()},
        .constraints = {"PRIMARY KEY (list, number)",
                        "CHECK ((state = 'UNOWNED') = (owner IS NULL))",
                        "CHECK ((owner IS NULL) = (epoch IS NULL))",
                        "CHECK (heir IS NULL OR state = 'RELEASING')"},
        .indexes = "CREATE INDEX task_partition_owner ON task_partition (owner);\n",
        .view = "PARTITIONS",
        .meaning = "the partitions of task lists, with their workers",
    });
    return kTable;
}

}  // namespace baton::kinds
