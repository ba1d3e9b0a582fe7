// write_objects() makes Parquet objects of the rows of a task and puts them into the store of a
// table. They are no part of the table before an entry of its log names them; remove_objects()
// takes them back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/tables/snapshot.h"
#include "ports/question_engine.h"
#include "tables/access/table_access.h"

namespace baton::tables {

struct RowsToWrite {
    QuestionTask task;
    SqlColumns columns;  // of the table, in the order of the task's columns
    std::function<bool()> given_up;
    std::string mark = {};  // begins the names of the objects, so that their writer finds them
};

// One object, or one for each partition that has rows; none if there are no rows. Fails with
// too_large for rows of too many partitions.
[[nodiscard]] Result<std::vector<TableObject>> write_objects(TableAccess& access,
                                                             const OpenTable& table,
                                                             const Layout& layout,
                                                             RowsToWrite rows);

using PartitionValues = std::map<std::string, std::optional<std::string>>;
// The same for rows that all belong to one partition: one object, or none if there are no rows.
[[nodiscard]] Result<std::vector<TableObject>> write_object(TableAccess& access,
                                                            const OpenTable& table,
                                                            const Layout& layout, RowsToWrite rows,
                                                            const PartitionValues& partition);

// As far as the store allows: an object that stays is found later as one that no version names.
void remove_objects(const OpenTable& table, const std::vector<TableObject>& objects);

}  // namespace baton::tables
