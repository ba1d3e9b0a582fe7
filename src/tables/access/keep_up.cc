#include "tables/access/keep_up.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/tables/commit_plan.h"
#include "tables/access/write_objects.h"

namespace baton::tables {

namespace {

constexpr std::string_view kMerged = "baton_merged";

Error ended() {
    return Error{.code = ErrorCode::cancelled, .message = "upkeep of the table was ended"};
}

class Keeper {
public:
    Keeper(TableAccess& access, const KeepUpOptions& options, OpenTable& table)
        : access_(access), options_(options), table_(table), call_{.given_up = [this] {
              return given_up();
          }} {}

    Result<Done> run(KeptUp& did) {
        TRY_ASSIGN(work, table_.log->upkeep(call_));
        first(expire(work, did));
        for (std::size_t i = 0; i < work.merges.size() && !broken_; ++i) {
            if (i == options_.merges_max) {
                did.more = true;
                break;
            }
            first(merge(work.merges[i], did));
        }
        if (!broken_ && work.checkpoint_due) first(checkpoint(did));
        if (!broken_ && (!work.deletable.empty() || options_.old_log_files)) {
            first(count(table_.log->remove_old(call_), did.deleted));
        }
        if (!broken_ && options_.left_behind) {
            first(count(table_.log->remove_unreferenced(call_), did.left_behind));
            did.deleted += did.left_behind;
        }
        did.snapshot = table_.log->known();
        if (error_) return *error_;
        return Done{};
    }

private:
    [[nodiscard]] bool given_up() const { return options_.given_up && options_.given_up(); }

    void first(const Result<Done>& result) {
        if (given_up()) broken_ = true;
        if (result) return;
        // The store is away, or the caller gave up: the rest would not do better.
        const ErrorCode code = result.error().code;
        broken_ = broken_ || code == ErrorCode::cancelled || code == ErrorCode::store_unavailable ||
                  code == ErrorCode::store_full;
        if (!error_) error_ = result.error();
    }

    static Result<Done> count(const Result<std::uint64_t>& deleted, std::uint64_t& into) {
        if (!deleted) return deleted.error();
        into += *deleted;
        return Done{};
    }

    Result<Done> expire(const Upkeep& work, KeptUp& did) {
        if (work.expired.empty()) return Done{};
        if (given_up()) return ended();
        const auto gone =
            table_.log->commit({.operation = "DELETE", .remove = work.expired}, call_);
        if (gone) {
            did.expired += work.expired.size();
            did.more = true;
            return Done{};
        }
        return conflicted(gone.error(), did);
    }

    // Others changed the table: the next look sees how.
    static Result<Done> conflicted(const Error& error, KeptUp& did) {
        if (error.code != ErrorCode::conflict) return error;
        did.conflicts += 1;
        did.more = true;
        return Done{};
    }

    Result<Done> merge(const Merge& merge, KeptUp& did) {
        if (given_up()) return ended();
        const WallTime begun = access_.parts().clock->wall_now();
        const Layout layout = table_.log->known()->layout();
        auto rows = rows_of(merge, layout);
        // Objects of that store cannot be read here: they stay as they are.
        if (!rows && rows.error().code == ErrorCode::not_supported) return Done{};
        TRY_ASSIGN(task, std::move(rows));
        TRY_ASSIGN(objects, write_object(access_, table_, layout,
                                         {.task = std::move(task),
                                          .columns = layout.columns,
                                          .given_up = call_.given_up},
                                         merge.partition));
        if (auto lost = check_rows(merge, objects); !lost) {
            remove_objects(table_, objects);
            return lost;
        }
        CommitRequest request{.operation = "OPTIMIZE",
                              .add = objects,
                              .changes_rows = false,
                              .layout = layout,
                              .written_since = begun};
        WallTime newest{};
        for (const TableObject& part : merge.objects) {
            request.remove.push_back(part.key);
            newest = std::max(newest, part.modified);
        }
        // As old as its rows, for retention.
        for (TableObject& object : request.add) object.modified = newest;
        const auto committed =
            given_up() ? Result<Committed>(ended()) : table_.log->commit(request, call_);
        if (!committed) {
            const bool unused = committed.error().code != ErrorCode::unknown_outcome;
            if (unused) remove_objects(table_, objects);
            return conflicted(committed.error(), did);
        }
        did.merges += 1;
        did.merged += merge.objects.size();
        did.more = true;
        return Done{};
    }

