#include "coordinator/upkeep/upkeep_loop.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"
#include "base/text.h"
#include "coordinator/control/catalog_door.h"

namespace baton::coordinator {

namespace {

using Found = tables::upkeep_event::LookEnded::Found;

EntitySet only_tables() {
    EntitySet entities;
    entities.set(static_cast<std::size_t>(kinds::Entity::table));
    return entities;
}

bool is_kept(const Table& table) {
    return table.type == "Delta";
}

// Changes of the catalog, before and now. No keys: anything may have changed.
std::set<EntityKey> both(std::optional<std::set<EntityKey>> before,
                         const std::set<EntityKey>& now) {
    if (!before) return now;
    if (before->empty() || now.empty()) return {};
    before->insert(now.begin(), now.end());
    return *std::move(before);
}

}  // namespace

void UpkeepLoop::Inbox::post(tables::UpkeepEvent event) {
    {
        const std::lock_guard lock(mutex);
        events.push_back(std::move(event));
    }
    bell.ring();
}

UpkeepLoop::UpkeepLoop(const UpkeepLoopOptions& options, World world)
    : options_(options),
      world_(std::move(world)),
      schedule_(options.schedule, options.seed),
      registration_(world_.feed.listen(only_tables(),
                                       [box = inbox_](const std::set<EntityKey>& keys) {
                                           {
                                               const std::lock_guard lock(box->mutex);
                                               box->changed = both(std::move(box->changed), keys);
                                           }
                                           box->bell.ring();
                                       })),
      lane_(options.schedule.looks_max + 1, options.schedule.looks_max + 1) {
    inbox_->changed.emplace();
    thread_ = std::thread([this] { run(); });
}

UpkeepLoop::~UpkeepLoop() {
    closing_ = true;
    inbox_->bell.ring();
    thread_.join();
    lane_.close();
}

void UpkeepLoop::rows_added(const std::string& table) {
    {
        const std::lock_guard lock(inbox_->mutex);
        inbox_->added.insert(table);
    }
    inbox_->bell.ring();
}

bool UpkeepLoop::is_over() const {
    return closing_ || (world_.guard.may_act && !world_.guard.may_act());
}

std::vector<tables::UpkeepEvent> UpkeepLoop::take_in() {
    const std::lock_guard lock(inbox_->mutex);
    std::vector<tables::UpkeepEvent> events = std::exchange(inbox_->events, {});
    for (const std::string& name : std::exchange(inbox_->added, {})) {
        events.emplace_back(tables::upkeep_event::RowsAdded{name});
    }
    if (const auto more = std::exchange(inbox_->changed, std::nullopt)) {
        changed_ = both(std::exchange(changed_, std::nullopt), *more);
    }
    events.emplace_back(tables::upkeep_event::Tick{});
    return events;
}

void UpkeepLoop::look_at_catalog() {
    if (!changed_ || read_at_ > world_.clock.now()) return;
    const Result<Done> read = read_tables(*changed_);
    report("the catalog", trouble_, read);
    if (read) changed_.reset();
    read_at_ = read ? Instant() : world_.clock.now() + options_.again_after;
}

void UpkeepLoop::run() {
    while (!closing_) {
        const std::vector<tables::UpkeepEvent> events = take_in();
        look_at_catalog();
        for (const tables::UpkeepEvent& event : events) {
            carry_out(schedule_.step(world_.clock.now(), event));
        }
        if (folders_at_ <= world_.clock.now()) look_at_folders();
        Instant until = folders_at_;
        if (const auto next = schedule_.wake_at()) until = std::min(until, *next);
        if (changed_) until = std::min(until, read_at_);
        const Instant now = world_.clock.now();
        if (until > now) inbox_->bell.wait(until, now);
    }
}

// ---- tables of the catalog ----------------------------------------------------------------------

Result<Done> UpkeepLoop::read_tables(const std::set<EntityKey>& changed) {
    TRY_ASSIGN(snapshot, world_.readers.snapshot());
    if (changed.empty()) {
        TRY_ASSIGN(all, snapshot.read().all<Table>());
        tables_.clear();
        for (Table& table : all) {
            if (is_kept(table)) tables_.insert_or_assign(table.name, std::move(table));
        }
    }
    for (const EntityKey& key : changed) {
        TRY_ASSIGN(table, snapshot.read().find<Table>(key.key));
        tables_.erase(key.key);
        if (table && is_kept(*table)) tables_.insert_or_assign(key.key, *std::move(table));
    }
    tables::upkeep_event::TablesListed listed;
    for (const auto& [name, table] : tables_) listed.names.push_back(name);
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(memories_, [&](const auto& one) { return !tables_.contains(one.first); });
    }
    carry_out(schedule_.step(world_.clock.now(), std::move(listed)));
    return Done{};
}

void UpkeepLoop::carry_out(const std::vector<tables::UpkeepEffect>& effects) {
    for (const tables::UpkeepEffect& effect : effects) {
        std::visit(Overload{
                       [&](const tables::NoteVersion& one) { note(one.table); },
                       [&](const tables::LookAfter& one) { look(one); },
                   },
                   effect);
    }
}

void UpkeepLoop::submit(catalog::Request request, std::function<void(bool)> ended) {
    std::vector<catalog::Request> requests;
    requests.push_back(std::move(request));
    const auto posted = world_.commits.submit(
        bundle_of(std::move(requests), world_.clock),
        [ended](const Outcome& outcome) { ended(result_of(outcome).has_value()); });
    if (!posted) ended(false);
}

