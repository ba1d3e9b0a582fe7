#include "tables/table_log.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"

namespace baton::tables {

namespace {

constexpr Duration kVerifyEvery = std::chrono::minutes(1);
constexpr std::chrono::milliseconds kLookAround(50);  // for a caller that gave up
constexpr int kAttemptsMax = 10;

Error cancelled() {
    return Error{.code = ErrorCode::cancelled, .message = "the request was cancelled"};
}

}  // namespace

TableLog::TableLog(TableLogParts parts) : parts_(std::move(parts)) {
    CHECK(parts_.store && parts_.clock != nullptr && parts_.checkpoints != nullptr);
    CHECK(parts_.folder.empty() || parts_.folder.back() == '/');
}

std::string TableLog::key(std::string_view name) const {
    return parts_.folder + std::string(name);
}

Error TableLog::no_table() const {
    return Error{
        .code = ErrorCode::damaged_table,
        .message = "there is no table at " + in_quotes(parts_.store->url() + "/" + parts_.folder)};
}

std::string TableLog::next_nonce() {
    const std::lock_guard lock(mutex_);
    nonces_ += 1;
    return parts_.process + "-" + std::to_string(nonces_);
}

CommitStamp TableLog::stamp(std::string nonce) const {
    return {.now = parts_.clock->wall_now(),
            .engine = parts_.engine,
            .nonce = std::move(nonce),
            .add_within = parts_.upkeep.deleted_after / 2};
}

SharedSnapshot TableLog::known() const {
    const std::lock_guard lock(mutex_);
    return known_.snapshot;
}

void TableLog::publish(const Known& known) {
    const std::lock_guard lock(mutex_);
    // A look at the log may take longer than a commit beside it.
    const bool older = known_.snapshot && known.loads == known_.loads &&
                       known.snapshot->version() < known_.snapshot->version();
    if (!older) known_ = known;
}

Result<SharedSnapshot> TableLog::newest(const StoreCall& call) {
    std::unique_lock lock(mutex_);
    // A refresh that began before this call may have missed what this call has to see.
    std::uint64_t needed = started_ + 1;
    for (;;) {
        if (finished_ >= needed) {
            if (!error_) return known_.snapshot;
            if (error_->code != ErrorCode::cancelled) return *error_;
            needed = started_ + 1;  // its caller gave up, this one has not
        }
        if (!refreshing_) break;
        refreshed_.wait_for(lock, kLookAround);
        if (call.given_up && call.given_up()) return cancelled();
    }
    refreshing_ = true;
    started_ += 1;
    const std::uint64_t number = started_;
    const Known from = known_;
    lock.unlock();
    Result<Known> result = refresh(from, call);
    if (result) publish(*result);
    lock.lock();
    refreshing_ = false;
    finished_ = number;
    error_ = result ? std::nullopt : std::optional(result.error());
    refreshed_.notify_all();
    if (!result) return result.error();
    return known_.snapshot;
}

Result<TableLog::Known> TableLog::refresh(Known from, const StoreCall& call) {
    const Instant now = parts_.clock->now();
    bool reload = !from.snapshot;
    if (!reload && (!from.verified || now - *from.verified >= kVerifyEvery)) {
        TRY_ASSIGN(same, is_same_log(from, call));
        reload = !same;
        from.verified = now;
    }
    if (reload) {
        TRY_ASSIGN(loaded, load(std::nullopt, call));
        if (!loaded) return no_table();
        loaded->verified = now;
        loaded->loads = from.loads + 1;
        return *std::move(loaded);
    }
    for (;;) {
        const std::string next = key(entry_key(from.snapshot->version() + 1));
        TRY_ASSIGN(got, parts_.store->get(next, {.bytes_max = parts_.limits.bytes}, call));
        const auto* entry = std::get_if<StoredObject>(&got);
        if (entry == nullptr) return from;
        TRY_ASSIGN(snapshot, apply(*from.snapshot, entry->bytes, parts_.limits));
        from.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
        from.etag = entry->etag;
    }
}

// Whether the version that is known is still in the log, and what follows it.
Result<bool> TableLog::is_same_log(const Known& known, const StoreCall& call) {
    const std::int64_t version = known.snapshot->version();
    const ListOptions options{.prefix = key(kLogFolder), .after = key(key_before(version))};
    TRY_ASSIGN(page, parts_.store->list(options, call));
    bool has_version = false;
    bool has_next = false;
    bool has_later = false;
    for (const ListedObject& object : page.objects) {
        const auto file = log_file_of(object.key.substr(parts_.folder.size()));
        if (!file) continue;
        if (!file->is_checkpoint && file->version == version) {
            if (!known.etag.empty() && object.etag != known.etag) return false;
            has_version = true;
        }
        if (file->is_checkpoint && file->version == version) has_version = true;
        if (file->version > version) has_later = true;
        if (!file->is_checkpoint && file->version == version + 1) has_next = true;
    }
    return has_version && (has_next || !has_later);
}

Result<SharedSnapshot> TableLog::at_version(std::int64_t version, const StoreCall& call) {
    TRY_ASSIGN(current, newest(call));
    if (version == current->version()) return current;
    TRY_ASSIGN(loaded, load(version, call));
    if (!loaded) return no_table();
    if (!can_be_read(*loaded->snapshot, *current, parts_.clock->wall_now(), parts_.upkeep)) {
        return Error{.code = ErrorCode::invalid_question,
                     .message = "version " + std::to_string(version) +
                                " of the table can no longer be read: objects of it were deleted",
                     .hint = "the newest is " + std::to_string(current->version())};
    }
    return loaded->snapshot;
}

Result<bool> TableLog::is_empty(const StoreCall& call) {
    ListOptions options{.prefix = parts_.folder, .entries_max = 100};
    for (;;) {
        TRY_ASSIGN(page, parts_.store->list(options, call));
        for (const ListedObject& object : page.objects) {
            const char first = object.key[parts_.folder.size()];
            if (first != '.' && first != '_') return false;
        }
        if (page.next.empty()) return true;
        options.after = page.next;
    }
}

Result<SharedSnapshot> TableLog::adopt(const TableDefinition& definition, const StoreCall& call) {
    TRY_ASSIGN(snapshot, newest(call));
    const Layout& layout = snapshot->layout();
    if (layout.columns == definition.columns && layout.partition_by == definition.partition_by) {
        return snapshot;
    }
    return Error{.code = ErrorCode::table_exists,
                 .message = "another table is at " +
                            in_quotes(parts_.store->url() + "/" + parts_.folder) +
                            ": its columns or partitions are others",
                 .hint = "choose another location, or declare the columns of that table"};
}

Result<SharedSnapshot> TableLog::create(const TableDefinition& definition, const StoreCall& call) {
    const std::string nonce = next_nonce();
    TRY_ASSIGN(entry, first_entry(definition, stamp(nonce)));
    TRY_ASSIGN(log, list_log({}, call));
    const bool exists = std::any_of(log.files.begin(), log.files.end(), [&](const auto& file) {
        return log_file_of(file.key).has_value();
    });
    if (exists) return adopt(definition, call);
    TRY_ASSIGN(empty, is_empty(call));
    if (!empty) {
        return Error{
            .code = ErrorCode::table_exists,
            .message = "other files are at " + in_quotes(parts_.store->url() + "/" + parts_.folder),
            .hint = "choose an empty location"};
    }
    {
        // Another table was here before.
        const std::lock_guard lock(mutex_);
        known_ = {.loads = known_.loads + 1};
    }
    TRY_ASSIGN(wrote, write_entry({.version = 0, .text = entry}, nonce, call));
    if (wrote == Wrote::unknown) {
        return Error{.code = ErrorCode::unknown_outcome,
                     .message = "the store does not say whether the table was made"};
    }
    // Also if it is ours: the log that counts is the one in the store.
    return adopt(definition, call);
}

Result<Committed> TableLog::commit(const CommitRequest& request, const StoreCall& call) {
    const Instant start = parts_.clock->now();
    std::unique_lock lock(mutex_);
    while (committing_) {
        committed_.wait_for(lock, kLookAround);
        if (call.given_up && call.given_up()) return cancelled();
        if (parts_.clock->now() - start > call.patience) {
            return Error{.code = ErrorCode::store_unavailable,
                         .message = "cannot commit to the table: other commits take too long"};
        }
    }
    committing_ = true;
    lock.unlock();
    Result<Committed> result = commit_in_turn(request, call);
    lock.lock();
    committing_ = false;
    committed_.notify_one();
    return result;
}

Result<Committed> TableLog::commit_in_turn(const CommitRequest& request, const StoreCall& call) {
    const std::string nonce = next_nonce();
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        TRY_ASSIGN(snapshot, newest(call));
        TRY_ASSIGN(plan, plan_commit(*snapshot, request, stamp(nonce)));
        if (std::holds_alternative<AlreadyDone>(plan)) {
            return Committed{.snapshot = snapshot, .version = snapshot->version(), .before = true};
        }
        if (const auto* conflict = std::get_if<Conflict>(&plan)) {
            return Error{.code = ErrorCode::conflict,
                         .message = "cannot commit to the table: " + conflict->reason,
                         .hint = "read the table again, then decide"};
        }
        const auto& entry = std::get<NextEntry>(plan);
        TRY_ASSIGN(wrote, write_entry(entry, nonce, call));
        if (wrote == Wrote::lost) continue;
        if (wrote == Wrote::unknown) {
            return Error{.code = ErrorCode::unknown_outcome,
                         .message = "the store does not say whether version " +
                                    std::to_string(entry.version) + " of the table is this one",
                         .hint = "look at the table before repeating it"};
        }
        Result<Snapshot> next = apply(*snapshot, entry.text, parts_.limits);
        CHECK(next);  // of our own text
        Known known{.snapshot = std::make_shared<const Snapshot>(*std::move(next))};
        {
            const std::lock_guard lock(mutex_);
            known.verified = known_.verified;
            known.loads = known_.loads;
        }
        publish(known);
        return Committed{.snapshot = known.snapshot, .version = entry.version};
    }
    return Error{.code = ErrorCode::conflict,
                 .message = "cannot commit to the table: other writers were first " +
                            std::to_string(kAttemptsMax) + " times",
                 .hint = "try again"};
}

// Until it is certain whose entry that version is: an attempt that is still on its way must not be
// followed by one under another number.
Result<TableLog::Wrote> TableLog::write_entry(const NextEntry& entry, const std::string& nonce,
                                              const StoreCall& call) {
    const std::string name = key(entry_key(entry.version));
    bool doubtful = false;
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const Result<PutOutcome> put = parts_.store->put(name, entry.text, IfAbsent{}, call);
        if (put && std::holds_alternative<Stored>(*put)) return Wrote::ours;
        if (!put && put.error().code != ErrorCode::unknown_outcome) {
            // This attempt did nothing. An earlier one may have.
            if (!doubtful) return put.error();
            return Wrote::unknown;
        }
        doubtful = doubtful || !put;
        const Result<Got> got = parts_.store->get(name, {.bytes_max = parts_.limits.bytes}, call);
        if (!got) {
            if (!doubtful) return got.error();
            return Wrote::unknown;
        }
        if (const auto* object = std::get_if<StoredObject>(&*got)) {
            return nonce_of(object->bytes, parts_.limits) == nonce ? Wrote::ours : Wrote::lost;
        }
        // Nothing is there yet: the same entry once more.
    }
    return Wrote::unknown;
}

}  // namespace baton::tables
