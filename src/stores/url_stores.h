// UrlStores opens the stores that URLs name, each once: ObjectStores over factories of attempts,
// which the program hands in, since it alone knows adapters.
//
// A store stays open as long as this. Stores are the same if their URLs are, secrets included; a
// folder by its real path. Any thread; opening one store does not wait for another.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ports/clock.h"
#include "ports/object_store.h"
#include "ports/store_account.h"
#include "ports/store_attempts.h"
#include "stores/store_url.h"
#include "stores/sure_store.h"

namespace baton::stores {

using OpenedAttempts = Result<std::unique_ptr<StoreAttempts>>;

struct StoreFactories {
    // Empty: such URLs are refused. Each may also refuse a place with not_permitted.
    std::function<OpenedAttempts(const FolderUrl&)> folder;
    std::function<OpenedAttempts(const S3Url&)> s3;
};

class UrlStores : public ObjectStores {
public:
    // No other process may have the same seed.
    UrlStores(StoreFactories factories, const Clock& clock, std::uint64_t seed);

    Result<std::shared_ptr<ObjectStore>> open(const std::string& url) override;

    // Of every store that is open, in the order of their URLs.
    [[nodiscard]] std::vector<StoreMeter> meters() const;

private:
    [[nodiscard]] OpenedAttempts open_attempts(const StoreUrl& url) const;

    const StoreFactories factories_;
    const Clock& clock_;
    mutable std::mutex mutex_;
    Prng prng_;
    std::map<std::string, std::shared_ptr<SureStore>> stores_;
};

}  // namespace baton::stores
