#include "adapters/folder/folder_store.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "adapters/folder/file_systems.h"
#include "adapters/folder/folder_lock.h"
#include "adapters/folder/listing.h"
#include "base/text.h"

namespace baton::folder {

namespace {

Error cannot_use(const std::string& path, ErrorCode code, const std::string& why,
                 const std::string& hint = "") {
    return {.code = code,
            .message = "cannot use the folder " + in_quotes(path) + " as a store: " + why,
            .hint = hint};
}

template <class T>
Attempted<T> failed(AttemptFailure failure, AttemptCost cost = {.requests = 1}) {
    return {.outcome = std::move(failure), .cost = cost};
}

// The bytes of the range; false: the file is shorter than it was.
bool read_range(int file, std::uint64_t offset, std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const auto count = ::pread(file, bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(offset + done));
        if (count == 0 || (count < 0 && errno != EINTR)) return false;
        if (count > 0) done += static_cast<std::size_t>(count);
    }
    return true;
}

}  // namespace

FolderStore::FolderStore(FolderOptions options, std::string path, system::OpenFile folder,
                         system::OpenFile hidden, const Clock& clock)
    : options_(std::move(options)),
      path_(std::move(path)),
      folder_(std::move(folder)),
      hidden_(std::move(hidden)),
      clock_(clock),
      swept_us_(clock.now().time_since_epoch().count()) {}

namespace {

Result<Done> require_fit(int hidden, const std::string& path) {
    const auto kept = keeps_nanoseconds(hidden);
    if (const auto* failure = std::get_if<AttemptFailure>(&kept)) {
        const bool is_full = failure->trouble == AttemptTrouble::full;
        return cannot_use(path, is_full ? ErrorCode::store_full : ErrorCode::store_refused,
                          failure->why, failure->hint);
    }
    if (!std::get<bool>(kept)) {
        return cannot_use(path, ErrorCode::store_unfit,
                          "its file system does not keep the nanoseconds of a file's time",
                          "use a folder on ext4, XFS or Btrfs");
    }
    return Done{};
}

}  // namespace

