// The put() of FolderStore: a temporary file, then its place.
#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/folder/folder_lock.h"
#include "adapters/folder/folder_store.h"
#include "base/text.h"

namespace baton::folder {

namespace {

constexpr std::size_t kChunk = 1U << 20U;
constexpr const char* kSlow = "it took too long to write the file";

using Fault = std::optional<AttemptFailure>;

Fault append_bytes(std::string_view bytes, TemporaryFile& file, const Stop& stop) {
    while (!bytes.empty()) {
        if (stop()) return stop.failure(kSlow);
        if (auto fault = file.append(bytes.substr(0, kChunk))) return fault;
        bytes.remove_prefix(std::min(kChunk, bytes.size()));
    }
    return std::nullopt;
}

Fault append_file(const std::string& path, TemporaryFile& file, const Stop& stop) {
    const system::OpenFile from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from.is_open()) return failure_of(errno, "cannot open " + in_quotes(path));
    std::string chunk(kChunk, '\0');
    while (true) {
        if (stop()) return stop.failure(kSlow);
        const auto count = ::read(*from, chunk.data(), chunk.size());
        if (count == 0) return std::nullopt;
        if (count < 0 && errno != EINTR) {
            return failure_of(errno, "cannot read " + in_quotes(path));
        }
        if (count < 0) continue;
        const auto size = static_cast<std::size_t>(count);
        if (auto fault = file.append(std::string_view(chunk).substr(0, size))) return fault;
    }
}

// Of a rename: the directory is gone, and can be made again.
std::variant<PutOutcome, AttemptFailure, DirectoryGone> not_renamed(int error) {
    if (error == ENOENT) return DirectoryGone{};
    return failure_of(error, "cannot rename the file to its place");
}

AttemptFailure is_a_directory() {
    return failure_of(EISDIR, "other objects lie below the key");
}

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

std::optional<DirectoryIdentity> identity_of(int directory) {
    struct statx state {};
    if (::statx(directory, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &state) != 0 ||
        (state.stx_mask & STATX_BTIME) == 0) {
        return std::nullopt;
    }
    const std::int64_t birth =
        state.stx_btime.tv_sec * kNanosecondsPerSecond + state.stx_btime.tv_nsec;
    return DirectoryIdentity(state.stx_ino, birth);
}

}  // namespace

Attempted<PutOutcome> FolderStore::put(const std::string& key, const PutAttempt& put,
                                       const AttemptCall& call) {
    sweep_seldom();
    const auto failed = [](AttemptFailure failure, std::uint64_t sent) -> Attempted<PutOutcome> {
        return {.outcome = std::move(failure), .cost = {.requests = 1, .bytes_out = sent}};
    };
    if (auto fault = fault_of(key)) return failed(*std::move(fault), 0);
    const Stop stop(clock_, call);
    auto made = TemporaryFile::make(*hidden_);
    if (auto* failure = std::get_if<AttemptFailure>(&made)) return failed(std::move(*failure), 0);
    auto& file = std::get<TemporaryFile>(made);
    const auto* from = std::get_if<PutFile>(&put.body);
    Fault fault = from != nullptr ? append_file(from->path, file, stop)
                                  : append_bytes(std::get<std::string_view>(put.body), file, stop);
    if (!fault) fault = file.finish();
    if (fault) return failed(*std::move(fault), file.size());
    auto result = publish(key, put.condition, file, stop);
    if (auto* failure = std::get_if<AttemptFailure>(&result)) {
        return failed(std::move(*failure), file.size());
    }
    const AttemptCost cost{.requests = 1, .bytes_out = file.size()};
    const auto* stored = std::get_if<Stored>(&std::get<PutOutcome>(result));
    if (stored == nullptr) return {.outcome = PutOutcome(ConditionFailed{}), .cost = cost};
    return {.outcome = PutOutcome(*stored), .cost = cost};
}

