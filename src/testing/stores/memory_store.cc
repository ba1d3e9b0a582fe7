#include "testing/stores/memory_store.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/overload.h"
#include "base/text.h"
#include "ports/store_account.h"

namespace baton::testing {

namespace {

constexpr std::size_t kPageMax = 1'000;

WallTime time_of(std::uint64_t version) {
    return WallTime(std::chrono::seconds(version));
}

Result<std::string> bytes_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return Error{.code = ErrorCode::cannot_read,
                     .message = "cannot read " + in_quotes(path) + " to store it"};
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void count(const StoreCall& call, StoreRequest kind, std::uint64_t in, std::uint64_t out) {
    if (call.account == nullptr) return;
    StoreUse use;
    use.requests[static_cast<std::size_t>(kind)] = 1;
    use.bytes_in = in;
    use.bytes_out = out;
    call.account->add(use);
}

bool has_given_up(const std::function<bool()>& given_up) {
    return given_up && given_up();
}

Error cancelled_call() {
    return Error{.code = ErrorCode::cancelled, .message = "the caller gave up the call to a store"};
}

std::uint64_t size_of(const Got& got) {
    const auto* object = std::get_if<StoredObject>(&got);
    return object == nullptr ? 0 : object->bytes.size();
}

}  // namespace

ListPage page_of(const std::map<std::string, ListedObject>& objects, const ListOptions& options) {
    ListPage page;
    const std::size_t entries_max = std::clamp<std::size_t>(options.entries_max, 1, kPageMax);
    std::string last;
    for (const auto& [key, object] : objects) {
        if (!key.starts_with(options.prefix)) continue;
        const std::size_t slash =
            options.folders ? key.find('/', options.prefix.size()) : std::string::npos;
        const std::string name = slash == std::string::npos ? key : key.substr(0, slash + 1);
        if (name <= options.after || name == last) continue;
        if (page.objects.size() + page.folders.size() == entries_max) {
            page.next = last;
            break;
        }
        last = name;
        if (slash == std::string::npos) {
            page.objects.push_back(object);
        } else {
            page.folders.push_back(name);
        }
    }
    return page;
}

Result<GotWithStamp> MemoryStore::look(const std::string& key, const GetOptions& options) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return GotWithStamp{.got = NoObject{}};
    const Object& object = found->second;
    if (!options.unless_etag.empty() && options.unless_etag == object.entry.etag) {
        return GotWithStamp{.got = Unchanged{}};
    }
    const ByteRange range = options.range.value_or(ByteRange{});
    const std::size_t from = std::min<std::size_t>(range.offset, object.bytes.size());
    std::string bytes = object.bytes.substr(from, range.length.value_or(std::string::npos));
    if (bytes.size() > options.bytes_max) {
        return Error{.code = ErrorCode::too_large,
                     .message = "the object " + in_quotes(key) + " has " +
                                std::to_string(bytes.size()) + " bytes, and the caller takes " +
                                std::to_string(options.bytes_max)};
    }
    return GotWithStamp{.got = StoredObject{.bytes = std::move(bytes),
                                            .etag = object.entry.etag,
                                            .size = object.bytes.size()},
                        .stamp = object.stamp};
}

PutOutcome MemoryStore::store(const std::string& key, std::string bytes,
                              const PutCondition& condition, std::string stamp) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    const bool holds = std::visit(Overload{[](const Always&) { return true; },
                                           [&](const IfAbsent&) { return found == objects_.end(); },
                                           [&](const IfUnchanged& unchanged) {
                                               return found != objects_.end() &&
                                                      found->second.entry.etag == unchanged.etag;
                                           }},
                                  condition);
    if (!holds) return ConditionFailed{};
    const std::string etag = "v" + std::to_string(++versions_);
    const ListedObject entry{
        .key = key, .etag = etag, .size = bytes.size(), .modified = time_of(versions_)};
    objects_[key] = Object{.bytes = std::move(bytes), .stamp = std::move(stamp), .entry = entry};
    ++puts_[key];
    return Stored{.etag = etag};
}

