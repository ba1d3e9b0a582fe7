// Snapshot is a table as of one version of its log: its columns, its objects, the numbers of its
// applications. It never changes; a SnapshotBuilder makes the next one of it and of an entry. Both
// share what is the same, so that a snapshot costs a reader nothing to hold.
//
// Of removed objects and of removals the time is kept, for readers of older snapshots: an object is
// deleted some time after its removal (upkeep.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/tables/actions.h"
#include "core/tables/blocks.h"

namespace baton::tables {

// An object of one snapshot.
struct ObjectPlace {
    std::uint32_t block = 0;
    std::uint32_t at = 0;

    friend bool operator==(const ObjectPlace&, const ObjectPlace&) = default;
};

struct Totals {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rows = 0;     // of the objects that say
    std::uint64_t unknown = 0;  // objects that do not say

    friend bool operator==(const Totals&, const Totals&) = default;
};

class Snapshot {
public:
    Snapshot();  // before the first version: no table

    [[nodiscard]] std::int64_t version() const { return version_; }  // -1: no table
    [[nodiscard]] const Protocol& protocol() const { return *protocol_; }
    [[nodiscard]] const Metadata& metadata() const { return *metadata_; }
    [[nodiscard]] const Layout& layout() const { return *layout_; }
    [[nodiscard]] const Totals& totals() const { return totals_; }

    // The object of that key, if it is in the table.
    [[nodiscard]] std::optional<ObjectPlace> find(std::string_view key) const;
    // When it was removed; none if it is in the table, or unknown.
    [[nodiscard]] std::optional<WallTime> removal_of(std::string_view key) const;
    [[nodiscard]] TableObject object(ObjectPlace place) const;
    [[nodiscard]] std::string_view key(ObjectPlace place) const;
    [[nodiscard]] const std::vector<std::shared_ptr<const Block>>& blocks() const {
        return blocks_;
    }
    // In no order that means something.
    void each(const std::function<void(ObjectPlace)>& visit) const;
    void each_removed(const std::function<void(std::string_view, WallTime)>& visit) const;

    // The newest number of an application.
    [[nodiscard]] std::optional<std::int64_t> transaction(std::string_view application) const;
    void each_transaction(const std::function<void(const Transaction&)>& visit) const;

private:
    friend class SnapshotBuilder;

    using Transactions = std::map<std::string, Transaction, std::less<>>;
    static constexpr std::size_t kShards = 64;

    [[nodiscard]] std::size_t block_of(std::uint64_t hash) const;

    std::int64_t version_ = -1;
    std::shared_ptr<const Protocol> protocol_;
    std::shared_ptr<const Metadata> metadata_;
    std::shared_ptr<const Layout> layout_;
    std::vector<std::shared_ptr<const Block>> blocks_;  // 2^n, by the first bits of the hash
    std::uint64_t entries_ = 0;                         // of all blocks
    std::array<std::shared_ptr<const Transactions>, kShards> transactions_;
    Totals totals_;
};

class SnapshotBuilder {
public:
    explicit SnapshotBuilder(Snapshot base) : next_(std::move(base)) {}

    // Actions in the order in which they take effect. Fails with damaged_table.
    [[nodiscard]] Result<Done> apply(Action action);
    // Drops removals before that time: they concern no reader any longer.
    void forget_removals(WallTime before);
    [[nodiscard]] const Layout* layout() const;

    // Fails with damaged_table if there is no table yet, and with table_not_supported if this
    // version cannot read it.
    [[nodiscard]] Result<Snapshot> finish(std::int64_t version);

private:
    Result<Done> apply_add(const AddObject& add);
    Result<Done> apply_remove(const RemoveObject& remove);
    Result<Done> apply_metadata(Metadata metadata);
    void apply_transaction(Transaction transaction);

    Block& own(std::size_t block);
    void grow();
    void count(const Block& block, std::size_t at, bool in);

    Snapshot next_;
    std::vector<std::shared_ptr<Block>> owned_;  // by block; null: shared with others
    std::array<std::shared_ptr<Snapshot::Transactions>, Snapshot::kShards> owned_transactions_;
    bool has_protocol_ = false;
    bool has_metadata_ = false;
};

// The snapshot after an entry, which must be that of the next version.
[[nodiscard]] Result<Snapshot> apply(const Snapshot& snapshot, std::string_view entry,
                                     const EntryLimits& limits);

}  // namespace baton::tables
