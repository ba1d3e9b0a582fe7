#include "tables/access/table_access.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <random>
#include <thread>

#include "base/text.h"

namespace baton::tables {

namespace {

constexpr std::size_t kFetchersMax = 4;  // objects that a question fetches at once

// The columns of TABLE.PARTITION_BY, as the table spells them.
Result<std::vector<std::string>> partition_columns(const Table& table) {
    std::vector<std::string> columns;
    const auto option = table.options.find("PARTITION_BY");
    if (option == table.options.end()) return columns;
    std::string_view rest = std::get<std::string>(option->second);
    while (true) {
        const std::size_t comma = rest.find(',');
        std::string_view name = rest.substr(0, comma);
        while (name.starts_with(' ')) name.remove_prefix(1);
        while (name.ends_with(' ')) name.remove_suffix(1);
        const auto found = std::find_if(
            table.columns.begin(), table.columns.end(),
            [&](const SqlField& column) { return equal_ignoring_case(column.name, name); });
        if (found == table.columns.end()) {
            std::vector<std::string> known;
            for (const SqlField& column : table.columns) known.push_back(column.name);
            return Error{.code = ErrorCode::unknown_field,
                         .message = "TABLE.PARTITION_BY names " + in_quotes(name) +
                                    ", which is no column of table " + in_quotes(table.name),
                         .hint = did_you_mean(name, known)};
        }
        columns.push_back(found->name);
        if (comma == std::string_view::npos) return columns;
        rest.remove_prefix(comma + 1);
    }
}

// A random UUID, of version 4.
std::string made_up_uuid() {
    constexpr std::string_view kDigits = "0123456789abcdef";
    constexpr std::string_view kForm = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
    std::random_device dice;
    std::string uuid;
    for (const char c : kForm) uuid += c == 'x' ? kDigits[dice() % kDigits.size()] : c;
    return uuid;
}

UpkeepOptions upkeep_of(const Table& table, UpkeepOptions options) {
    const auto days = table.options.find("RETENTION_DAYS");
    if (days != table.options.end()) {
        options.retention_days = static_cast<std::uint32_t>(std::get<std::int64_t>(days->second));
    }
    return options;
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> TableAccess::managed_store() {
    if (!parts_.default_store.empty()) return parts_.stores->open(parts_.default_store);
    return Error{.code = ErrorCode::missing_configuration,
                 .message = "this coordinator has no store for tables",
                 .hint = "set tables.store to a URL that all coordinators share"};
}

Result<std::shared_ptr<OpenTable>> TableAccess::open_new(const Table& table) {
    if (table.managed && parts_.default_store.empty()) {
        return Error{.code = ErrorCode::missing_configuration,
                     .message = "cannot open table " + in_quotes(table.name) +
                                ": this coordinator has no store for tables",
                     .hint =
                         "set tables.store to a URL that all coordinators share, or give the "
                         "table a TABLE.LOCATION"};
    }
    const std::string& url = table.managed ? parts_.default_store : table.location;
    TRY_ASSIGN(store, parts_.stores->open(url));
    const std::string folder = table.managed ? table.location + "/" : "";
    auto log = std::make_shared<TableLog>(TableLogParts{.store = store,
                                                        .folder = folder,
                                                        .clock = parts_.clock,
                                                        .checkpoints = parts_.checkpoints,
                                                        .temporary_folder = parts_.work_folder,
                                                        .engine = parts_.engine_name,
                                                        .process = parts_.process,
                                                        .upkeep = upkeep_of(table, parts_.upkeep)});
    return std::make_shared<OpenTable>(OpenTable{.store = std::move(store),
                                                 .folder = folder,
                                                 .log = std::move(log),
                                                 .created = table.created});
}

// A caller with an older row of the catalog gets the table that is there now.
std::shared_ptr<OpenTable> TableAccess::find_open(const std::string& place, WallTime created) {
    const auto found = by_place_.find(place);
    if (found == by_place_.end()) return nullptr;
    if (found->second->second->created < created) {
        recent_.erase(found->second);
        by_place_.erase(found);
        return nullptr;
    }
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second;
}

Result<std::shared_ptr<OpenTable>> TableAccess::open(const Table& table) {
    const std::string place = place_of(table);
    {
        const std::lock_guard lock(mutex_);
        if (auto found = find_open(place, table.created)) return found;
    }
    TRY_ASSIGN(opened, open_new(table));
    const std::lock_guard lock(mutex_);
    if (auto found = find_open(place, table.created)) return found;
    recent_.emplace_front(place, opened);
    by_place_[place] = recent_.begin();
    if (recent_.size() > parts_.tables_max) {
        by_place_.erase(recent_.back().first);
        recent_.pop_back();
    }
    return opened;
}

Result<Done> TableAccess::create(const Table& table, const StoreCall& call) {
    TRY_ASSIGN(opened, open(table));
    TRY_ASSIGN(partitions, partition_columns(table));
    TRY_ASSIGN(snapshot, opened->log->create({.id = made_up_uuid(),
                                              .name = table.name,
                                              .columns = table.columns,
                                              .partition_by = std::move(partitions)},
                                             call));
    return Done{};
}

Result<LocalFile> TableAccess::local_file(const OpenTable& table, const TableObject& object,
                                          const StoreCall& call) {
    const std::string key = table.key(object);
    if (auto path = table.store->path_of(key)) return LocalFile{.path = *path, .held = nullptr};
    if (parts_.objects != nullptr) return parts_.objects->fetch(*table.store, key, object, call);
    return Error{.code = ErrorCode::not_supported,
                 .message = "tables in " + table.store->url() + " cannot be read here",
                 .hint = "this process keeps no copies of objects"};
}

Result<Done> TableAccess::check_room(const std::vector<TableObject>& objects) const {
    std::uint64_t bytes = 0;
    for (const TableObject& object : objects) bytes += object.bytes;
    if (parts_.objects == nullptr || bytes <= parts_.objects->bytes_max()) return Done{};
    return Error{.code = ErrorCode::too_large,
                 .message = "the question reads objects of " + std::to_string(bytes) +
                            " bytes, and copies of objects take " +
                            std::to_string(parts_.objects->bytes_max()) + " together",
                 .hint =
                     "ask for fewer rows by a column of TABLE.PARTITION_BY, or raise "
                     "tables.cache"};
}

Result<std::vector<LocalFile>> TableAccess::local_files(const OpenTable& table,
                                                        const std::vector<TableObject>& objects,
                                                        const StoreCall& call) {
    const bool in_place = objects.empty() || table.store->path_of(table.key(objects.front()));
    if (!in_place) TRY(check_room(objects));
    std::vector<LocalFile> files(objects.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex mutex;
    std::optional<Error> error;
    StoreCall each = call;
    each.given_up = [&] { return failed || (call.given_up && call.given_up()); };
    const auto fetch = [&] {
        for (std::size_t i = next++; i < objects.size() && !failed; i = next++) {
            auto file = local_file(table, objects[i], each);
            if (file) {
                files[i] = *std::move(file);
                continue;
            }
            const std::lock_guard lock(mutex);
            if (!failed.exchange(true)) error = file.error();
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; !in_place && i < std::min(kFetchersMax, objects.size()); ++i) {
        threads.emplace_back(fetch);
    }
    fetch();
    for (std::thread& thread : threads) thread.join();
    if (error) return *error;
    return files;
}

std::string TableAccess::work_path() {
    const std::lock_guard lock(mutex_);
    paths_ += 1;
    return parts_.work_folder + "/" + parts_.process + "-" + std::to_string(paths_) + ".parquet";
}

}  // namespace baton::tables
