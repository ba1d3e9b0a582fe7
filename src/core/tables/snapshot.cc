#include "core/tables/snapshot.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"
#include "base/text.h"
#include "core/tables/protocol.h"

namespace baton::tables {

namespace {

constexpr std::size_t kBlockSize = 256;  // objects in a block, on average, at most
constexpr std::size_t kApplicationBytesMax = 1'000;
constexpr std::size_t kBlocksMax = 1ULL << 20U;

Error damaged_history(const std::string& why) {
    return Error{.code = ErrorCode::damaged_table, .message = "the table's log is damaged: " + why};
}

}  // namespace

Snapshot::Snapshot()
    : protocol_(std::make_shared<const Protocol>()),
      metadata_(std::make_shared<const Metadata>()),
      layout_(std::make_shared<const Layout>()),
      blocks_{std::make_shared<const Block>()} {}

std::size_t Snapshot::block_of(std::uint64_t hash) const {
    return hash & (blocks_.size() - 1);
}

std::optional<ObjectPlace> Snapshot::find(std::string_view key) const {
    const std::uint64_t hash = hash_of(key);
    const std::size_t block = block_of(hash);
    const auto at = blocks_[block]->find(key, hash);
    if (!at || !blocks_[block]->is_live(*at)) return std::nullopt;
    return ObjectPlace{.block = static_cast<std::uint32_t>(block),
                       .at = static_cast<std::uint32_t>(*at)};
}

std::optional<WallTime> Snapshot::removal_of(std::string_view key) const {
    const std::uint64_t hash = hash_of(key);
    const Block& block = *blocks_[block_of(hash)];
    const auto at = block.find(key, hash);
    if (!at || block.is_live(*at)) return std::nullopt;
    return block.removed(*at);
}

TableObject Snapshot::object(ObjectPlace place) const {
    return blocks_[place.block]->object(place.at, *layout_).object;
}

std::string_view Snapshot::key(ObjectPlace place) const {
    return blocks_[place.block]->key(place.at);
}

void Snapshot::each(const std::function<void(ObjectPlace)>& visit) const {
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        for (std::size_t at = 0; at < blocks_[block]->size(); ++at) {
            if (!blocks_[block]->is_live(at)) continue;
            visit(
                {.block = static_cast<std::uint32_t>(block), .at = static_cast<std::uint32_t>(at)});
        }
    }
}

void Snapshot::each_removed(const std::function<void(std::string_view, WallTime)>& visit) const {
    for (const auto& block : blocks_) {
        for (std::size_t at = 0; at < block->size(); ++at) {
            if (!block->is_live(at)) visit(block->key(at), block->removed(at));
        }
    }
}

std::optional<std::int64_t> Snapshot::transaction(std::string_view application) const {
    const auto& shard = transactions_[hash_of(application) % kShards];
    if (!shard) return std::nullopt;
    const auto found = shard->find(application);
    return found == shard->end() ? std::nullopt : std::optional(found->second.version);
}

void Snapshot::each_transaction(const std::function<void(const Transaction&)>& visit) const {
    for (const auto& shard : transactions_) {
        if (!shard) continue;
        for (const auto& [application, transaction] : *shard) visit(transaction);
    }
}

Result<Done> SnapshotBuilder::apply(Action action) {
    return std::visit(Overload{
                          [&](Protocol&& protocol) -> Result<Done> {
                              next_.protocol_ =
                                  std::make_shared<const Protocol>(std::move(protocol));
                              has_protocol_ = true;
                              return Done{};
                          },
                          [&](Metadata&& metadata) { return apply_metadata(std::move(metadata)); },
                          [&](AddObject&& add) { return apply_add(add); },
                          [&](RemoveObject&& remove) { return apply_remove(remove); },
                          [&](Transaction&& transaction) -> Result<Done> {
                              if (transaction.application.size() > kApplicationBytesMax) {
                                  return damaged_history("the name of an application is too long");
                              }
                              apply_transaction(std::move(transaction));
                              return Done{};
                          },
                          [&](CommitInfo&&) -> Result<Done> { return Done{}; },
                      },
                      std::move(action));
}

