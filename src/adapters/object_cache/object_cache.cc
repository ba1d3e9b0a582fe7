#include "adapters/object_cache/object_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/text.h"
#include "threads/waiting.h"

namespace baton::object_cache {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLook{20};  // how often a waiting caller asks whether to go on

Error gave_up() {
    return Error{.code = ErrorCode::cancelled, .message = "the caller gave up a fetch"};
}

bool is_given_up(const StoreCall& call) {
    return call.given_up && call.given_up();
}

// A file descriptor for as long as it is used.
class CacheFile {
public:
    explicit CacheFile(const std::string& path)
        : path_(path),
          descriptor_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR)),
          open_problem_(descriptor_ < 0 ? errno : 0) {}
    ~CacheFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    CacheFile(const CacheFile&) = delete;
    CacheFile& operator=(const CacheFile&) = delete;

    [[nodiscard]] Result<Done> write(std::string_view bytes, std::uint64_t at) const {
        int problem = open_problem_;
        while (problem == 0 && !bytes.empty()) {
            const ssize_t count =
                ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) {
                problem = errno;
                break;
            }
            bytes.remove_prefix(static_cast<std::size_t>(count));
            at += static_cast<std::uint64_t>(count);
        }
        if (problem == 0) return Done{};
        return Error{.code = ErrorCode::cannot_write,
                     .message = "cannot write " + in_quotes(path_) + ", a copy of an object: " +
                                std::generic_category().message(problem),
                     .hint =
                         "see that the disk of the data directory has room, or lower "
                         "tables.cache"};
    }

    // As the log has it: 16 hexadecimal digits.
    [[nodiscard]] Result<std::string> checksum(const StoreCall& call) const {
        constexpr std::size_t kPart = std::size_t{1} << 20U;
        const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(
            XXH3_createState(), XXH3_freeState);
        XXH3_64bits_reset(state.get());
        std::vector<char> part(kPart);
        for (std::uint64_t at = 0;;) {
            if (is_given_up(call)) return gave_up();
            const ssize_t count =
                ::pread(descriptor_, part.data(), part.size(), static_cast<off_t>(at));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) {
                return Error{.code = ErrorCode::cannot_read,
                             .message = "cannot read " + in_quotes(path_) + ": " +
                                        std::generic_category().message(errno)};
            }
            if (count == 0) break;
            XXH3_64bits_update(state.get(), part.data(), static_cast<std::size_t>(count));
            at += static_cast<std::uint64_t>(count);
        }
        std::array<char, 20> digits{};
        std::snprintf(digits.data(), digits.size(), "%016llx",
                      static_cast<unsigned long long>(XXH3_64bits_digest(state.get())));
        return std::string(digits.data());
    }

private:
    const std::string path_;
    const int descriptor_;
    const int open_problem_;
};

// An object that is wanted, and its store.
struct Wanted {
    ObjectStore& store;
    const std::string& key;
    const TableObject& object;
    const StoreCall& call;

    [[nodiscard]] Error damaged(const std::string& how) const {
        return Error{.code = ErrorCode::damaged_table,
                     .message = "object " + in_quotes(key) + " of " + store.url() + " " + how,
                     .hint = "a copy of the object, or an older version of the table, may help"};
    }
};

}  // namespace

class ObjectCache::Rooms : public std::enable_shared_from_this<Rooms> {
public:
    explicit Rooms(ObjectCacheOptions options) : options_(std::move(options)) {}

    Result<LocalFile> fetch(const Wanted& wanted) {
        const std::uint64_t bytes = wanted.object.bytes;
        if (bytes > options_.bytes_max) {
            return Error{.code = ErrorCode::too_large,
                         .message = "object " + in_quotes(wanted.key) + " has " +
                                    std::to_string(bytes) + " bytes, and copies of objects take " +
                                    std::to_string(options_.bytes_max) + " together",
                         .hint = "raise tables.cache"};
        }
        std::unique_lock lock(mutex_);
        TRY_ASSIGN(entry, enter(lock, wanted));
        if (entry->whole) {
            hits_ += 1;
            return lease(entry);
        }
        entry->fetching = true;
        entry->error.reset();
        lock.unlock();
        auto filled = fill(*entry, wanted);
        lock.lock();
        entry->fetching = false;
        entry->whole = filled.has_value();
        changed_.notify_all();
        if (filled) return lease(entry);
        if (filled.error().code != ErrorCode::cancelled) entry->error = filled.error();
        leave(entry);
        return filled.error();
    }

