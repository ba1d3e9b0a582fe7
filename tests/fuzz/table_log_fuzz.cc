// Any bytes as an entry of a table's log: it is read or refused. Actions that were read are written
// and read back the same, and a snapshot of them gives itself again by a checkpoint.
//
// The first byte chooses whether the entry makes the table, or follows one that does.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "core/tables/commit_plan.h"
#include "core/tables/log_files.h"
#include "core/tables/prune.h"
#include "core/tables/upkeep.h"

namespace {

using namespace baton;
using namespace baton::tables;

Snapshot table() {
    TableDefinition definition{.id = "i", .name = "t", .partition_by = {"day", "place"}};
    for (const char* column : {"day DATE", "place VARCHAR", "n BIGINT", "x DOUBLE", "f REAL",
                               "price DECIMAL(10,2)", "name VARCHAR", "ts TIMESTAMP", "raw BLOB"}) {
        const std::string_view text(column);
        const std::size_t space = text.find(' ');
        definition.columns.push_back({.name = std::string(text.substr(0, space)),
                                      .type = *table_type_of(text.substr(space + 1))});
    }
    const auto entry = first_entry(definition, {.engine = "t", .nonce = "n"});
    CHECK(entry);
    auto snapshot = apply(Snapshot(), *entry, {});
    CHECK(snapshot);
    return *std::move(snapshot);
}

const EntryLimits kLimits{.bytes = 1U << 20U, .line_bytes = 1U << 18U};

void check_written(const Action& action, const Layout& layout) {
    const std::string text = to_text(action, layout);
    const auto read = read_action(text, &layout, {});
    CHECK(read && *read);
    // Texts of others are longer than ours, and times finer.
    if (const auto* add = std::get_if<AddObject>(&action)) {
        const auto& again = std::get<AddObject>(**read);
        CHECK(again.object.key == add->object.key);
        CHECK(again.object.bytes == add->object.bytes);
        CHECK(again.object.rows == add->object.rows);
        CHECK(again.object.partition == add->object.partition);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    static const Snapshot existing = table();
    const Snapshot before = (data[0] & 1U) != 0 ? Snapshot() : existing;
    (void)last_checkpoint_of(text);
    (void)log_file_of(text);
    (void)nonce_of(text, kLimits);
    const auto snapshot = apply(before, text, kLimits);
    if (!snapshot) {
        const ErrorCode code = snapshot.error().code;
        CHECK(code == ErrorCode::damaged_table || code == ErrorCode::table_not_supported);
        return 0;
    }
    const Layout& layout = snapshot->layout();
    snapshot->each([&](ObjectPlace place) {
        check_written(AddObject{.object = snapshot->object(place)}, layout);
        CHECK(snapshot->find(snapshot->key(place)) == place);
    });
    for (const SqlField& column : layout.columns) {
        (void)prune(*snapshot, {{.column = column.name, .is = Bound::Is::less, .values = {"1"}}});
    }
    (void)upkeep(*snapshot, std::nullopt, WallTime(), {.retention_days = 1});
    (void)plan_commit(*snapshot, {.operation = "WRITE"}, {.engine = "t", .nonce = "n"});
    CheckpointText checkpoint(*snapshot, WallTime(), {});
    SnapshotBuilder builder{Snapshot()};
    for (std::string piece = checkpoint.next(); !piece.empty(); piece = checkpoint.next()) {
        const auto actions = read_entry(piece, builder.layout(), {});
        CHECK(actions);
        for (const Action& action : *actions) CHECK(builder.apply(action));
    }
    const auto again = builder.finish(snapshot->version());
    CHECK(again);
    CHECK(again->totals() == snapshot->totals());
    CHECK(again->metadata() == snapshot->metadata());
    return 0;
}