const Layout* SnapshotBuilder::layout() const {
    const bool known = has_metadata_ || next_.version_ >= 0;
    return known ? next_.layout_.get() : nullptr;
}

Result<Done> SnapshotBuilder::apply_metadata(Metadata metadata) {
    Layout layout{.columns = metadata.columns, .partition_by = metadata.partition_by};
    next_.metadata_ = std::make_shared<const Metadata>(std::move(metadata));
    has_metadata_ = true;
    if (layout == *next_.layout_) return Done{};
    if (layout.partition_by != next_.layout_->partition_by && next_.totals_.objects > 0) {
        return damaged_history("its partitions change while it has objects");
    }
    // Other columns: what is known of the objects is written again, by the new ones.
    for (std::size_t i = 0; i < next_.blocks_.size(); ++i) {
        auto block = std::make_shared<Block>(layout.columns.size());
        for (std::size_t at = 0; at < next_.blocks_[i]->size(); ++at) {
            const Block& from = *next_.blocks_[i];
            if (!from.is_live(at)) {
                block->add_removed({.key = std::string(from.key(at)), .removed = from.removed(at)});
                continue;
            }
            AddObject add = from.object(at, *next_.layout_);
            for (auto range = add.object.ranges.begin(); range != add.object.ranges.end();) {
                const SqlField* before = next_.layout_->find(range->first);
                const SqlField* after = layout.find(range->first);
                const bool same = after != nullptr && after->type == before->type;
                range = same ? std::next(range) : add.object.ranges.erase(range);
            }
            block->add(add, layout);
        }
        next_.blocks_[i] = std::move(block);
    }
    owned_.assign(next_.blocks_.size(), nullptr);
    next_.layout_ = std::make_shared<const Layout>(std::move(layout));
    return Done{};
}

Block& SnapshotBuilder::own(std::size_t block) {
    owned_.resize(next_.blocks_.size());
    if (!owned_[block]) {
        const Block& shared = *next_.blocks_[block];
        owned_[block] = shared.size() == 0 ? std::make_shared<Block>(next_.layout_->columns.size())
                                           : std::make_shared<Block>(shared);
        next_.blocks_[block] = owned_[block];
    }
    return *owned_[block];
}

// Twice as many blocks: each is split by the next bit of the hash.
void SnapshotBuilder::grow() {
    const std::size_t size = next_.blocks_.size();
    if (next_.entries_ < size * kBlockSize || size >= kBlocksMax) return;
    std::vector<std::shared_ptr<Block>> halves(2 * size);
    for (auto& half : halves) half = std::make_shared<Block>(next_.layout_->columns.size());
    for (std::size_t i = 0; i < size; ++i) {
        const Block& block = *next_.blocks_[i];
        for (std::size_t at = 0; at < block.size(); ++at) {
            halves[block.hash(at) & (2 * size - 1)]->copy(block, at, *next_.layout_);
        }
        if (i < owned_.size()) owned_[i].reset();
        next_.blocks_[i].reset();
    }
    next_.blocks_.assign(halves.begin(), halves.end());
    owned_ = std::move(halves);
}

void SnapshotBuilder::count(const Block& block, std::size_t at, bool in) {
    const std::uint64_t one = in ? 1 : UINT64_MAX;  // modulo 2^64, minus one
    Totals& totals = next_.totals_;
    totals.objects += one;
    totals.bytes += one * block.bytes(at);
    totals.rows += one * block.rows(at).value_or(0);
    if (!block.rows(at)) totals.unknown += one;
}