    [[nodiscard]] std::uint64_t bytes_max() const { return options_.bytes_max; }

    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        for (auto at = entries_.begin(); at != entries_.end();) {
            at = (*at)->users == 0 ? drop(at) : std::next(at);
        }
    }

    ObjectCacheUse use() {
        const std::lock_guard lock(mutex_);
        ObjectCacheUse use{.files = 0, .bytes = bytes_, .hits = hits_, .fetched = fetched_};
        for (const auto& entry : entries_) use.files += entry->whole ? 1 : 0;
        return use;
    }

private:
    // Under the mutex, but for `next` and `etag`: they belong to the caller that fetches.
    struct Entry {
        std::string identity;
        std::string path;
        std::uint64_t bytes = 0;
        bool whole = false;
        bool fetching = false;
        std::size_t users = 0;
        std::uint64_t next = 0;      // all before it is in the file
        std::string etag;            // of its pieces
        std::optional<Error> error;  // of the last fetch; none: it was given up
    };
    using Shared = std::shared_ptr<Entry>;

    static std::string identity_of(const Wanted& wanted) {
        const TableObject& object = wanted.object;
        return wanted.store.url() + '\n' + wanted.key + '\n' + std::to_string(object.bytes) + '\n' +
               object.checksum + '\n' + std::to_string(object.modified.time_since_epoch().count());
    }

    // The entry, with a user more: whole, or for this caller to fetch.
    Result<Shared> enter(std::unique_lock<std::mutex>& lock, const Wanted& wanted) {
        const std::string identity = identity_of(wanted);
        const auto deadline = std::chrono::steady_clock::now() + wanted.call.patience;
        for (Shared awaited;;) {
            lock.unlock();
            const bool leaves = is_given_up(wanted.call);
            lock.lock();
            if (leaves) return gave_up();
            if (awaited && !awaited->fetching && awaited->error) return *awaited->error;
            const auto found = by_identity_.find(identity);
            if (found != by_identity_.end()) {
                awaited = *found->second;
                entries_.splice(entries_.begin(), entries_, found->second);
                if (!awaited->fetching) {
                    awaited->users += 1;
                    return awaited;
                }
            } else if (make_room(wanted.object.bytes)) {
                return begin(identity, wanted.object.bytes);
            } else if (std::chrono::steady_clock::now() >= deadline) {
                return Error{
                    .code = ErrorCode::slow_down,
                    .message = "the questions that run leave no room for a copy of object " +
                               in_quotes(wanted.key),
                    .hint = "try again in a moment, or raise tables.cache"};
            }
            const threads::Waiting waiting;
            changed_.wait_for(lock, kLook);
        }
    }

    Shared begin(const std::string& identity, std::uint64_t bytes) {
        auto entry = std::make_shared<Entry>();
        entry->identity = identity;
        entry->path = options_.folder + "/" + std::to_string(++names_) + ".parquet";
        entry->bytes = bytes;
        entry->users = 1;
        bytes_ += bytes;
        entries_.push_front(entry);
        by_identity_[identity] = entries_.begin();
        return entry;
    }

    // False: files in use take too much.
    bool make_room(std::uint64_t bytes) {
        auto at = entries_.end();
        while (bytes_ + bytes > options_.bytes_max && at != entries_.begin()) {
            --at;
            if ((*at)->users == 0) at = drop(at);
        }
        return bytes_ + bytes <= options_.bytes_max;
    }

    std::list<Shared>::iterator drop(std::list<Shared>::iterator at) {
        std::error_code ignored;
        fs::remove((*at)->path, ignored);
        bytes_ -= (*at)->bytes;
        by_identity_.erase((*at)->identity);
        return entries_.erase(at);
    }

    // The caller's use of the entry goes with the file.
    LocalFile lease(const Shared& entry) {
        const auto give_back = [self = shared_from_this(), entry](const void*) {
            const std::lock_guard lock(self->mutex_);
            self->leave(entry);
        };
        return {.path = entry->path, .held = std::shared_ptr<const void>(entry.get(), give_back)};
    }

    void leave(const Shared& entry) {
        entry->users -= 1;
        changed_.notify_all();
        const bool useless = closed_ || (!entry->whole && entry->next == 0);
        if (entry->users > 0 || !useless) return;
        const auto found = by_identity_.find(entry->identity);
        if (found != by_identity_.end()) (void)drop(found->second);
    }

    Result<Done> fill(Entry& entry, const Wanted& wanted) {
        const CacheFile file(entry.path);
        bool changed = false;
        TRY(file.write({}, 0));
        while (entry.next < entry.bytes) {
            if (is_given_up(wanted.call)) return gave_up();
            TRY_ASSIGN(piece, next_piece(entry, wanted));
            if (!entry.etag.empty() && piece.etag != entry.etag) {
                entry.next = 0;
                entry.etag.clear();
                if (std::exchange(changed, true)) {
                    return wanted.damaged("changes while it is read");
                }
                continue;
            }
            auto written = file.write(piece.bytes, entry.next);
            if (!written) {
                entry.next = 0;
                return written;
            }
            entry.etag = std::move(piece.etag);
            entry.next += piece.bytes.size();
        }
        if (wanted.object.checksum.empty()) return Done{};
        TRY_ASSIGN(checksum, file.checksum(wanted.call));
        if (checksum == wanted.object.checksum) return Done{};
        entry.next = 0;
        entry.etag.clear();
        return wanted.damaged("is damaged: its checksum is " + checksum + ", and the log says " +
                              wanted.object.checksum);
    }

    Result<StoredObject> next_piece(Entry& entry, const Wanted& wanted) {
        const std::uint64_t length = std::min(options_.piece_bytes, entry.bytes - entry.next);
        TRY_ASSIGN(got,
                   wanted.store.get(wanted.key,
                                    {.range = ByteRange{.offset = entry.next, .length = length},
                                     .unless_etag = {},
                                     .bytes_max = length},
                                    wanted.call));
        auto* piece = std::get_if<StoredObject>(&got);
        if (piece == nullptr) {
            entry.next = 0;
            return wanted.damaged("is not there");
        }
        if (piece->size != entry.bytes || piece->bytes.size() != length) {
            entry.next = 0;
            return wanted.damaged("has " + std::to_string(piece->size) +
                                  " bytes, and the log says " + std::to_string(entry.bytes));
        }
        const std::lock_guard lock(mutex_);
        fetched_ += length;
        return std::move(*piece);
    }

    const ObjectCacheOptions options_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Shared> entries_;  // the last one used comes first
    std::map<std::string, std::list<Shared>::iterator> by_identity_;
    std::uint64_t bytes_ = 0;
    std::uint64_t names_ = 0;
    std::uint64_t hits_ = 0;
    std::uint64_t fetched_ = 0;
    bool closed_ = false;
};

Result<std::unique_ptr<ObjectCache>> ObjectCache::open(ObjectCacheOptions options) {
    CHECK(options.piece_bytes > 0);
    std::error_code problem;
    fs::remove_all(options.folder, problem);
    if (!problem) fs::create_directories(options.folder, problem);
    if (!problem) fs::permissions(options.folder, fs::perms::owner_all, problem);
    if (problem) {
        return Error{.code = ErrorCode::cannot_open,
                     .message = "cannot make the folder " + in_quotes(options.folder) + ": " +
                                problem.message(),
                     .hint = "see that its disk has room, and that the folder is yours"};
    }
    return std::unique_ptr<ObjectCache>(
        new ObjectCache(std::make_shared<Rooms>(std::move(options))));
}

ObjectCache::~ObjectCache() {
    rooms_->close();
}

Result<LocalFile> ObjectCache::fetch(ObjectStore& store, const std::string& key,
                                     const TableObject& object, const StoreCall& call) {
    return rooms_->fetch({.store = store, .key = key, .object = object, .call = call});
}

std::uint64_t ObjectCache::bytes_max() const {
    return rooms_->bytes_max();
}

ObjectCacheUse ObjectCache::use() const {
    return rooms_->use();
}

}  // namespace baton::object_cache
