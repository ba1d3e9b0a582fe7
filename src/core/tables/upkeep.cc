#include "core/tables/upkeep.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "core/tables/commit_plan.h"
#include "core/tables/log_files.h"
#include "core/tables/run_objects.h"
#include "core/tables/values.h"

namespace baton::tables {

namespace {

using Kind = SqlType::Kind;

constexpr std::uint64_t kSmallest = 1ULL << 20U;  // objects below it are of like size
constexpr std::uint64_t kStep = 8;                // from one size to the next
constexpr Duration kQuiet = std::chrono::hours(24);

bool has_time(const SqlType& type) {
    return type.kind == Kind::date || type.kind == Kind::timestamp ||
           type.kind == Kind::timestamptz;
}

unsigned size_class(std::uint64_t bytes) {
    unsigned size = 0;
    for (std::uint64_t end = kSmallest; bytes >= end && size < 16; end *= kStep) size += 1;
    return size;
}

// The end of the time that a value stands for.
std::optional<WallTime> time_of(const SqlType& type, const std::string& text) {
    const auto value = whole_of(type, text);
    if (!value) return std::nullopt;
    if (type.kind == Kind::date) {
        return WallTime(std::chrono::duration_cast<Duration>(std::chrono::days(*value + 1)));
    }
    return WallTime(Duration(*value));
}

// The time of the newest row, as far as the log says.
WallTime newest_row(const TableObject& object, const Layout& layout,
                    const std::optional<std::string>& column) {
    if (!column) return object.modified;
    const SqlType& type = layout.find(*column)->type;
    if (const auto value = object.partition.find(*column); value != object.partition.end()) {
        if (!value->second) return object.modified;
        return time_of(type, *value->second).value_or(object.modified);
    }
    const auto range = object.ranges.find(*column);
    if (range == object.ranges.end() || !range->second.max) return object.modified;
    const auto time = time_of(type, *range->second.max);
    if (!time) return object.modified;
    // Rows without a time are as old as their object.
    const bool all_have = range->second.nulls == std::uint64_t{0};
    return all_have ? *time : std::max(*time, object.modified);
}

using Partition = std::map<std::string, std::optional<std::string>>;

struct Small {
    WallTime modified;
    std::uint64_t bytes = 0;
    ObjectPlace place;
    std::string_view key;
};

bool is_older(const Small& a, const Small& b) {
    return std::tie(a.modified, a.key) < std::tie(b.modified, b.key);
}

// Groups of one partition: as many objects as make one that is large enough.
void add_groups(const std::vector<Small>& smalls, std::size_t least, const UpkeepOptions& options,
                std::vector<std::vector<Small>>& groups) {
    std::vector<Small> group;
    std::uint64_t bytes = 0;
    const auto close = [&] {
        if (group.size() >= least) groups.push_back(std::move(group));
        group.clear();
        bytes = 0;
    };
    for (const Small& small : smalls) {
        group.push_back(small);
        bytes += small.bytes;
        if (bytes >= options.object_bytes || group.size() >= options.objects_at_once) close();
    }
    close();
}

std::vector<std::vector<Small>> groups_of(std::vector<Small> smalls, WallTime now,
                                          const UpkeepOptions& options) {
    std::vector<std::vector<Small>> groups;
    std::sort(smalls.begin(), smalls.end(), is_older);
    if (smalls.back().modified < now - kQuiet) {
        add_groups(smalls, 2, options, groups);
        return groups;
    }
    std::map<unsigned, std::vector<Small>> by_size;
    for (const Small& small : smalls) by_size[size_class(small.bytes)].push_back(small);
    for (const auto& [size, alike] : by_size) {
        add_groups(alike, options.merged_at_once, options, groups);
    }
    return groups;
}

std::vector<Merge> merges_of(const Snapshot& snapshot, const std::vector<ObjectPlace>& places,
                             WallTime now, const UpkeepOptions& options) {
    std::map<Partition, std::vector<Small>> by_partition;
    for (const ObjectPlace& place : places) {
        const Block& block = *snapshot.blocks()[place.block];
        if (block.bytes(place.at) >= options.object_bytes) continue;
        if (is_of_a_run(block.key(place.at))) continue;
        by_partition[snapshot.object(place).partition].push_back(
            {.modified = block.modified(place.at),
             .bytes = block.bytes(place.at),
             .place = place,
             .key = block.key(place.at)});
    }
    std::vector<Merge> merges;
    for (auto& [partition, smalls] : by_partition) {
        for (const auto& group : groups_of(std::move(smalls), now, options)) {
            if (merges.size() == options.merges_max) return merges;
            Merge merge{.partition = partition};
            for (const Small& small : group) merge.objects.push_back(snapshot.object(small.place));
            merges.push_back(std::move(merge));
        }
    }
    return merges;
}

// "interval 1 week 2 days", as Spark has it.
std::optional<Duration> interval_of(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, Duration>, 5> kUnits = {{
        {"second", std::chrono::seconds(1)},
        {"minute", std::chrono::minutes(1)},
        {"hour", std::chrono::hours(1)},
        {"day", std::chrono::hours(24)},
        {"week", std::chrono::hours(24 * 7)},
    }};
    constexpr std::int64_t kCountMax = 100'000;
    const std::string lower = to_lower(text);
    std::vector<std::string_view> words;
    for (std::size_t start = 0; start < lower.size();) {
        const std::size_t end = std::min(lower.find(' ', start), lower.size());
        if (end > start) words.push_back(std::string_view(lower).substr(start, end - start));
        start = end + 1;
    }
    if (!words.empty() && words.front() == "interval") words.erase(words.begin());
    if (words.empty() || words.size() % 2 != 0 || words.size() > 20) return std::nullopt;
    Duration sum{};
    for (std::size_t i = 0; i < words.size(); i += 2) {
        const auto count = whole_of({.kind = Kind::bigint}, words[i]);
        std::string_view unit = words[i + 1];
        if (unit.ends_with('s')) unit.remove_suffix(1);
        const auto* const found = std::find_if(
            kUnits.begin(), kUnits.end(), [&](const auto& known) { return known.first == unit; });
        if (!count || *count < 0 || *count > kCountMax || found == kUnits.end()) {
            return std::nullopt;
        }
        sum += *count * found->second;
    }
    return sum;
}

bool is_hidden(std::string_view key) {
    for (std::size_t start = 0; start < key.size();) {
        if (key[start] == '.' || key[start] == '_') return true;
        start = std::min(key.find('/', start), key.size() - 1) + 1;
    }
    return false;
}

}  // namespace

std::optional<std::string> retention_column(const Layout& layout) {
    for (const bool partition : {true, false}) {
        for (const SqlField& column : layout.columns) {
            if (has_time(column.type) && layout.is_partition(column.name) == partition) {
                return column.name;
            }
        }
    }
    return std::nullopt;
}

UpkeepOptions options_for(const Metadata& metadata, UpkeepOptions options) {
    const auto longer = [&](Duration& time, const char* key, Duration usual) {
        const auto found = metadata.configuration.find(key);
        const auto said = found == metadata.configuration.end() ? std::optional(usual)
                                                                : interval_of(found->second);
        time = std::max(time, said.value_or(usual));
    };
    longer(options.deleted_after, "delta.deletedFileRetentionDuration", std::chrono::hours(24 * 7));
    longer(options.log_kept, "delta.logRetentionDuration", std::chrono::hours(24 * 30));
    options.removals_kept = std::max(options.removals_kept, options.deleted_after);
    return options;
}

Upkeep upkeep(const Snapshot& snapshot, std::optional<std::int64_t> last_checkpoint, WallTime now,
              const UpkeepOptions& options) {
    Upkeep result;
    const std::optional<std::string> column = retention_column(snapshot.layout());
    std::vector<ObjectPlace> kept;
    snapshot.each([&](ObjectPlace place) {
        if (options.retention_days) {
            const Duration age = std::chrono::hours(24) * *options.retention_days;
            const TableObject object = snapshot.object(place);
            if (newest_row(object, snapshot.layout(), column) < now - age) {
                result.expired.push_back(object.key);
                return;
            }
        }
        kept.push_back(place);
    });
    result.merges = merges_of(snapshot, kept, now, options);
    result.deletable = deletable(snapshot, now, options);
    std::sort(result.expired.begin(), result.expired.end());
    if (result.expired.size() > options.expired_max) result.expired.resize(options.expired_max);
    result.checkpoint_due =
        snapshot.version() - last_checkpoint.value_or(-1) >= options.checkpoint_every;
    return result;
}

std::vector<std::string> deletable(const Snapshot& snapshot, WallTime now,
                                   const UpkeepOptions& options) {
    std::vector<std::string> keys;
    const Duration after = options_for(snapshot.metadata(), options).deleted_after;
    snapshot.each_removed([&](std::string_view key, WallTime removed) {
        if (removed < now - after) keys.emplace_back(key);
    });
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::vector<std::string> log_cleanup(const std::vector<StoredLogFile>& files, WallTime now,
                                     const UpkeepOptions& options) {
    std::vector<std::string> old;
    for (const StoredLogFile& file : files) {
        if (file.modified < now - options.log_kept) old.push_back(file.key);
    }
    // The newest checkpoint of that age, if it is whole: what is younger builds on it.
    std::vector<std::string> checkpoints;
    std::copy_if(old.begin(), old.end(), std::back_inserter(checkpoints),
                 [](const std::string& key) { return log_file_of(key)->is_checkpoint; });
    const Result<ReadPlan> newest = plan_read(checkpoints, std::nullopt);
    if (!newest || !newest->checkpoint) return {};
    std::vector<std::string> keys;
    for (const StoredLogFile& file : files) {
        if (log_file_of(file.key)->version < *newest->checkpoint) keys.push_back(file.key);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::vector<std::string> unreferenced(const Snapshot& snapshot,
                                      const std::vector<StoredTableObject>& objects, WallTime now,
                                      const UpkeepOptions& options) {
    std::vector<std::string> keys;
    const Duration after = options_for(snapshot.metadata(), options).deleted_after;
    for (const StoredTableObject& object : objects) {
        const bool young = object.modified >= now - after;
        if (young || is_hidden(object.key) || snapshot.find(object.key)) continue;
        const auto removed = snapshot.removal_of(object.key);
        if (removed && *removed >= now - after) continue;
        keys.push_back(object.key);
    }
    return keys;
}

bool can_be_read(const Snapshot& older, const Snapshot& newest, WallTime now,
                 const UpkeepOptions& options) {
    bool whole = true;
    const Duration after = options_for(newest.metadata(), options).deleted_after;
    older.each([&](ObjectPlace place) {
        if (!whole) return;
        const std::string_view key = older.key(place);
        if (newest.find(key)) return;
        const auto removed = newest.removal_of(key);
        whole = removed && *removed >= now - after;
    });
    return whole;
}

CheckpointText::CheckpointText(Snapshot snapshot, WallTime now, const UpkeepOptions& options)
    : snapshot_(std::move(snapshot)),
      removals_since_(now - options_for(snapshot_.metadata(), options).removals_kept),
      transactions_since_(now - options.transactions_kept) {}

std::string CheckpointText::next() {
    if (!begun_) {
        begun_ = true;
        return head();
    }
    while (next_block_ < snapshot_.blocks().size()) {
        std::string text = block_text(*snapshot_.blocks()[next_block_]);
        next_block_ += 1;
        if (!text.empty()) return text;
    }
    return {};
}

std::string CheckpointText::head() {
    std::string text = entry_text({snapshot_.protocol(), snapshot_.metadata()}, snapshot_.layout());
    actions_ += 2;
    snapshot_.each_transaction([&](const Transaction& transaction) {
        const bool forgotten = is_once(transaction.application) && transaction.updated &&
                               *transaction.updated < transactions_since_;
        if (forgotten) return;
        text += to_text(transaction, snapshot_.layout());
        actions_ += 1;
    });
    return text;
}

std::string CheckpointText::block_text(const Block& block) {
    std::string text;
    for (std::size_t at = 0; at < block.size(); ++at) {
        if (block.is_live(at)) {
            AddObject add = block.object(at, snapshot_.layout());
            add.data_change = false;
            text += to_text(add, snapshot_.layout());
        } else if (block.removed(at) >= removals_since_) {
            text += to_text(RemoveObject{.key = std::string(block.key(at)),
                                         .removed = block.removed(at),
                                         .data_change = false},
                            snapshot_.layout());
        } else {
            continue;
        }
        actions_ += 1;
    }
    return text;
}

}  // namespace baton::tables
