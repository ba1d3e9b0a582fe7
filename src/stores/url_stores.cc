#include "stores/url_stores.h"

#include <filesystem>

#include "base/overload.h"

namespace baton::stores {

namespace {

// The same for all names of one folder, also of one that is not there yet.
std::string identity_of_url(const StoreUrl& url) {
    const auto* folder = std::get_if<FolderUrl>(&url);
    if (folder == nullptr) return whole_text(url);
    std::error_code error;
    const std::filesystem::path real = std::filesystem::weakly_canonical(folder->path, error);
    std::string text = error ? folder->path : real.string();
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
}

Error not_possible(const std::string& kind) {
    return {.code = ErrorCode::not_supported,
            .message = "cannot open a store in " + kind + ": this process opens none of that kind"};
}

}  // namespace

UrlStores::UrlStores(StoreFactories factories, const Clock& clock, std::uint64_t seed)
    : factories_(std::move(factories)), clock_(clock), prng_(seed) {}

OpenedAttempts UrlStores::open_attempts(const StoreUrl& url) const {
    return std::visit(Overload{[&](const FolderUrl& folder) -> OpenedAttempts {
                                   if (!factories_.folder) return not_possible("a folder");
                                   return factories_.folder(folder);
                               },
                               [&](const S3Url& s3) -> OpenedAttempts {
                                   if (!factories_.s3) return not_possible("S3");
                                   return factories_.s3(s3);
                               }},
                      url);
}

Result<std::shared_ptr<ObjectStore>> UrlStores::open(const std::string& url) {
    TRY_ASSIGN(parsed, parse_store_url(url));
    const std::string identity = identity_of_url(parsed);
    {
        const std::lock_guard lock(mutex_);
        const auto found = stores_.find(identity);
        if (found != stores_.end()) return std::shared_ptr<ObjectStore>(found->second);
    }
    TRY_ASSIGN(attempts, open_attempts(parsed));
    const std::lock_guard lock(mutex_);
    // Another thread may have been faster: then its store is the one.
    auto& store = stores_[identity];
    if (!store) store = std::make_shared<SureStore>(std::move(attempts), clock_, prng_.next());
    return std::shared_ptr<ObjectStore>(store);
}

std::vector<StoreMeter> UrlStores::meters() const {
    const std::lock_guard lock(mutex_);
    std::vector<StoreMeter> meters;
    for (const auto& [identity, store] : stores_) {
        meters.push_back({.url = store->url(), .use = store->account().use()});
    }
    return meters;
}

}  // namespace baton::stores