FolderStore::PutResult FolderStore::publish(const std::string& key, const PutCondition& condition,
                                            TemporaryFile& file, const Stop& stop) {
    constexpr int kTries = 100;  // others remove directories that are empty
    for (int i = 0; i < kTries; ++i) {
        Place place;
        const int error = make_place(*folder_, key, place);
        if (error == ENOENT) continue;
        if (error != 0) return failure_of(error, "cannot make the directory");
        const Published done = std::holds_alternative<IfAbsent>(condition)
                                   ? rename_new(place, file)
                                   : replace(place, condition, file, stop);
        if (std::holds_alternative<DirectoryGone>(done)) continue;
        if (const auto* failure = std::get_if<AttemptFailure>(&done)) return *failure;
        const auto& outcome = std::get<PutOutcome>(done);
        if (std::holds_alternative<ConditionFailed>(outcome)) return outcome;
        if (auto doubt = make_durable(key, place)) return *std::move(doubt);
        return outcome;
    }
    return AttemptFailure{.trouble = AttemptTrouble::not_sent,
                          .why = "its directory was removed again and again"};
}

FolderStore::Published FolderStore::rename_new(const Place& place, TemporaryFile& file) const {
    struct stat own {};
    if (::fstat(file.number(), &own) != 0) return failure_of(errno, "cannot look at the file");
    const char* const to = place.name.c_str();
    int result = ::renameat2(*hidden_, file.name().c_str(), *place.directory, to, RENAME_NOREPLACE);
    if (result == 0) {
        file.has_moved();
        return PutOutcome(Stored{.etag = etag_of(own)});
    }
    if (errno == EINVAL || errno == ENOSYS) {  // the second name makes the object
        result = ::linkat(*hidden_, file.name().c_str(), *place.directory, to, 0);
        if (result == 0) return PutOutcome(Stored{.etag = etag_of(own)});
    }
    if (errno != EEXIST) return not_renamed(errno);
    struct stat there {};
    const bool looked = ::fstatat(*place.directory, to, &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (looked && S_ISDIR(there.st_mode)) return is_a_directory();
    return PutOutcome(ConditionFailed{});
}

FolderStore::Published FolderStore::replace(const Place& place, const PutCondition& condition,
                                            TemporaryFile& file, const Stop& stop) const {
    const FolderLock lock(*hidden_, stop);
    if (!lock.is_held()) return lock.failure();
    struct stat before {};
    const bool is_there =
        ::fstatat(*place.directory, place.name.c_str(), &before, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_there && errno != ENOENT) return failure_of(errno, "cannot look at the file");
    if (const auto* unchanged = std::get_if<IfUnchanged>(&condition)) {
        const bool same = is_there && S_ISREG(before.st_mode) && etag_of(before) == unchanged->etag;
        if (!same) return PutOutcome(ConditionFailed{});
    }
    if (is_there && S_ISDIR(before.st_mode)) return is_a_directory();
    if (is_there && !is_later(file.time(), before.st_mtim)) {  // the clock was set back
        if (auto fault = file.finish(before.st_mtim)) return *std::move(fault);
    }
    struct stat own {};
    if (::fstat(file.number(), &own) != 0) return failure_of(errno, "cannot look at the file");
    if (::renameat(*hidden_, file.name().c_str(), *place.directory, place.name.c_str()) != 0) {
        return not_renamed(errno);
    }
    file.has_moved();
    return PutOutcome(Stored{.etag = etag_of(own)});
}

std::optional<AttemptFailure> FolderStore::make_durable(const std::string& key,
                                                        const Place& place) {
    constexpr std::size_t kKnownMax = 10'000;
    const auto doubt = [](int error) {
        return AttemptFailure{.trouble = AttemptTrouble::unknown,
                              .why = "the directory cannot be synced: " + text_of(error)};
    };
    if (::fsync(*place.directory) != 0) return doubt(errno);
    const auto identity = identity_of(*place.directory);
    {
        const std::lock_guard lock(mutex_);
        if (identity && durable_.count(*identity) != 0) return std::nullopt;
    }
    std::string path = parent_of(key);
    while (!path.empty()) {
        path = parent_of(path);
        const system::OpenFile above = open_beneath(*folder_, path, O_RDONLY | O_DIRECTORY);
        if (!above.is_open() || ::fsync(*above) != 0) return doubt(errno);
    }
    const std::lock_guard lock(mutex_);
    if (durable_.size() >= kKnownMax) durable_.clear();
    if (identity) durable_.insert(*identity);
    return std::nullopt;
}

}  // namespace baton::folder
