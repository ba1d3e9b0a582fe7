// AllowedStores opens the stores of tables at the places that this process may use.
//
// A folder is beneath one of the allowed directories, once its `..` and symbolic links are
// resolved. It neither is one of Baton's own files and directories, nor lies in one, nor holds one:
// a log may name every file below its folder. The file systems of the kernel are refused. The host
// of an S3 store is one that the rules of targets allow; a store of AWS needs a rule where there
// are rules. The store that was set for all tables is exempt.
//
// Limits: another process that may write to an allowed directory can replace a folder by a link
// between the check and the use, and a name of a host is looked up again by the connection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/file/allowed_files.h"
#include "adapters/targets/allowed_targets.h"
#include "base/result.h"
#include "ports/object_store.h"
#include "stores/store_url.h"

namespace baton::store_places {

struct StoreRules {
    files::FileRules files;
    targets::TargetRules targets;
    std::string exempt;  // the URL of the store that was set; empty: none
};

class AllowedStores final : public ObjectStores {
public:
    // The stores outlive it. Fails with invalid_configuration.
    [[nodiscard]] static Result<std::unique_ptr<AllowedStores>> of(ObjectStores& stores,
                                                                   StoreRules rules);

    // Fails with not_permitted, naming the option that would allow it, and as the stores do.
    Result<std::shared_ptr<ObjectStore>> open(const std::string& url) override;

private:
    AllowedStores(ObjectStores& stores, StoreRules rules, targets::AllowedTargets targets);

    // Absolute, without symbolic links.
    [[nodiscard]] Result<std::string> allowed_folder(const std::string& path) const;
    [[nodiscard]] Result<Done> check_host(const stores::S3Url& url) const;

    ObjectStores& stores_;
    const StoreRules rules_;
    const targets::AllowedTargets targets_;
};

}  // namespace baton::store_places
