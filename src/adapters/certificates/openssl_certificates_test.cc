#include "adapters/certificates/openssl_certificates.h"

#include <gtest/gtest.h>

namespace baton::certificates {
namespace {

using std::chrono::hours;

const WallTime kNow = WallTime(hours(24 * 365 * 57));

class OpensslCertificatesTest : public ::testing::Test {
protected:
    OpensslCertificates maker_;
    KeyAndCertificate authority_ = *maker_.make_authority("c", kNow, kNow + hours(1000));
    const CertificateWish kWish{.uris = {"baton://c/worker/a%2C"},
                                .hosts = {"worker-41.c.baton"},
                                .from = kNow,
                                .until = kNow + hours(5)};
};

TEST_F(OpensslCertificatesTest, ACertificateSaysWhatWasWishedAndNothingElse) {
    const auto asked = maker_.ask({});
    ASSERT_TRUE(asked);
    const auto certificate = maker_.sign(authority_, asked->request, kWish);
    ASSERT_TRUE(certificate);
    const auto facts = maker_.look_at(*certificate);
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->uris, kWish.uris);
    EXPECT_EQ(facts->from, kWish.from);
    EXPECT_EQ(facts->until, kWish.until);
    EXPECT_EQ(facts->serial.size(), 32U);
    EXPECT_NE(maker_.look_at(*maker_.sign(authority_, asked->request, kWish))->serial,
              facts->serial);
}

TEST_F(OpensslCertificatesTest, WhatIsNoRequestIsRefused) {
    std::string changed = maker_.ask({})->request;
    const std::size_t at = changed.size() / 2;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    for (const std::string& request : {std::string(), std::string("x"), changed,
                                       authority_.certificate, std::string(100'000, 'A')}) {
        const auto refused = maker_.sign(authority_, request, kWish);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::malformed_message);
    }
    EXPECT_FALSE(maker_.look_at("nonsense"));
    EXPECT_FALSE(maker_.ask("nonsense"));
}

}  // namespace
}  // namespace baton::certificates