Result<Done> SnapshotBuilder::apply_add(const AddObject& add) {
    for (const std::string& name : next_.layout_->partition_by) {
        if (!add.object.partition.contains(name)) {
            return damaged_history("an object has no value of a partition column");
        }
    }
    grow();
    const std::uint64_t hash = hash_of(add.object.key);
    const std::size_t number = next_.block_of(hash);
    Block& block = own(number);
    if (const auto at = block.find(add.object.key, hash)) {
        // Added once more: the newer one counts. The rest of its block is written again.
        if (block.is_live(*at)) count(block, *at, false);
        auto rest = std::make_shared<Block>(next_.layout_->columns.size());
        for (std::size_t i = 0; i < block.size(); ++i) {
            if (i != *at) rest->copy(block, i, *next_.layout_);
        }
        next_.entries_ -= 1;
        owned_[number] = rest;
        next_.blocks_[number] = rest;
    }
    Block& to = own(number);
    to.add(add, *next_.layout_);
    next_.entries_ += 1;
    count(to, to.size() - 1, true);
    return Done{};
}

Result<Done> SnapshotBuilder::apply_remove(const RemoveObject& remove) {
    const std::uint64_t hash = hash_of(remove.key);
    grow();
    const std::size_t number = next_.block_of(hash);
    Block& block = own(number);
    if (const auto at = block.find(remove.key, hash)) {
        if (block.is_live(*at)) count(block, *at, false);
        block.remove(*at, remove.removed);
        return Done{};
    }
    block.add_removed(remove);
    next_.entries_ += 1;
    return Done{};
}

void SnapshotBuilder::apply_transaction(Transaction transaction) {
    const std::size_t shard = hash_of(transaction.application) % Snapshot::kShards;
    auto& owned = owned_transactions_[shard];
    if (!owned) {
        const auto& shared = next_.transactions_[shard];
        owned = shared ? std::make_shared<Snapshot::Transactions>(*shared)
                       : std::make_shared<Snapshot::Transactions>();
        next_.transactions_[shard] = owned;
    }
    std::string application = transaction.application;
    owned->insert_or_assign(std::move(application), std::move(transaction));
}

void SnapshotBuilder::forget_removals(WallTime before) {
    for (std::size_t i = 0; i < next_.blocks_.size(); ++i) {
        const Block& block = *next_.blocks_[i];
        const auto is_old = [&](std::size_t at) {
            return !block.is_live(at) && block.removed(at) < before;
        };
        bool any = false;
        for (std::size_t at = 0; at < block.size() && !any; ++at) any = is_old(at);
        if (!any) continue;
        auto rest = std::make_shared<Block>(next_.layout_->columns.size());
        for (std::size_t at = 0; at < block.size(); ++at) {
            if (is_old(at)) {
                next_.entries_ -= 1;
            } else {
                rest->copy(block, at, *next_.layout_);
            }
        }
        owned_.resize(next_.blocks_.size());
        owned_[i] = rest;
        next_.blocks_[i] = std::move(rest);
    }
}

Result<Snapshot> SnapshotBuilder::finish(std::int64_t version) {
    if (next_.version_ < 0 && (!has_protocol_ || !has_metadata_)) {
        return damaged_history("version " + std::to_string(version) +
                               (has_metadata_ ? " has no protocol" : " has no schema"));
    }
    if (has_protocol_ || has_metadata_) TRY(check_readable(*next_.protocol_, *next_.metadata_));
    for (const auto& block : owned_) {
        if (block) block->shrink();
    }
    owned_.clear();
    owned_transactions_ = {};
    next_.version_ = version;
    return std::move(next_);
}

Result<Snapshot> apply(const Snapshot& snapshot, std::string_view entry,
                       const EntryLimits& limits) {
    SnapshotBuilder builder(snapshot);
    const auto in_version = [&](Error error) {
        error.message += " (version " + std::to_string(snapshot.version() + 1) + ")";
        return error;
    };
    Result<std::vector<Action>> actions = read_entry(entry, builder.layout(), limits);
    if (!actions) return in_version(actions.error());
    for (Action& action : *actions) {
        const Result<Done> done = builder.apply(std::move(action));
        if (!done) return in_version(done.error());
    }
    Result<Snapshot> next = builder.finish(snapshot.version() + 1);
    if (!next) return in_version(next.error());
    return next;
}

}  // namespace baton::tables
