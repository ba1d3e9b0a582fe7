#include "app/object_stores.h"

#include <random>

#include "adapters/folder/folder_store.h"

namespace baton::app {

std::uint64_t random_seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

std::unique_ptr<stores::UrlStores> make_object_stores(const Clock& clock) {
    stores::StoreFactories factories;
    factories.folder = [&clock](const stores::FolderUrl& url) -> stores::OpenedAttempts {
        folder::FolderOptions options;
        options.path = url.path;
        auto opened = folder::FolderStore::open(options, clock);
        if (!opened) return opened.error();
        return std::unique_ptr<StoreAttempts>(*std::move(opened));
    };
    return std::make_unique<stores::UrlStores>(std::move(factories), clock, random_seed());
}

}  // namespace baton::app
