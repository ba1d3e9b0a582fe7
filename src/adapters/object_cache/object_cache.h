// ObjectCache keeps objects of stores as files of this machine, for engines that read files.
//
// An object is fetched in pieces, by one of the callers that want it at the same time; the others
// wait for it. A fetch that ends early, because its caller gave up or the store went away, is
// resumed by the next caller where it stopped. A whole object is compared with its size and its
// checksum, once: Parquet does not notice a flipped bit.
//
// Room:     the files and those on their way take `bytes_max` together. For a new one those that
//           were not used for the longest time make room. A file stays as long as a LocalFile of it
//           lives.
// Identity: the store, the key, the size and the checksum or `version`: an object that others
//           replace is another one.
// Restart:  the cache begins empty, and removes the files that another process left in its folder.
//
// Calls block; any thread, many at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "ports/local_objects.h"

namespace baton::object_cache {

struct ObjectCacheOptions {
    std::string folder;  // of this process alone; made if it is not there
    std::uint64_t bytes_max = 10ULL << 30U;
    std::uint64_t piece_bytes = 8ULL << 20U;
};

struct ObjectCacheUse {
    std::uint64_t files = 0;  // whole ones
    std::uint64_t bytes = 0;  // of all, as large as they will be
    std::uint64_t hits = 0;
    std::uint64_t fetched = 0;  // bytes
};

class ObjectCache final : public LocalObjects {
public:
    // Fails with cannot_open.
    [[nodiscard]] static Result<std::unique_ptr<ObjectCache>> open(ObjectCacheOptions options);
    ~ObjectCache() override;
    ObjectCache(const ObjectCache&) = delete;
    ObjectCache& operator=(const ObjectCache&) = delete;

    [[nodiscard]] Result<LocalFile> fetch(ObjectStore& store, const std::string& key,
                                          const TableObject& object,
                                          const StoreCall& call) override;
    [[nodiscard]] std::uint64_t bytes_max() const override;
    [[nodiscard]] ObjectCacheUse use() const;

private:
    class Rooms;
    explicit ObjectCache(std::shared_ptr<Rooms> rooms) : rooms_(std::move(rooms)) {}

    // Files that are in use may outlive the cache.
    const std::shared_ptr<Rooms> rooms_;
};

}  // namespace baton::object_cache
