// Loading and upkeep of a TableLog.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "tables/table_log.h"

namespace baton::tables {

namespace {

namespace fs = std::filesystem;

constexpr int kLoadsMax = 5;
constexpr std::size_t kFilesMax = 5'000'000;  // of one list
constexpr std::uint64_t kPieceBytes = 32ULL << 20U;
constexpr std::uint64_t kHintBytesMax = 1ULL << 20U;

// A file that goes with its owner.
class TemporaryFile {
public:
    explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
    ~TemporaryFile() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

Error cannot_keep(const std::string& path) {
    return Error{.code = ErrorCode::cannot_write,
                 .message = "cannot write " + in_quotes(path) +
                            ", where a checkpoint of a table goes for a while",
                 .hint = "see that its disk has room"};
}

}  // namespace

Result<TableLog::Listed> TableLog::list_log(const std::string& after, const StoreCall& call) const {
    Listed listed;
    ListOptions options{.prefix = key(kLogFolder), .after = after.empty() ? after : key(after)};
    for (;;) {
        TRY_ASSIGN(page, parts_.store->list(options, call));
        if (page.store_now) listed.store_now = page.store_now;
        for (ListedObject& object : page.objects) {
            object.key.erase(0, parts_.folder.size());
            listed.files.push_back(std::move(object));
        }
        if (page.next.empty()) return listed;
        if (listed.files.size() > kFilesMax) {
            return Error{.code = ErrorCode::too_large,
                         .message = "the table's log has too many files"};
        }
        options.after = page.next;
    }
}

Result<std::optional<std::int64_t>> TableLog::last_checkpoint(const StoreCall& call) {
    TRY_ASSIGN(got, parts_.store->get(key(kLastCheckpointKey), {.bytes_max = kHintBytesMax}, call));
    const auto* object = std::get_if<StoredObject>(&got);
    const auto last = object == nullptr ? std::nullopt : last_checkpoint_of(object->bytes);
    return last ? std::optional(last->version) : std::nullopt;
}

Result<ReadPlan> TableLog::plan_load(std::optional<std::int64_t> version, const StoreCall& call) {
    TRY_ASSIGN(hint, last_checkpoint(call));
    const auto names_of = [](const Listed& listed) {
        std::vector<std::string> names;
        for (const ListedObject& file : listed.files) names.push_back(file.key);
        return names;
    };
    if (hint && (!version || *version >= *hint)) {
        TRY_ASSIGN(tail, list_log(key_before(*hint), call));
        Result<ReadPlan> plan = plan_read(names_of(tail), version);
        if (plan) return plan;
    }
    // Without a hint, or with one that is wrong.
    TRY_ASSIGN(all, list_log({}, call));
    const std::vector<std::string> names = names_of(all);
    const bool none = std::none_of(names.begin(), names.end(), [](const std::string& name) {
        return log_file_of(name).has_value();
    });
    if (none) return no_table();
    return plan_read(names, version);
}

Result<std::optional<TableLog::Known>> TableLog::load(std::optional<std::int64_t> version,
                                                      const StoreCall& call) {
    for (int attempt = 0; attempt < kLoadsMax; ++attempt) {
        TRY_ASSIGN(plan, plan_load(version, call));
        TRY_ASSIGN(loaded, read_by(plan, call));
        if (loaded) return loaded;
        // The log was cleaned up meanwhile.
    }
    return Error{.code = ErrorCode::damaged_table,
                 .message = "the table's log changes while it is read: files of it are missing"};
}

// None: a file that was there is gone.
Result<std::optional<TableLog::Known>> TableLog::read_by(const ReadPlan& plan,
                                                         const StoreCall& call) {
    Known known;
    Snapshot snapshot;
    if (plan.checkpoint) {
        SnapshotBuilder builder{Snapshot()};
        for (const std::string& name : plan.checkpoint_keys) {
            const Result<Done> read = read_checkpoint(name, builder, call);
            if (read) continue;
            TRY_ASSIGN(got, parts_.store->get(key(name), {.range = ByteRange{.length = 1}}, call));
            if (std::holds_alternative<NoObject>(got)) return std::optional<Known>();
            return read.error();
        }
        TRY_ASSIGN(built, builder.finish(*plan.checkpoint));
        snapshot = std::move(built);
    }
    for (std::int64_t version = plan.first_entry; version <= plan.last_entry; ++version) {
        TRY_ASSIGN(got, parts_.store->get(key(entry_key(version)),
                                          {.bytes_max = parts_.limits.bytes}, call));
        const auto* entry = std::get_if<StoredObject>(&got);
        if (entry == nullptr) return std::optional<Known>();
        TRY_ASSIGN(next, apply(snapshot, entry->bytes, parts_.limits));
        snapshot = std::move(next);
        known.etag = entry->etag;
    }
    known.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
    return std::optional(std::move(known));
}

Result<Done> TableLog::read_checkpoint(const std::string& name, SnapshotBuilder& builder,
                                       const StoreCall& call) {
    const auto take = [&](std::string_view line) -> Result<Done> {
        TRY_ASSIGN(action, read_action(line, builder.layout(), parts_.limits));
        if (!action) return Done{};
        return builder.apply(*std::move(action));
    };
    if (const auto path = parts_.store->path_of(key(name))) {
        return parts_.checkpoints->read(*path, {}, take);
    }
    const TemporaryFile file(parts_.temporary_folder + "/" + next_nonce() + ".checkpoint");
    TRY(fetch(name, file.path(), call));
    return parts_.checkpoints->read(file.path(), {}, take);
}

Result<Done> TableLog::fetch(const std::string& name, const std::string& path,
                             const StoreCall& call) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    std::string etag;
    for (std::uint64_t offset = 0;; offset += kPieceBytes) {
        TRY_ASSIGN(got, parts_.store->get(
                            key(name),
                            {.range = ByteRange{.offset = offset, .length = kPieceBytes}}, call));
        const auto* piece = std::get_if<StoredObject>(&got);
        if (piece == nullptr || (!etag.empty() && piece->etag != etag)) {
            return Error{.code = ErrorCode::damaged_table,
                         .message = "a checkpoint of the table changed while it was read"};
        }
        etag = piece->etag;
        file.write(piece->bytes.data(), static_cast<std::streamsize>(piece->bytes.size()));
        if (!file) return cannot_keep(path);
        if (offset + kPieceBytes >= piece->size) break;
    }
    file.close();
    if (!file) return cannot_keep(path);
    return Done{};
}

Result<Upkeep> TableLog::upkeep(const StoreCall& call) {
    TRY_ASSIGN(snapshot, newest(call));
    TRY_ASSIGN(last, last_checkpoint(call));
    return tables::upkeep(*snapshot, last, parts_.clock->wall_now(), parts_.upkeep);
}

Result<Done> TableLog::write_checkpoint(const StoreCall& call) {
    TRY_ASSIGN(snapshot, newest(call));
    const TemporaryFile file(parts_.temporary_folder + "/" + next_nonce() + ".checkpoint");
    CheckpointText text(*snapshot, parts_.clock->wall_now(), parts_.upkeep);
    TRY(parts_.checkpoints->write([&] { return text.next(); }, file.path()));
    // Another's is as good as this one.
    TRY(parts_.store->put_file(key(checkpoint_key(snapshot->version())), file.path(), IfAbsent{},
                               call));
    return hint_checkpoint({.version = snapshot->version(), .actions = text.actions()}, call);
}

Result<Done> TableLog::hint_checkpoint(const LastCheckpoint& last, const StoreCall& call) {
    TRY_ASSIGN(before, last_checkpoint(call));
    if (before && *before >= last.version) return Done{};
    TRY(parts_.store->put(key(kLastCheckpointKey), last_checkpoint_text(last), Always{}, call));
    return Done{};
}

Result<std::uint64_t> TableLog::remove_old(const StoreCall& call) {
    TRY_ASSIGN(snapshot, newest(call));
    const WallTime now = parts_.clock->wall_now();
    const UpkeepOptions options = options_for(snapshot->metadata(), parts_.upkeep);
    std::vector<std::string> keys;
    for (const std::string& name : deletable(*snapshot, now, parts_.upkeep)) {
        keys.push_back(key(name));
    }
    TRY_ASSIGN(log, list_log({}, call));
    std::vector<StoredLogFile> files;
    for (const ListedObject& file : log.files) {
        if (log_file_of(file.key)) files.push_back({.key = file.key, .modified = file.modified});
    }
    for (const std::string& name : log_cleanup(files, log.store_now.value_or(now), options)) {
        keys.push_back(key(name));
    }
    if (!keys.empty()) TRY(parts_.store->remove(keys, call));
    TRY(forget_removals(now - options.deleted_after));
    return std::uint64_t{keys.size()};
}

// They concern no reader any longer. A commit beside it does not bring them back.
Result<Done> TableLog::forget_removals(WallTime before) {
    constexpr int kAttempts = 10;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const SharedSnapshot snapshot = known();
        SnapshotBuilder builder(*snapshot);
        builder.forget_removals(before);
        TRY_ASSIGN(rest, builder.finish(snapshot->version()));
        const std::lock_guard lock(mutex_);
        if (known_.snapshot != snapshot) continue;
        known_.snapshot = std::make_shared<const Snapshot>(std::move(rest));
        break;
    }
    return Done{};
}