void UpkeepLoop::note(const std::string& name) {
    const auto ended = [box = inbox_, name](bool well) {
        box->post(tables::upkeep_event::NoteEnded{.table = name, .failed = !well});
    };
    const auto found = tables_.find(name);
    if (found == tables_.end() || is_over()) return ended(true);
    const auto opened = world_.tables.open(found->second);
    const tables::SharedSnapshot known = opened ? (*opened)->log->known() : nullptr;
    if (known == nullptr || known->version() < 0) return ended(true);
    const tables::Totals& totals = known->totals();
    catalog::request::NoteTable note{.name = name,
                                     .version = static_cast<std::uint64_t>(known->version()),
                                     .rows = totals.rows,
                                     .objects = totals.objects,
                                     .bytes = totals.bytes};
    if (totals.unknown > 0) note.rows.reset();
    const Table& table = found->second;
    if (table.version == note.version && table.rows == note.rows && table.objects == note.objects &&
        table.bytes == note.bytes) {
        return ended(true);
    }
    world_.counts.notes += 1;
    submit(std::move(note), ended);
}

// ---- looks --------------------------------------------------------------------------------------

void UpkeepLoop::look(const tables::LookAfter& wanted) {
    const auto found = tables_.find(wanted.table);
    const auto end = [box = inbox_, name = wanted.table](Found result) {
        box->post(tables::upkeep_event::LookEnded{.table = name, .found = result});
    };
    if (found == tables_.end()) return end(Found::nothing);
    const auto work = [this, wanted, end, table = found->second](bool may) {
        if (!may || is_over()) return end(Found::nothing);
        // Files of a location that users chose may be theirs: VACUUM removes them, if asked.
        const tables::KeepUpOutcome outcome =
            tables::keep_up(world_.tables, table,
                            {.old_log_files = wanted.thorough,
                             .left_behind = wanted.thorough && table.managed,
                             .given_up = [this] { return is_over(); }});
        count(outcome.did);
        end(found_by(wanted.table, outcome));
    };
    if (!lane_.post({}, work)) end(Found::trouble);
}

void UpkeepLoop::count(const tables::KeptUp& did) {
    world_.counts.looks += 1;
    world_.counts.merges += did.merges;
    world_.counts.merged_objects += did.merged;
    world_.counts.conflicts += did.conflicts;
    world_.counts.expired_objects += did.expired;
    world_.counts.checkpoints += did.checkpoint ? 1 : 0;
    world_.counts.deleted_files += did.deleted;
}

Found UpkeepLoop::found_by(const std::string& name, const tables::KeepUpOutcome& outcome) {
    if (is_over()) return Found::nothing;
    const std::lock_guard lock(mutex_);
    Memory& memory = memories_[name];
    report("table " + in_quotes(name), memory.trouble, outcome.result);
    if (!outcome.result) return Found::trouble;
    if (outcome.did.more) return Found::more;
    const std::int64_t version = outcome.did.snapshot ? outcome.did.snapshot->version() : -1;
    const bool changed = std::exchange(memory.version, version) != version;
    return changed ? Found::something : Found::nothing;
}

// A line when trouble begins, changes or ends.
void UpkeepLoop::report(const std::string& what, std::string& before, const Result<Done>& result) {
    if (!result) world_.counts.failures += 1;
    const std::string trouble = result ? std::string() : to_string(result.error());
    if (trouble == before || world_.log == nullptr) return;
    before = trouble;
    if (trouble.empty()) {
        world_.log->info("upkeep of " + what + " works again");
    } else {
        world_.log->warn("upkeep of " + what + " failed: " + trouble);
    }
}

// ---- tables that were dropped -------------------------------------------------------------------

void UpkeepLoop::look_at_folders() {
    folders_at_ = world_.clock.now() + options_.folders_every;
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(folders_busy_, true)) return;
    }
    const auto work = [this](bool may) {
        const Result<Done> result = may && !is_over() ? delete_folders() : Result<Done>(Done{});
        const std::lock_guard lock(mutex_);
        if (!is_over()) report("dropped tables", folder_trouble_, result);
        folders_busy_ = false;
    };
    if (!lane_.post({}, work)) work(false);
}

Result<Done> UpkeepLoop::delete_folders() {
    std::vector<catalog::DroppedTable> dropped;
    std::set<std::string> used;
    {
        TRY_ASSIGN(snapshot, world_.readers.snapshot());
        TRY_ASSIGN(all, snapshot.read().dropped_tables());
        dropped = std::move(all);
        if (dropped.empty()) return Done{};
        TRY_ASSIGN(tables, snapshot.read().all<Table>());
        for (const Table& table : tables) {
            if (table.managed) used.insert(table.location);
        }
    }
    const WallTime since = world_.clock.wall_now() - options_.dropped_after;
    Result<Done> result = Done{};
    for (const catalog::DroppedTable& one : dropped) {
        if (one.dropped > since || used.contains(one.location)) continue;
        if (is_over()) return Done{};
        const Result<Done> gone = delete_dropped(one.location);
        if (!gone && result) result = gone;
    }
    return result;
}

Result<Done> UpkeepLoop::delete_dropped(const std::string& location) {
    TRY_ASSIGN(empty, tables::delete_folder(world_.tables, location, [this] { return is_over(); }));
    // A slow writer may have added an object just now: it is looked at once more.
    if (!empty) return Done{};
    world_.counts.deleted_folders += 1;
    submit(catalog::request::ForgetDroppedTable{.location = location}, [](bool /*well*/) {});
    return Done{};
}

}  // namespace baton::coordinator
