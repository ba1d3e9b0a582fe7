#include "catalog/kinds/kinds.h"

namespace baton::kinds {

template <>
const KindTable<TaskList>& table_of() {
    using enum ViewType;
    static const KindTable<TaskList> kTable({
        .entity = Entity::task_list,
        .table = "task_list",
        .since = 2,
        .columns = {column<&TaskList::name>("name", "{key} PRIMARY KEY CHECK (name <> '')")
                        .shown("NAME", text, "its name")
                        .in_brief(),
                    column<&TaskList::partitions>("partitions",
                                                  "{int} NOT NULL CHECK (partitions >= 1)")
                        .shown("PARTITIONS", integer, "how many partitions it has")
                        .in_brief(),
                    column<&TaskList::revision>("revision", "{int} NOT NULL")
                        .shown("REVISION", integer, "of its last change")},
        .view = "TASK_LISTS",
        .alias = "l",
        .derived = {{.name = "OWNED",
                     .type = integer,
                     .meaning = "how many of them a worker looks after",
                     .expression = "(SELECT COUNT(*) FROM task_partition p WHERE p.list = l.name "
                                   "AND p.state = 'OWNED')",
                     .brief = true}},
        .meaning = "named sets of partitions that are shared out among the workers",
    });
    return kTable;
}

}  // namespace baton::kinds
