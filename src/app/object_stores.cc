#include "app/object_stores.h"

#include <random>

#include "adapters/file/allowed_files.h"
#include "adapters/folder/folder_store.h"
#include "adapters/s3/open_s3.h"
#include "adapters/targets/allowed_targets.h"
#include "core/topology/topology.h"

namespace baton::app {

namespace {

s3::S3Settings settings_of(const stores::S3Url& url) {
    s3::S3Settings settings{.bucket = url.bucket,
                            .prefix = url.prefix,
                            .endpoint = url.endpoint,
                            .region = url.region,
                            .keys = std::nullopt,
                            .url = stores::shown(url)};
    if (!url.access_key_id.empty() || !url.secret_access_key.empty()) {
        settings.keys = s3::Keys{
            .id = url.access_key_id, .secret = url.secret_access_key, .token = url.session_token};
    }
    return settings;
}

stores::StoreFactories factories_of(const Clock& clock) {
    stores::StoreFactories factories;
    factories.folder = [&clock](const stores::FolderUrl& url) -> stores::OpenedAttempts {
        folder::FolderOptions options;
        options.path = url.path;
        auto opened = folder::FolderStore::open(options, clock);
        if (!opened) return opened.error();
        return std::unique_ptr<StoreAttempts>(*std::move(opened));
    };
    factories.s3 = [&clock](const stores::S3Url& url) {
        return s3::open_s3(settings_of(url), s3::environment_of_process(), clock);
    };
    return factories;
}

// The one that plans may name.
Result<Done> check_endpoint(const stores::S3Url& url, const targets::AllowedTargets& targets) {
    constexpr std::uint16_t kHttps = 443;
    constexpr std::uint16_t kHttp = 80;
    std::string host = url.endpoint;
    std::uint16_t port = host.starts_with("http://") ? kHttp : kHttps;
    if (const auto scheme = host.find("://"); scheme != std::string::npos) {
        host.erase(0, scheme + 3);
    }
    host = host.substr(0, host.find('/'));
    if (host.empty()) return Done{};  // the service of the bucket, as its name says
    if (const auto address = topology::parse_address(host)) {
        host = address->host;
        port = address->port;
    }
    TRY_ASSIGN(addresses, targets.look_up(host, port));
    return Done{};
}

}  // namespace

std::uint64_t random_seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

std::unique_ptr<stores::UrlStores> make_object_stores(const Clock& clock) {
    return std::make_unique<stores::UrlStores>(factories_of(clock), clock, random_seed());
}

Result<std::unique_ptr<stores::UrlStores>> make_object_stores(
    const Clock& clock, const std::optional<worker::Permits>& permits) {
    if (!permits) return make_object_stores(clock);
    TRY_ASSIGN(files, files::AllowedFiles::of(permits->files));
    TRY_ASSIGN(targets, targets::AllowedTargets::of(permits->targets));
    stores::StoreFactories all = factories_of(clock);
    stores::StoreFactories some;
    some.folder = [open = all.folder, files = std::make_shared<files::AllowedFiles>(
                                          std::move(files))](const stores::FolderUrl& url) {
        const auto place = files->place(url.path + "/_delta_log/_last_checkpoint");
        return place ? open(url) : stores::OpenedAttempts(place.error());
    };
    some.s3 = [open = all.s3, targets = std::move(targets)](const stores::S3Url& url) {
        auto allowed = check_endpoint(url, targets);
        return allowed ? open(url) : stores::OpenedAttempts(allowed.error());
    };
    return std::make_unique<stores::UrlStores>(std::move(some), clock, random_seed());
}

}  // namespace baton::app
