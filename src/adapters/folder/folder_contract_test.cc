#include <memory>

#include "adapters/folder/folder_store.h"
#include "adapters/system/system_clock.h"
#include "stores/sure_store.h"
#include "testing/stores/contract.h"
#include "testing/stores/memory_store.h"

namespace baton::testing {
namespace {

// The folder lives as long as the store.
class StoreInFolder : public TemporaryDirectory, public stores::SureStore {
public:
    static std::shared_ptr<ObjectStore> open() { return std::make_shared<StoreInFolder>(); }
    StoreInFolder() : stores::SureStore(attempts(path()), clock_, 1) {}

private:
    static std::unique_ptr<StoreAttempts> attempts(const std::string& path) {
        auto store = folder::FolderStore::open({.path = path}, clock_);
        CHECK(store.has_value());
        return *std::move(store);
    }
    static inline const system::SystemClock clock_;
};

std::shared_ptr<ObjectStore> sure_memory() {
    static const system::SystemClock clock;
    return std::make_shared<stores::SureStore>(std::make_unique<MemoryStore>(), clock, 1);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         ::testing::Values(StoreContractCase{.name = "Folder",
                                                             .open = StoreInFolder::open,
                                                             .key_below_key = false},
                                           StoreContractCase{.name = "Memory",
                                                             .open = sure_memory}),
                         name_of_store_case);

}  // namespace
}  // namespace baton::testing