Result<std::unique_ptr<FolderStore>> FolderStore::open(const FolderOptions& options,
                                                       const Clock& clock) {
    const std::string given = options.path.empty() ? "." : options.path;
    std::error_code error;
    std::filesystem::create_directories(given, error);
    if (error) return cannot_use(given, ErrorCode::store_refused, error.message());
    const std::filesystem::path real = std::filesystem::canonical(given, error);
    if (error) return cannot_use(given, ErrorCode::store_refused, error.message());
    system::OpenFile folder(::open(real.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct statfs where {};
    if (!folder.is_open() || ::fstatfs(*folder, &where) != 0) {
        return cannot_use(given, ErrorCode::store_refused, text_of(errno));
    }
    if (const auto name = unfit_file_system(static_cast<unsigned long>(where.f_type))) {
        return cannot_use(
            given, ErrorCode::store_unfit,
            "it is on " + std::string(*name) + ", which several machines see at different times",
            "use a folder on a disk of this machine, or an S3 bucket");
    }
    const std::string hidden_name(kPrivate);
    if (::mkdirat(*folder, hidden_name.c_str(), 0777) != 0 && errno != EEXIST) {
        const auto code =
            errno == ENOSPC || errno == EDQUOT ? ErrorCode::store_full : ErrorCode::store_refused;
        return cannot_use(given, code, "no directory can be made in it: " + text_of(errno));
    }
    system::OpenFile hidden = open_beneath(*folder, hidden_name, O_RDONLY | O_DIRECTORY);
    if (!hidden.is_open()) {
        return cannot_use(given, ErrorCode::store_refused,
                          in_quotes(kPrivate) + " in it is no directory: " + text_of(errno));
    }
    TRY(require_fit(*hidden, given));
    sweep_leftovers(*hidden, options.leftovers_age);
    std::unique_ptr<FolderStore> store(
        new FolderStore(options, real.string(), std::move(folder), std::move(hidden), clock));
    return store;
}

std::optional<AttemptFailure> FolderStore::fault_of(const std::string& key) const {
    if (is_private(key)) {
        return AttemptFailure{.trouble = AttemptTrouble::refused,
                              .why = "in a folder, " + in_quotes(kPrivate) + " is no key"};
    }
    struct stat state {};
    if (::fstat(*folder_, &state) != 0 || state.st_nlink == 0) {
        return AttemptFailure{.trouble = AttemptTrouble::refused,
                              .why = "the folder was removed",
                              .hint = "open the store again"};
    }
    return std::nullopt;
}

Attempted<GotWithStamp> FolderStore::get(const std::string& key, const GetOptions& options,
                                         const AttemptCall& /*call*/) {
    const AttemptCost asked{.requests = 1};
    const auto none = [&]() -> Attempted<GotWithStamp> {
        return {.outcome = GotWithStamp{.got = NoObject{}, .stamp = {}}, .cost = asked};
    };
    if (auto fault = fault_of(key)) return failed<GotWithStamp>(*std::move(fault));
    const system::OpenFile file = open_beneath(*folder_, key, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file.is_open()) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return none();
        return failed<GotWithStamp>(failure_of(errno, "cannot open the file"));
    }
    struct stat state {};
    if (::fstat(*file, &state) != 0) {
        return failed<GotWithStamp>(failure_of(errno, "cannot look at the file"));
    }
    if (!S_ISREG(state.st_mode)) return none();
    const std::string etag = etag_of(state);
    if (!options.unless_etag.empty() && options.unless_etag == etag) {
        return {.outcome = GotWithStamp{.got = Unchanged{}, .stamp = {}}, .cost = asked};
    }
    const auto size = static_cast<std::uint64_t>(state.st_size);
    const ByteRange range = options.range.value_or(ByteRange{});
    const std::uint64_t offset = std::min(range.offset, size);
    const std::uint64_t length = std::min(range.length.value_or(size), size - offset);
    if (length > options.bytes_max) {
        return failed<GotWithStamp>({.trouble = AttemptTrouble::too_large,
                                     .why = "it has " + std::to_string(length) +
                                            " bytes, and the caller takes " +
                                            std::to_string(options.bytes_max)});
    }
    StoredObject object{.bytes = std::string(length, '\0'), .etag = etag, .size = size};
    if (!read_range(*file, offset, object.bytes)) {
        return failed<GotWithStamp>({.trouble = AttemptTrouble::unknown,
                                     .why = "the file could not be read whole; if another program "
                                            "writes it in place, it is no object"});
    }
    return {.outcome = GotWithStamp{.got = std::move(object), .stamp = {}},
            .cost = {.requests = 1, .bytes_in = length}};
}

Attempted<ListPage> FolderStore::list(const ListOptions& options, const AttemptCall& call) {
    if (auto fault = fault_of("")) return failed<ListPage>(*std::move(fault));
    const Stop stop(clock_, call);
    auto listed = list_folder(*folder_, options, [&] { return stop(); });
    if (auto* failure = std::get_if<AttemptFailure>(&listed)) {
        const bool late = failure->trouble == AttemptTrouble::given_up;
        return failed<ListPage>(late ? stop.failure(failure->why) : std::move(*failure));
    }
    auto& page = std::get<ListPage>(listed);
    page.store_now = clock_.wall_now();
    return {.outcome = std::move(page), .cost = {.requests = 1}};
}

Attempted<Done> FolderStore::remove(std::span<const std::string> keys, const AttemptCall& call) {
    const Stop stop(clock_, call);
    for (const std::string& key : keys) {
        if (auto fault = fault_of(key)) return failed<Done>(*std::move(fault));
        if (stop()) return failed<Done>(stop.failure("it took too long"));
        if (auto failure = remove_one(key, stop)) return failed<Done>(*std::move(failure));
    }
    return {.outcome = Done{}, .cost = {.requests = 1}};
}

std::optional<AttemptFailure> FolderStore::remove_one(const std::string& key,
                                                      const Stop& stop) const {
    const Place place = place_of(*folder_, key);
    const auto is_absent = [](int error) {
        return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == EISDIR;
    };
    if (!place.directory.is_open()) {
        if (is_absent(errno)) return std::nullopt;
        return failure_of(errno, "cannot open the directory");
    }
    {
        const FolderLock lock(*hidden_, stop);
        if (!lock.is_held()) return lock.failure();
        if (::unlinkat(*place.directory, place.name.c_str(), 0) != 0) {
            if (is_absent(errno)) return std::nullopt;
            return failure_of(errno, "cannot remove the file");
        }
    }
    // Directories that are empty now. Writers that need them make them again.
    std::string path = parent_of(key);
    while (!path.empty()) {
        const Place above = place_of(*folder_, path);
        if (!above.directory.is_open() ||
            ::unlinkat(*above.directory, above.name.c_str(), AT_REMOVEDIR) != 0) {
            break;
        }
        path = parent_of(path);
    }
    const system::OpenFile left = open_beneath(*folder_, path, O_RDONLY | O_DIRECTORY);
    if (left.is_open() && ::fsync(*left) != 0)
        return failure_of(errno, "cannot sync the directory");
    return std::nullopt;
}

void FolderStore::sweep_seldom() {
    constexpr std::int64_t kEvery = Duration(std::chrono::hours(1)).count();
    const std::int64_t now = clock_.now().time_since_epoch().count();
    std::int64_t before = swept_us_;
    if (now - before < kEvery || !swept_us_.compare_exchange_strong(before, now)) return;
    sweep_leftovers(*hidden_, options_.leftovers_age);
}

std::optional<std::string> FolderStore::path_of(const std::string& key) const {
    if (is_private(key)) return std::nullopt;
    return path_ + "/" + key;
}

std::string FolderStore::url() const {
    return "file://" + path_;
}

}  // namespace baton::folder
