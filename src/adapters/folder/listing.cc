#include "adapters/folder/listing.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/folder/places.h"
#include "stores/check_key.h"

namespace baton::folder {

namespace {

// A directory's name ends with a slash, so that sorted names are sorted keys: "a-b" < "a/c".
struct Names {
    std::vector<std::string> keys;  // from the folder on
    bool more = false;              // behind the last of them
};

bool is_directory(const std::string& key) {
    return key.ends_with('/');
}

class Listing {
public:
    Listing(int folder, const ListOptions& options, const std::function<bool()>& stopped)
        : folder_(folder),
          options_(options),
          stopped_(stopped),
          entries_max_(std::clamp<std::size_t>(options.entries_max, 1, 1'000)) {}

    std::variant<ListPage, AttemptFailure> run() {
        // Deeper than this directory nothing else can match.
        const std::size_t slash = options_.prefix.rfind('/');
        walk(slash == std::string::npos ? "" : options_.prefix.substr(0, slash + 1));
        if (failure_) return *std::move(failure_);
        return std::move(page_);
    }

private:
    // Whether the page is full, or has failed.
    bool walk(const std::string& directory) {
        std::string visited;
        while (true) {
            const std::size_t most = entries_max_ + 1 - count();
            const Names names = read(directory, most, [&](const std::string& key) {
                return key > visited && may_belong(key);
            });
            for (const std::string& key : names.keys) {
                if (visit(key)) return true;
            }
            if (failure_) return true;
            if (!names.more) return false;
            visited = names.keys.back();
        }
    }

    bool visit(const std::string& key) {
        if (failure_) return true;
        if (!is_directory(key)) return add_object(key);
        const bool is_folder = options_.folders && key.size() > options_.prefix.size() &&
                               key.starts_with(options_.prefix);
        if (!is_folder) return walk(key);
        if (key <= options_.after || !has_objects(key)) return false;
        if (is_full()) return true;
        page_.folders.push_back(key);
        last_ = key;
        return false;
    }

    bool add_object(const std::string& key) {
        const system::OpenFile file = open_beneath(folder_, key, O_PATH | O_NOFOLLOW);
        struct stat state {};
        if (!file.is_open() || ::fstat(*file, &state) != 0 || !S_ISREG(state.st_mode)) {
            return false;  // removed meanwhile, or no object
        }
        if (is_full()) return true;
        page_.objects.push_back({.key = key,
                                 .etag = etag_of(state),
                                 .size = static_cast<std::uint64_t>(state.st_size),
                                 .modified = modified_of(state)});
        last_ = key;
        return false;
    }

    bool is_full() {
        if (count() < entries_max_) return false;
        page_.next = last_;
        return true;
    }

    [[nodiscard]] std::size_t count() const { return page_.objects.size() + page_.folders.size(); }

    // Directories without objects are no folders.
    bool has_objects(const std::string& directory) {
        std::string visited;
        while (true) {
            const Names names = read(directory, kNamesAtOnce,
                                     [&](const std::string& key) { return key > visited; });
            for (const std::string& key : names.keys) {
                if (!is_directory(key) || has_objects(key)) return true;
                if (failure_) return true;
            }
            if (!names.more) return false;
            visited = names.keys.back();
        }
    }

    // Whether the key, or one below it, belongs to the page.
    [[nodiscard]] bool may_belong(const std::string& key) const {
        const std::string& after = options_.after;
        if (!is_directory(key)) return key.starts_with(options_.prefix) && key > after;
        const bool in_prefix = key.starts_with(options_.prefix) || options_.prefix.starts_with(key);
        return in_prefix && (key > after || after.starts_with(key));
    }

    // The smallest names that are wanted.
    template <class Wanted>
    Names read(const std::string& directory, std::size_t most, const Wanted& wanted) {
        Names names;
        const auto stream = opened(directory);
        if (!stream) return names;
        std::size_t seen = 0;
        while (const dirent* entry = next_of(stream.get())) {
            if (++seen % kNamesAtOnce == 0 && has_stopped()) break;
            const auto key = key_of(::dirfd(stream.get()), directory, *entry);
            if (!key || !wanted(*key)) continue;
            if (names.keys.size() == most) {
                names.more = true;
                if (*key >= names.keys.front()) continue;
                std::pop_heap(names.keys.begin(), names.keys.end());
                names.keys.pop_back();
            }
            names.keys.push_back(*key);
            std::push_heap(names.keys.begin(), names.keys.end());
        }
        std::sort_heap(names.keys.begin(), names.keys.end());
        return names;
    }

    using Stream = std::unique_ptr<DIR, int (*)(DIR*)>;

    Stream opened(const std::string& directory) {
        const std::string path = directory.empty() ? "" : directory.substr(0, directory.size() - 1);
        system::OpenFile file = open_beneath(folder_, path, O_RDONLY | O_DIRECTORY);
        if (!file.is_open()) {
            const bool is_none = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
            if (!is_none) fail(errno);
            return {nullptr, ::closedir};
        }
        const int number = file.release();
        DIR* const stream = ::fdopendir(number);
        if (stream == nullptr) {
            fail(errno);
            ::close(number);
        }
        return {stream, ::closedir};
    }

    const dirent* next_of(DIR* stream) {
        errno = 0;
        const dirent* const entry = ::readdir(stream);  // of this stream alone
        if (entry == nullptr && errno != 0) fail(errno);
        return entry;
    }

    static std::optional<std::string> key_of(int directory, const std::string& path,
                                             const dirent& entry) {
        const char* const name = static_cast<const char*>(entry.d_name);
        unsigned char type = entry.d_type;
        if (type == DT_UNKNOWN) {
            struct stat state {};
            if (::fstatat(directory, name, &state, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
            type = S_ISDIR(state.st_mode) ? DT_DIR : S_ISREG(state.st_mode) ? DT_REG : DT_UNKNOWN;
        }
        if (type != DT_DIR && type != DT_REG) return std::nullopt;
        std::string key = path + name;
        // Also drops `.` and `..`, and names that other programs gave and that are no keys.
        if (!stores::check_key(key) || is_private(key)) return std::nullopt;
        if (type == DT_DIR) key += '/';
        return key;
    }

    bool has_stopped() {
        if (!stopped_ || !stopped_()) return false;
        failure_ = AttemptFailure{.trouble = AttemptTrouble::given_up, .why = "it took too long"};
        return true;
    }

    void fail(int error) { failure_ = failure_of(error, "cannot read a directory"); }

    static constexpr std::size_t kNamesAtOnce = 1'024;

    const int folder_;
    const ListOptions& options_;
    const std::function<bool()>& stopped_;
    const std::size_t entries_max_;
    ListPage page_;
    std::string last_;
    std::optional<AttemptFailure> failure_;
};

}  // namespace

std::variant<ListPage, AttemptFailure> list_folder(int folder, const ListOptions& options,
                                                   const std::function<bool()>& stopped) {
    return Listing(folder, options, stopped).run();
}

}  // namespace baton::folder