Result<std::vector<std::string>> TableLog::unreferenced(const StoreCall& call) {
    // The objects first: one that is added while they are listed is in the newer snapshot.
    std::vector<StoredTableObject> objects;
    std::optional<WallTime> store_now;
    ListOptions options{.prefix = parts_.folder};
    for (;;) {
        TRY_ASSIGN(page, parts_.store->list(options, call));
        if (page.store_now) store_now = page.store_now;
        for (const ListedObject& object : page.objects) {
            objects.push_back(
                {.key = object.key.substr(parts_.folder.size()), .modified = object.modified});
        }
        if (page.next.empty()) break;
        if (objects.size() > kFilesMax) {
            return Error{.code = ErrorCode::too_large,
                         .message = "the table's location has too many files"};
        }
        options.after = page.next;
    }
    TRY_ASSIGN(snapshot, newest(call));
    return tables::unreferenced(*snapshot, objects, store_now.value_or(parts_.clock->wall_now()),
                                parts_.upkeep);
}

Result<std::uint64_t> TableLog::remove_unreferenced(const StoreCall& call) {
    TRY_ASSIGN(names, unreferenced(call));
    std::vector<std::string> keys;
    for (const std::string& name : names) keys.push_back(key(name));
    if (!keys.empty()) TRY(parts_.store->remove(keys, call));
    return std::uint64_t{keys.size()};
}

}  // namespace baton::tables
