#include "catalog/kinds/kinds.h"
#include "catalog/kinds/reason_columns.h"

namespace baton::kinds {

template <>
const KindTable<Worker>& table_of() {
    using enum ViewType;
    static const KindTable<Worker> kTable({
        .entity = Entity::worker,
        .table = "worker",
        .of_cluster = true,
        .columns = {column<&Worker::name>("name", "{key} PRIMARY KEY CHECK (name <> '')")
                        .shown("NAME", text, "its name, which never changes")
                        .in_brief(),
                    column<&Worker::kind>("kind", "{key} NOT NULL " + one_of<WorkerKind>("kind"))
                        .shown("KIND", text, "REMOTE or EMBEDDED"),
                    column<&Worker::control>("address", "{key} UNIQUE")
                        .shown("ADDRESS", text, "host:port of its control connection")
                        .in_brief(),
                    column<&Worker::data>("data_address", "{key}")
                        .shown("DATA_ADDRESS", text, "host:port for data of other workers"),
                    column<&Worker::capacity>("capacity", "{int} CHECK (capacity >= 0)")
                        .shown("CAPACITY", integer, "slots configured; empty: not limited")
                        .in_brief(),
                    column<&Worker::state>("state",
                                           "{key} NOT NULL " + one_of<WorkerState>("state"))
                        .shown("STATE", text, "ACTIVE or UNREACHABLE")
                        .in_brief()
                        .changing(),
                    column<&Worker::draining>("draining",
                                              "{int} NOT NULL CHECK (draining IN (0, 1))")
                        .shown("DRAINING", boolean, "whether it takes no new fragments")
                        .in_brief()
                        .changing(),
                    column<&Worker::leaving>("leaving", "{int} NOT NULL CHECK (leaving IN (0, 1))")
                        .shown("LEAVING", boolean, "whether its process was asked to end")
                        .in_brief()
                        .changing(),
                    column<&Worker::incarnation>("incarnation", "{int}")
                        .shown("INCARNATION", integer, "of its process; empty until it was heard")
                        .changing(),
                    reason_text<Worker>(),
                    column<&Worker::since>("since", "{key} NOT NULL")
                        .shown("SINCE", time, "when it came into this state")
                        .in_brief()
                        .changing(),
                    column<&Worker::revision>("revision", "{int} NOT NULL")
                        .shown("REVISION", integer, "of its last change")
                        .changing(),
                    reason_code<Worker>(), reason_who<Worker>(), reason_error<Worker>()},
        .constraints = {"CHECK ((kind = 'EMBEDDED') = (address IS NULL))"},
        .indexes = "CREATE INDEX worker_state ON worker (state);\n",
        .view = "WORKERS",
        .alias = "w",
        .derived = {{.name = "USED",
                     .type = integer,
                     .meaning = "slots that fragments occupy",
                     .expression = "(SELECT COALESCE(SUM(f.slots), 0) FROM fragment f WHERE "
                                   "f.worker = w.name AND " +
                                   occupies_slots("f.state") + ")",
                     .brief = true}},
        .meaning = "the machines of the cluster",
    });
    return kTable;
}

}  // namespace baton::kinds
