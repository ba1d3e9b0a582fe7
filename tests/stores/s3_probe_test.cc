// The probe on stores as they are: radosgw keeps the promises, s3rver ignores conditions. And the
// program itself, as a user runs it.
#include <gtest/gtest.h>

#include "adapters/s3/open_s3.h"
#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "cli/process.h"
#include "stores/lying_server.h"
#include "stores/probe.h"
#include "stores/sure_store.h"
#include "testing/s3/rados_gateway.h"

namespace baton::testing {
namespace {

const Clock& clock_of_tests() {
    static const system::SystemClock clock;
    return clock;
}

Result<stores::StoreReport> probed(const s3::S3Settings& settings) {
    auto attempts =
        s3::open_s3(settings, {{"AWS_EC2_METADATA_DISABLED", "true"}}, clock_of_tests());
    CHECK(attempts);
    stores::SureStore store(*std::move(attempts), clock_of_tests(), 7);
    return stores::probe(store, clock_of_tests(), 11, {});
}

TEST(S3ProbeTest, RadosgwKeepsThePromises) {
    const auto report = probed(RadosGateway::shared().new_bucket());
    ASSERT_TRUE(report) << to_string(report.error());
    EXPECT_TRUE(report->says_time);
    EXPECT_FALSE(report->in_place);
}

TEST(S3ProbeTest, AStoreThatIgnoresConditionsIsUnfit) {
    const LyingServer liar;
    const auto report = probed(liar.settings());
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::store_unfit) << to_string(report.error());
}

std::string url_of(const s3::S3Settings& settings, bool with_keys) {
    std::string url = "s3://" + settings.bucket + "/some/prefix?endpoint=" + settings.endpoint;
    // A plus sign and a slash of the secret are written as they have to be in a URL.
    if (with_keys) url += "&access_key_id=AKIDTEST&secret_access_key=SECRET%2BTEST%2F1";
    return url;
}

TEST(S3ProbeTest, TheProgramProbesABucket) {
    const s3::S3Settings settings = RadosGateway::shared().new_bucket();
    const std::string program = std::string(BATON_PROGRAMS) + "/baton";
    const auto by_url = cli::run({program, "store", "probe", url_of(settings, true)});
    EXPECT_EQ(by_url.status, 0) << by_url.errors;
    EXPECT_NE(by_url.out.find("keeps the promises"), std::string::npos);
    EXPECT_EQ(by_url.out.find("SECRET"), std::string::npos);

    const auto by_environment =
        cli::run({"/usr/bin/env", "AWS_ACCESS_KEY_ID=AKIDTEST",
                  "AWS_SECRET_ACCESS_KEY=SECRET+TEST/1", "AWS_EC2_METADATA_DISABLED=true", program,
                  "store", "probe", "--format", "json", url_of(settings, false)});
    EXPECT_EQ(by_environment.status, 0) << by_environment.errors;
    EXPECT_NE(by_environment.out.find("\"fit\":true"), std::string::npos);
}

TEST(S3ProbeTest, TheProgramSaysWhyABucketCannotBeUsed) {
    const s3::S3Settings settings = RadosGateway::shared().new_bucket();
    const std::string program = std::string(BATON_PROGRAMS) + "/baton";
    const auto wrong = cli::run({"/usr/bin/env", "AWS_ACCESS_KEY_ID=AKIDTEST",
                                 "AWS_SECRET_ACCESS_KEY=wrong-secret", program, "store", "probe",
                                 url_of(settings, false)});
    EXPECT_EQ(wrong.status, 1);
    EXPECT_NE(wrong.errors.find("SignatureDoesNotMatch"), std::string::npos) << wrong.errors;
    EXPECT_NE(wrong.errors.find("error 4011"), std::string::npos) << wrong.errors;
    EXPECT_EQ(wrong.errors.find("wrong-secret"), std::string::npos);
    const auto none = cli::run({"/usr/bin/env", "-i", "AWS_EC2_METADATA_DISABLED=true", program,
                                "store", "probe", url_of(settings, false)});
    EXPECT_EQ(none.status, 1);
    EXPECT_NE(none.errors.find("there are no credentials"), std::string::npos) << none.errors;

    const LyingServer liar;
    const auto unfit =
        cli::run({"/usr/bin/env", "AWS_ACCESS_KEY_ID=S3RVER", "AWS_SECRET_ACCESS_KEY=S3RVER",
                  program, "store", "probe", url_of(liar.settings(), false)});
    EXPECT_EQ(unfit.status, 1);
    EXPECT_NE(unfit.errors.find("error 4012"), std::string::npos) << unfit.errors;
}

}  // namespace
}  // namespace baton::testing
