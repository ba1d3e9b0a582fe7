#include "adapters/store_places/allowed_stores.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "base/text.h"

namespace baton::store_places {

namespace {

namespace fs = std::filesystem;

Error refused_folder(const std::string& path, const std::string& why, const std::string& hint) {
    return Error{.code = ErrorCode::not_permitted,
                 .message = "cannot keep a table in " + in_quotes(path) + ": " + why,
                 .hint = hint};
}

constexpr const char* kAllowFiles = "allow its directory with --files";

bool is_same_file(const fs::path& one, const fs::path& other) {
    struct stat first {};
    struct stat second {};
    return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Whether `path`, which has no links, is `above` or lies beneath it. The directory is compared, not
// its name: it may be mounted in several places.
bool is_beneath(fs::path path, const fs::path& above) {
    for (;;) {
        if (path == above || is_same_file(path, above)) return true;
        if (!path.has_relative_path()) return false;
        path = path.parent_path();
    }
}

// Without links, also where the end of the path is not there yet.
Result<fs::path> resolved(const std::string& path) {
    std::error_code problem;
    fs::path whole = fs::weakly_canonical(fs::absolute(path, problem), problem);
    if (!problem) {
        if (!whole.has_filename()) whole = whole.parent_path();
        return whole;
    }
    return Error{.code = ErrorCode::cannot_open,
                 .message = "cannot open " + in_quotes(path) + ": " + problem.message()};
}

struct HostAndPort {
    std::string host;
    std::uint16_t port = 0;
};

std::optional<HostAndPort> host_of(const std::string& endpoint) {
    const bool plain = endpoint.starts_with("http://");
    std::string_view rest = endpoint;
    rest.remove_prefix(std::min(rest.size(), rest.find("://") + 3));
    rest = rest.substr(0, rest.find('/'));
    HostAndPort found{.host = {}, .port = static_cast<std::uint16_t>(plain ? 80 : 443)};
    const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
    if (bracket == std::string_view::npos) return std::nullopt;
    const std::size_t colon = rest.find(':', bracket);
    found.host = bracket > 0 ? rest.substr(1, bracket - 1) : rest.substr(0, colon);
    if (found.host.empty()) return std::nullopt;
    if (colon == std::string_view::npos) return found;
    const std::string_view digits = rest.substr(colon + 1);
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), found.port);
    const bool whole = problem == std::errc() && end == digits.data() + digits.size();
    return whole && found.port != 0 ? std::optional(found) : std::nullopt;
}

}  // namespace

AllowedStores::AllowedStores(ObjectStores& stores, StoreRules rules,
                             targets::AllowedTargets targets)
    : stores_(stores), rules_(std::move(rules)), targets_(std::move(targets)) {}

Result<std::unique_ptr<AllowedStores>> AllowedStores::of(ObjectStores& stores, StoreRules rules) {
    TRY_ASSIGN(targets, targets::AllowedTargets::of(rules.targets));
    return std::unique_ptr<AllowedStores>(
        new AllowedStores(stores, std::move(rules), std::move(targets)));
}

Result<std::string> AllowedStores::allowed_folder(const std::string& path) const {
    TRY_ASSIGN(folder, resolved(path));
    for (const char* const kernel : {"/proc", "/sys", "/dev"}) {
        if (is_beneath(folder, kernel)) {
            return refused_folder(path, "it belongs to the kernel", "choose a folder of a disk");
        }
    }
    const auto& directories = rules_.files.directories;
    bool allowed = false;
    for (const std::string& directory : directories) {
        TRY_ASSIGN(above, resolved(directory.empty() ? "." : directory));
        allowed = allowed || is_beneath(folder, above);
    }
    if (!allowed) {
        return refused_folder(path,
                              directories.empty() ? "this coordinator may open no files"
                                                  : "it is in none of the allowed directories",
                              kAllowFiles);
    }
    for (const std::string& own : rules_.files.never) {
        TRY_ASSIGN(never, resolved(own));
        if (is_beneath(folder, never) || is_beneath(never, folder)) {
            return refused_folder(path, "Baton's own files are there",
                                  "choose another folder, or leave out TABLE.LOCATION");
        }
    }
    return folder.string();
}

Result<Done> AllowedStores::check_host(const stores::S3Url& url) const {
    if (url.endpoint.empty() && rules_.targets.connect_to.empty()) return Done{};
    const std::string region = url.region.empty() ? "us-east-1" : url.region;
    const auto place = url.endpoint.empty()
                           ? std::optional(HostAndPort{"s3." + region + ".amazonaws.com", 443})
                           : host_of(url.endpoint);
    if (!place) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "the endpoint of the store is no URL of a host",
                     .hint = "an endpoint is like https://minio.example:9000, without a path"};
    }
    TRY_ASSIGN(addresses, targets_.look_up(place->host, place->port));
    return Done{};
}

Result<std::shared_ptr<ObjectStore>> AllowedStores::open(const std::string& url) {
    if (!rules_.exempt.empty() && url == rules_.exempt) return stores_.open(url);
    TRY_ASSIGN(parsed, stores::parse_store_url(url));
    if (const auto* s3 = std::get_if<stores::S3Url>(&parsed)) {
        TRY(check_host(*s3));
        return stores_.open(url);
    }
    TRY_ASSIGN(folder, allowed_folder(std::get<stores::FolderUrl>(parsed).path));
    return stores_.open(stores::url_of_path(folder));
}

}  // namespace baton::store_places