    Result<QuestionTask> rows_of(const Merge& merge, const Layout& layout) {
        RelationFiles files;
        for (const TableObject& object : merge.objects) {
            TRY_ASSIGN(local, access_.local_file(table_, object, call_));
            files.files.push_back({.path = std::move(local.path),
                                   .partition = object.partition,
                                   .rows = object.rows,
                                   .held = std::move(local.held)});
        }
        TRY_ASSIGN(tree, access_.parts().engine->parse("SELECT * FROM " + std::string(kMerged)));
        QuestionTask task{.tree = std::move(tree)};
        task.relations.push_back(
            {.name = std::string(kMerged), .columns = layout.columns, .content = std::move(files)});
        task.given_up = call_.given_up;
        return task;
    }

    // No row is lost, whatever the files say.
    static Result<Done> check_rows(const Merge& merge, const std::vector<TableObject>& objects) {
        std::uint64_t before = 0;
        for (const TableObject& part : merge.objects) {
            if (!part.rows) return Done{};
            before += *part.rows;
        }
        std::uint64_t after = 0;
        for (const TableObject& object : objects) after += object.rows.value_or(0);
        if (before == after) return Done{};
        return Error{.code = ErrorCode::damaged_table,
                     .message = "cannot merge objects of the table: they have " +
                                std::to_string(after) + " rows, and its log says " +
                                std::to_string(before),
                     .hint = "the first of them is " + in_quotes(merge.objects.front().key)};
    }

    Result<Done> checkpoint(KeptUp& did) {
        if (given_up()) return ended();
        TRY(table_.log->write_checkpoint(call_));
        did.checkpoint = true;
        return Done{};
    }

    TableAccess& access_;
    const KeepUpOptions& options_;
    OpenTable& table_;
    const StoreCall call_;
    std::optional<Error> error_;  // the first one
    bool broken_ = false;
};

std::string counted(std::uint64_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string KeptUp::in_words() const {
    std::vector<std::string> parts;
    if (expired > 0) parts.push_back(counted(expired, "object") + " with old rows removed");
    if (merges > 0) {
        parts.push_back(counted(merges, "merge") + " of " + counted(merged, "object"));
    }
    if (checkpoint) parts.emplace_back("1 checkpoint written");
    if (deleted > 0) parts.push_back(counted(deleted, "file") + " deleted");
    if (parts.empty()) return "nothing was due";
    std::string text = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) text += ", " + parts[i];
    return text;
}

KeepUpOutcome keep_up(TableAccess& access, const Table& table, const KeepUpOptions& options) {
    KeepUpOutcome outcome;
    const auto opened = access.open(table);
    if (!opened) {
        outcome.result = opened.error();
        return outcome;
    }
    outcome.result = Keeper(access, options, **opened).run(outcome.did);
    return outcome;
}

Result<KeptUp> keep_up_whole(TableAccess& access, const Table& table,
                             const std::function<bool()>& given_up) {
    constexpr int kRoundsMax = 1'000;
    KeptUp all;
    for (int round = 0; round < kRoundsMax; ++round) {
        KeepUpOutcome one = keep_up(access, table,
                                    {.merges_max = 100,
                                     .old_log_files = round == 0,
                                     .left_behind = round == 0,
                                     .given_up = given_up});
        TRY(one.result);
        all.merges += one.did.merges;
        all.merged += one.did.merged;
        all.conflicts += one.did.conflicts;
        all.expired += one.did.expired;
        all.deleted += one.did.deleted;
        all.left_behind += one.did.left_behind;
        all.checkpoint = all.checkpoint || one.did.checkpoint;
        all.snapshot = one.did.snapshot;
        all.more = one.did.more;
        if (!all.more) break;
    }
    return all;
}

Result<bool> delete_folder(TableAccess& access, const std::string& location,
                           const std::function<bool()>& given_up) {
    TRY_ASSIGN(store, access.managed_store());
    const StoreCall call{.given_up = given_up};
    // The names of folders are made by this coordinator: an empty one would be the whole store.
    CHECK(!location.empty());
    const ListOptions options{.prefix = location + "/"};
    for (bool none = true;; none = false) {
        TRY_ASSIGN(page, store->list(options, call));
        if (page.objects.empty()) return none;
        if (given_up && given_up()) return ended();
        std::vector<std::string> keys;
        for (const ListedObject& object : page.objects) keys.push_back(object.key);
        TRY(store->remove(keys, call));
    }
}

}  // namespace baton::tables
