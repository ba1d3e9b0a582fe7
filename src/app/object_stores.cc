#include "app/object_stores.h"

#include <random>

#include "adapters/folder/folder_store.h"
#include "adapters/s3/open_s3.h"

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

}  // namespace

std::uint64_t random_seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

std::unique_ptr<stores::UrlStores> make_object_stores(const Clock& clock) {
    return std::make_unique<stores::UrlStores>(factories_of(clock), clock, random_seed());
}

}  // namespace baton::app
