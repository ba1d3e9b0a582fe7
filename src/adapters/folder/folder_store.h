// FolderStore keeps the objects of a store as files below a folder of this machine, for all
// processes of the machine at once.
//
// A put() writes a temporary file in the private directory `.baton` of the folder, syncs it,
// renames it to its place and syncs the directory: a file is whole or not there, and durable once
// stored.
//   - IfAbsent is the rename that replaces nothing (RENAME_NOREPLACE).
//   - Every put() that may replace a file compares and renames under a lock (flock) of the folder,
//     and so does remove(). It is held for microseconds, never over a sync.
// An etag is made of the file's inode, size and time in nanoseconds. A writer sets the time from
// the clock, and at least a nanosecond past the version that it replaces, so that no two versions
// of a key have one etag although inodes are used again. A writer that was killed leaves its
// temporary file. It is removed when its lock is free and it is old, when a store is opened and
// every hour.
//
// Names:    a key is a path. So a key cannot lie below another one ("a" and "a/b"), a part has 255
//           bytes at most, and ".baton" is taken. Symbolic links in the folder are not followed and
//           are no objects; the folder itself may be one.
// Refused:  file systems of a network (file_systems.h), and those without nanoseconds.
// Stamps are not kept: an attempt in a folder knows what it did.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "adapters/folder/places.h"
#include "adapters/folder/stop.h"
#include "adapters/folder/temporary_file.h"
#include "adapters/system/open_file.h"
#include "ports/clock.h"
#include "ports/store_attempts.h"

namespace baton::folder {

struct FolderOptions {
    std::string path;  // made if it is not there
    Duration leftovers_age = std::chrono::minutes(10);
};

// Its inode and its birth: inodes are used again.
using DirectoryIdentity = std::pair<std::uint64_t, std::int64_t>;
struct DirectoryGone {};

class FolderStore : public StoreAttempts {
public:
    // Fails with store_refused, store_unfit or store_unavailable.
    static Result<std::unique_ptr<FolderStore>> open(const FolderOptions& options,
                                                     const Clock& clock);

    Attempted<GotWithStamp> get(const std::string& key, const GetOptions& options,
                                const AttemptCall& call) override;
    Attempted<PutOutcome> put(const std::string& key, const PutAttempt& put,
                              const AttemptCall& call) override;
    Attempted<ListPage> list(const ListOptions& options, const AttemptCall& call) override;
    Attempted<Done> remove(std::span<const std::string> keys, const AttemptCall& call) override;

    [[nodiscard]] std::optional<std::string> path_of(const std::string& key) const override;
    [[nodiscard]] std::string url() const override;

private:
    FolderStore(FolderOptions options, std::string path, system::OpenFile folder,
                system::OpenFile hidden, const Clock& clock);

    using PutResult = std::variant<PutOutcome, AttemptFailure>;
    using Published = std::variant<PutOutcome, AttemptFailure, DirectoryGone>;

    [[nodiscard]] std::optional<AttemptFailure> fault_of(const std::string& key) const;
    PutResult publish(const std::string& key, const PutCondition& condition, TemporaryFile& file,
                      const Stop& stop);
    Published rename_new(const Place& place, TemporaryFile& file) const;
    Published replace(const Place& place, const PutCondition& condition, TemporaryFile& file,
                      const Stop& stop) const;
    // The file's name, and those of the directories above it. A failure is `unknown`.
    [[nodiscard]] std::optional<AttemptFailure> make_durable(const std::string& key,
                                                             const Place& place);
    std::optional<AttemptFailure> remove_one(const std::string& key, const Stop& stop) const;
    void sweep_seldom();

    const FolderOptions options_;
    const std::string path_;  // absolute, without symbolic links
    const system::OpenFile folder_;
    const system::OpenFile hidden_;  // the private directory
    const Clock& clock_;
    std::atomic<std::int64_t> swept_us_;
    std::mutex mutex_;
    std::set<DirectoryIdentity> durable_;  // as are all the directories above them
};

}  // namespace baton::folder
