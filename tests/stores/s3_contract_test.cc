// The contract of stores, on radosgw.
#include "adapters/s3/open_s3.h"
#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "stores/sure_store.h"
#include "testing/s3/rados_gateway.h"
#include "testing/stores/contract.h"

namespace baton::testing {
namespace {

std::shared_ptr<ObjectStore> open_store(const std::string& prefix) {
    static const system::SystemClock clock;
    static std::uint64_t seed = 1;
    s3::S3Settings settings = RadosGateway::shared().new_bucket();
    settings.prefix = prefix;
    auto attempts = s3::open_s3(settings, {{"AWS_EC2_METADATA_DISABLED", "true"}}, clock);
    CHECK(attempts);
    return std::make_shared<stores::SureStore>(*std::move(attempts), clock, ++seed);
}

// radosgw writes 300 small objects a second here: fewer than a folder has.
INSTANTIATE_TEST_SUITE_P(S3, StoreContract,
                         ::testing::Values(StoreContractCase{.name = "Bucket",
                                                             .open = [] { return open_store(""); },
                                                             .many = 1'100,
                                                             .threads = 8,
                                                             .keys = 50,
                                                             .certain = false},
                                           StoreContractCase{
                                               .name = "Prefix",
                                               .open = [] { return open_store("under/a prefix"); },
                                               .many = 1'100,
                                               .threads = 8,
                                               .keys = 50,
                                               .certain = false}),
                         name_of_store_case);

}  // namespace
}  // namespace baton::testing