ListPage MemoryStore::page(const ListOptions& options) const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, ListedObject> entries;
    for (const auto& [key, object] : objects_) entries.emplace(key, object.entry);
    ListPage page = page_of(entries, options);
    page.store_now = time_of(versions_);
    return page;
}

void MemoryStore::drop(std::span<const std::string> keys) {
    const std::lock_guard lock(mutex_);
    for (const std::string& key : keys) objects_.erase(key);
}

Result<Got> MemoryStore::get(const std::string& key, const GetOptions& options,
                             const StoreCall& call) {
    if (has_given_up(call.given_up)) return cancelled_call();
    auto found = look(key, options);
    if (!found) return found.error();
    count(call, StoreRequest::get, size_of(found->got), 0);
    return found->got;
}

Result<PutOutcome> MemoryStore::put(const std::string& key, std::string_view bytes,
                                    const PutCondition& condition, const StoreCall& call) {
    if (has_given_up(call.given_up)) return cancelled_call();
    count(call, StoreRequest::put, 0, bytes.size());
    return store(key, std::string(bytes), condition, "");
}

Result<PutOutcome> MemoryStore::put_file(const std::string& key, const std::string& path,
                                         const PutCondition& condition, const StoreCall& call) {
    TRY_ASSIGN(bytes, bytes_of_file(path));
    return put(key, bytes, condition, call);
}

Result<ListPage> MemoryStore::list(const ListOptions& options, const StoreCall& call) {
    if (has_given_up(call.given_up)) return cancelled_call();
    count(call, StoreRequest::list, 0, 0);
    return page(options);
}

Result<Done> MemoryStore::remove(const std::vector<std::string>& keys, const StoreCall& call) {
    if (has_given_up(call.given_up)) return cancelled_call();
    count(call, StoreRequest::remove, 0, 0);
    drop(keys);
    return Done{};
}

Attempted<GotWithStamp> MemoryStore::get(const std::string& key, const GetOptions& options,
                                         const AttemptCall& /*call*/) {
    auto found = look(key, options);
    if (!found) {
        return {.outcome = AttemptFailure{.trouble = AttemptTrouble::too_large,
                                          .why = found.error().message},
                .cost = {.requests = 1}};
    }
    const std::uint64_t bytes = size_of(found->got);
    return {.outcome = *std::move(found), .cost = {.requests = 1, .bytes_in = bytes}};
}

Attempted<PutOutcome> MemoryStore::put(const std::string& key, const PutAttempt& put,
                                       const AttemptCall& /*call*/) {
    std::string bytes;
    if (const auto* file = std::get_if<PutFile>(&put.body)) {
        auto read = bytes_of_file(file->path);
        if (!read) {
            return {.outcome = AttemptFailure{.trouble = AttemptTrouble::refused,
                                              .why = read.error().message},
                    .cost = {}};
        }
        bytes = *std::move(read);
    } else {
        bytes = std::get<std::string_view>(put.body);
    }
    const AttemptCost cost{.requests = 1, .bytes_out = bytes.size()};
    return {.outcome = store(key, std::move(bytes), put.condition, put.stamp), .cost = cost};
}

Attempted<ListPage> MemoryStore::list(const ListOptions& options, const AttemptCall& /*call*/) {
    return {.outcome = page(options), .cost = {.requests = 1}};
}

Attempted<Done> MemoryStore::remove(std::span<const std::string> keys,
                                    const AttemptCall& /*call*/) {
    drop(keys);
    return {.outcome = Done{}, .cost = {.requests = 1}};
}

std::optional<std::string> MemoryStore::path_of(const std::string& /*key*/) const {
    return std::nullopt;
}

std::map<std::string, std::string> MemoryStore::contents() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::string> contents;
    for (const auto& [key, object] : objects_) contents.emplace(key, object.bytes);
    return contents;
}

std::size_t MemoryStore::stored_puts(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = puts_.find(key);
    return found == puts_.end() ? 0 : found->second;
}

}  // namespace baton::testing
