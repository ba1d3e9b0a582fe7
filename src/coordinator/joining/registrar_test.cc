#include "coordinator/joining/registrar.h"

#include <gtest/gtest.h>

#include "adapters/certificates/openssl_certificates.h"
#include "adapters/system/digest.h"
#include "adapters/system/system_clock.h"
#include "testing/coordinator/coordinator_test_base.h"

namespace baton::coordinator {
namespace {

using std::chrono::seconds;

class RegistrarTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto opened = testing::open_test_catalog();
        ASSERT_TRUE(opened) << to_string(opened.error());
        database_ = *std::move(opened);
        sql_ = *database_->connect(Access::write);
        const auto authority =
            open_authority(*sql_, maker_, "c", "localhost:7399", clock_.wall_now());
        ASSERT_TRUE(authority) << to_string(authority.error());
        authority_ = *authority;
        registrar_ = std::make_unique<Registrar>(RegistrarOptions{.authority = authority_,
                                                                  .hmac = system::hmac_sha256_hex,
                                                                  .digest = system::sha256_hex},
                                                 *database_, maker_, clock_);
    }
    std::string token(const std::string& worker, Duration lasts = seconds(60)) {
        identity::JoinToken token{.worker = worker,
                                  .expires = clock_.wall_now() + lasts,
                                  .nonce = system::hex_of(system::random_bytes(8)),
                                  .address = authority_.address,
                                  .cluster = authority_.cluster,
                                  .authority = authority_.certificate,
                                  .mac = {}};
        token.mac = mac_of(token, authority_, system::hmac_sha256_hex);
        return to_string(token);
    }
    void create_worker(const std::string& name) {
        const auto made = sql_->execute(
            "INSERT INTO worker (name, kind, address, state, draining, leaving, reason, since, "
            "revision) VALUES (?, 'REMOTE', ?, 'ACTIVE', 0, 0, '', '', 1)",
            {name, name});
        ASSERT_TRUE(made) << to_string(made.error());
    }

    const system::SystemClock clock_;
    certificates::OpensslCertificates maker_;
    std::unique_ptr<SqlDatabase> database_;
    std::unique_ptr<Sql> sql_;
    catalog::ClusterAuthority authority_;
    std::unique_ptr<Registrar> registrar_;
    const std::string request_ = maker_.ask({})->request;
};

TEST_F(RegistrarTest, TheAuthorityIsMadeOnce) {
    const auto again = open_authority(*sql_, maker_, "d", "", clock_.wall_now());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->cluster, "c");
    EXPECT_EQ(again->certificate, authority_.certificate);
    EXPECT_EQ(again->address, "localhost:7399");
    EXPECT_EQ(open_authority(*sql_, maker_, "d", "localhost:1", clock_.wall_now())->address,
              "localhost:1");
    EXPECT_EQ((*catalog::find_authority(*sql_))->address, "localhost:1");
}

TEST_F(RegistrarTest, ATokenLetsOneWorkerInOnce) {
    const std::string text = token("edge");
    EXPECT_FALSE(registrar_->has_joined("EDGE"));
    const auto certificate = registrar_->join(text, request_);
    ASSERT_TRUE(certificate) << to_string(certificate.error());
    EXPECT_EQ(maker_.look_at(*certificate)->uris,
              std::vector<std::string>{"baton://c/worker/edge"});
    EXPECT_TRUE(registrar_->has_joined("EDGE"));
    EXPECT_EQ(registrar_->join(text, request_).error().message, "the token was used before");
}

TEST_F(RegistrarTest, ATokenThatIsOverChangedOrForANonsenseRequestIsRefused) {
    EXPECT_EQ(registrar_->join(token("edge", seconds(-1)), request_).error().code,
              ErrorCode::not_authenticated);
    identity::JoinToken changed = *identity::join_token_in(token("edge"));
    changed.worker = "hub";
    EXPECT_EQ(registrar_->join(to_string(changed), request_).error().code,
              ErrorCode::not_authenticated);
    const std::string text = token("edge");
    EXPECT_EQ(registrar_->join(text, "nonsense").error().code, ErrorCode::malformed_message);
    EXPECT_TRUE(registrar_->join(text, request_));  // it was not used up
}

TEST_F(RegistrarTest, OnlyTheLastCertificateOfAKnownWorkerIsRenewed) {
    const std::string first = *registrar_->join(token("edge"), request_);
    EXPECT_NE(registrar_->renew(first, request_).error().message.find("has no worker"),
              std::string::npos);
    create_worker("EDGE");
    const auto second = registrar_->renew(first, request_);
    ASSERT_TRUE(second) << to_string(second.error());
    const auto third = registrar_->renew(*second, request_);
    ASSERT_TRUE(third) << to_string(third.error());
    EXPECT_NE(registrar_->renew(first, request_).error().message.find("another certificate"),
              std::string::npos);
    ASSERT_TRUE(registrar_->join(token("edge"), request_));
    EXPECT_FALSE(registrar_->renew(*third, request_));
    const auto own = coordinator_certificate(authority_, maker_, clock_.wall_now());
    ASSERT_TRUE(own);
    EXPECT_FALSE(registrar_->renew(own->certificate, request_));
}

// The answer to a renewal may be lost after the catalog has the certificate.
TEST_F(RegistrarTest, AWorkerThatDidNotGetItsCertificateAsksAgainWithTheOneThatItHas) {
    create_worker("edge");
    const std::string first = *registrar_->join(token("edge"), request_);
    ASSERT_TRUE(registrar_->renew(first, request_));  // lost
    ASSERT_TRUE(registrar_->renew(first, request_));  // lost again
    const auto last = registrar_->renew(first, request_);
    ASSERT_TRUE(last) << to_string(last.error());
    EXPECT_TRUE(registrar_->renew(*last, request_));
}

// The catalog has an older certificate than the worker.
TEST_F(RegistrarTest, ARestoredCatalogRenewsWhatItHasForgotten) {
    create_worker("edge");
    const std::string first = *registrar_->join(token("edge"), request_);
    const auto kept = catalog::worker_certificate(*sql_, "edge");
    ASSERT_TRUE(kept && *kept);
    catalog::WorkerCertificate older = **kept;
    older.serial = "of the backup";
    older.given_at -= seconds(2);
    ASSERT_TRUE(catalog::keep_worker_certificate(*sql_, "edge", older));
    EXPECT_TRUE(registrar_->renew(first, request_));
    older.given_at += seconds(4);
    ASSERT_TRUE(catalog::keep_worker_certificate(*sql_, "edge", older));
    EXPECT_NE(registrar_->renew(first, request_).error().message.find("another certificate"),
              std::string::npos);
    ASSERT_TRUE(sql_->execute("DELETE FROM worker_certificate"));
    EXPECT_NE(registrar_->renew(first, request_).error().message.find("was dropped"),
              std::string::npos);
}

TEST_F(RegistrarTest, AnotherCoordinatorSeesWhoJoined) {
    ASSERT_TRUE(registrar_->join(token("edge"), request_));
    Registrar other(
        {.authority = authority_, .hmac = system::hmac_sha256_hex, .digest = system::sha256_hex},
        *database_, maker_, clock_);
    EXPECT_FALSE(other.has_joined("edge"));
    ASSERT_TRUE(other.refresh(*sql_));
    EXPECT_TRUE(other.has_joined("edge"));
}

}  // namespace
}  // namespace baton::coordinator
