#include "adapters/s3/credentials.h"

#include <atomic>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/s3/peer_test.h"
#include "testing/temporary_directory.h"

namespace baton::s3::testing {
namespace {

using baton::testing::answer_of;
using baton::testing::error_of;

// A clock that the test moves; the wall's is its time since the beginning.
class MovedClock final : public Clock {
public:
    [[nodiscard]] Instant now() const override { return at(since_); }
    [[nodiscard]] WallTime wall_now() const override { return WallTime(since_.load()); }
    void move(Duration by) { since_ = since_.load() + by; }

private:
    std::atomic<Duration> since_ = Duration(std::chrono::hours(24));
};

std::string json_keys(const std::string& id, WallTime expires) {
    return R"({"Code":"Success","AccessKeyId":")" + id +
           R"(","SecretAccessKey":"S","Token":"T","Expiration":")" + to_string(expires) + "\"}";
}

std::string id_of(const std::variant<NumberedKeys, AttemptFailure>& got) {
    const auto* failed = std::get_if<AttemptFailure>(&got);
    return failed == nullptr ? std::get<NumberedKeys>(got).keys.id : failed->why;
}

class CredentialsTest : public ::testing::Test {
protected:
    MovedClock clock_;
    HttpClient http_ = HttpClient(4, "");
};

TEST_F(CredentialsTest, AMachineIsAskedWithAToken) {
    const HttpPeer peer([&](const PeerRequest& request) {
        if (request.target == "/latest/api/token") {
            const bool right = request.method == "PUT" &&
                               request.headers.contains("x-aws-ec2-metadata-token-ttl-seconds");
            return right ? answer_of(200, {}, "metadata-token") : answer_of(400, {}, "");
        }
        const auto token = request.headers.find("x-aws-ec2-metadata-token");
        if (token == request.headers.end() || token->second != "metadata-token") {
            return answer_of(401, {}, "");
        }
        if (request.target == "/latest/meta-data/iam/security-credentials/") {
            return answer_of(200, {}, "my-role\n");
        }
        if (request.target == "/latest/meta-data/iam/security-credentials/my-role") {
            return answer_of(200, {}, json_keys("A1", clock_.wall_now() + std::chrono::hours(1)));
        }
        return answer_of(404, {}, "");
    });
    Credentials credentials(MachineMetadata{peer.url()}, http_, clock_);
    EXPECT_EQ(id_of(credentials.get({})), "A1");
    EXPECT_EQ(id_of(credentials.get({})), "A1");
    EXPECT_EQ(peer.requests().size(), 3U);
}

TEST_F(CredentialsTest, AMachineWithoutARoleIsRefused) {
    const HttpPeer peer([&](const PeerRequest& request) {
        return answer_of(request.method == "PUT" ? 200 : 404, {}, "token");
    });
    Credentials credentials(MachineMetadata{peer.url()}, http_, clock_);
    const auto got = credentials.get({});
    EXPECT_EQ(std::get<AttemptFailure>(got).trouble, AttemptTrouble::refused);
    EXPECT_NE(id_of(got).find("it answers 404"), std::string::npos) << id_of(got);
}

TEST_F(CredentialsTest, AContainerIsAskedWithTheTokenOfItsFile) {
    const baton::testing::TemporaryDirectory directory;
    const std::string path = directory / "token";
    std::ofstream(path) << "file-token\n";
    const HttpPeer peer([&](const PeerRequest& request) {
        if (request.headers.at("authorization") != "file-token") return answer_of(401, {}, "");
        return answer_of(200, {}, json_keys("A2", clock_.wall_now() + std::chrono::hours(1)));
    });
    Credentials credentials(
        ContainerEndpoint{.url = peer.url() + "/creds", .token = "", .token_file = path}, http_,
        clock_);
    EXPECT_EQ(id_of(credentials.get({})), "A2");
    EXPECT_EQ(peer.requests().front().target, "/creds");
}

TEST_F(CredentialsTest, ARoleIsAssumedWithTheTokenOfAWebIdentity) {
    const baton::testing::TemporaryDirectory directory;
    const std::string path = directory / "token";
    std::ofstream(path) << "jwt+/=\n";
    const HttpPeer peer([&](const PeerRequest&) {
        return answer_of(
            200, {},
            "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
            "<AccessKeyId>A3</AccessKeyId><SecretAccessKey>S</SecretAccessKey>"
            "<SessionToken>T</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>"
            "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>");
    });
    Credentials credentials(WebIdentity{.token_file = path,
                                        .role = "arn:aws:iam::1:role/r",
                                        .session = "baton",
                                        .endpoint = peer.url()},
                            http_, clock_);
    EXPECT_EQ(id_of(credentials.get({})), "A3");
    EXPECT_EQ(peer.requests().front().body,
              "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1"
              "%3Arole%2Fr&RoleSessionName=baton&WebIdentityToken=jwt%2B%2F%3D");
}

TEST_F(CredentialsTest, ARefusalOfStsIsNamed) {
    const baton::testing::TemporaryDirectory directory;
    const std::string path = directory / "token";
    std::ofstream(path) << "jwt";
    const HttpPeer peer([&](const PeerRequest&) {
        return answer_of(400, {},
                         "<ErrorResponse><Error><Code>ExpiredTokenException</Code></Error>"
                         "</ErrorResponse>");
    });
    Credentials credentials(
        WebIdentity{.token_file = path, .role = "r", .session = "s", .endpoint = peer.url()}, http_,
        clock_);
    const auto got = credentials.get({});
    EXPECT_EQ(std::get<AttemptFailure>(got).trouble, AttemptTrouble::refused);
    EXPECT_NE(id_of(got).find("400 ExpiredTokenException"), std::string::npos) << id_of(got);
    Credentials without_file(
        WebIdentity{.token_file = path + "x", .role = "r", .session = "s", .endpoint = peer.url()},
        http_, clock_);
    EXPECT_NE(id_of(without_file.get({})).find("No such file"), std::string::npos);
}

TEST_F(CredentialsTest, KeysAreRenewedEarlyAndAFailureKeepsTheOld) {
    std::atomic<int> number = 0;
    std::atomic<bool> fails = false;
    const HttpPeer peer([&](const PeerRequest&) {
        if (fails) return error_of(500, "Broken");
        return answer_of(
            200, {},
            json_keys("K" + std::to_string(++number), clock_.wall_now() + std::chrono::hours(1)));
    });
    Credentials credentials(ContainerEndpoint{.url = peer.url(), .token = "", .token_file = ""},
                            http_, clock_);
    EXPECT_EQ(id_of(credentials.get({})), "K1");
    clock_.move(std::chrono::minutes(54));
    EXPECT_EQ(id_of(credentials.get({})), "K1");
    clock_.move(std::chrono::minutes(2));
    fails = true;
    EXPECT_EQ(id_of(credentials.get({})), "K1");
    fails = false;
    clock_.move(std::chrono::seconds(2));
    EXPECT_EQ(id_of(credentials.get({})), "K2");
    fails = true;
    clock_.move(std::chrono::hours(2));
    const auto got = credentials.get({});
    EXPECT_EQ(std::get<AttemptFailure>(got).trouble, AttemptTrouble::not_sent);
    EXPECT_NE(id_of(got).find("500 Broken"), std::string::npos) << id_of(got);
}

TEST_F(CredentialsTest, ManyCallersFetchOnce) {
    const HttpPeer peer([&](const PeerRequest&) {
        return answer_of(200, {}, json_keys("A", clock_.wall_now() + std::chrono::hours(1)));
    });
    Credentials credentials(ContainerEndpoint{.url = peer.url(), .token = "", .token_file = ""},
                            http_, clock_);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] { EXPECT_EQ(id_of(credentials.get({})), "A"); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(peer.requests().size(), 1U);
}

TEST_F(CredentialsTest, HowLongKeysLastIsCountedByTheClockOfTheirService) {
    // The service's clock is a year ahead of ours.
    const HttpPeer peer([&](const PeerRequest&) {
        return answer_of(200, {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}},
                         R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":"T",)"
                         R"("Expiration":"2013-05-24T01:00:00Z"})");
    });
    Credentials credentials(ContainerEndpoint{.url = peer.url(), .token = "", .token_file = ""},
                            http_, clock_);
    (void)credentials.get({});
    clock_.move(std::chrono::minutes(54));
    (void)credentials.get({});
    EXPECT_EQ(peer.requests().size(), 1U);
    clock_.move(std::chrono::minutes(2));
    (void)credentials.get({});
    EXPECT_EQ(peer.requests().size(), 2U);
}

// Through the whole: a store that says that the keys have ended gets new ones, once.
TEST_F(CredentialsTest, KeysThatTheStoreRejectsAreFetchedAnew) {
    std::atomic<int> number = 0;
    const HttpPeer service([&](const PeerRequest&) {
        return answer_of(200, {},
                         json_keys("K" + std::to_string(++number),
                                   clock_of_tests().wall_now() + std::chrono::hours(1)));
    });
    const HttpPeer store([&](const PeerRequest& request) {
        const std::string& signature = request.headers.at("authorization");
        if (signature.find("Credential=K1/") != std::string::npos)
            return error_of(400, "ExpiredToken");
        return answer_of(200, {{"ETag", "\"e\""}}, "");
    });
    S3Settings settings = settings_at(store.url());
    settings.keys.reset();
    const auto attempts =
        open_at(settings, {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", service.url() + "/c"}});
    EXPECT_FALSE(std::holds_alternative<AttemptFailure>(attempts->get("k", {}, {}).outcome));
    EXPECT_EQ(number, 2);
    EXPECT_EQ(store.requests().back().headers.at("x-amz-security-token"), "T");
}

TEST_F(CredentialsTest, FilesOfProfilesAreFoundByTheEnvironment) {
    const baton::testing::TemporaryDirectory directory;
    const std::string path = directory / "credentials";
    std::ofstream(path) << "[p]\naws_access_key_id=AKFILE\naws_secret_access_key=s\n";
    const HttpPeer store([&](const PeerRequest&) {
        return answer_of(200, {{"ETag", "\"e\""}}, "");
    });
    S3Settings settings = settings_at(store.url());
    settings.keys.reset();
    const auto attempts =
        open_at(settings, {{"AWS_SHARED_CREDENTIALS_FILE", path}, {"AWS_PROFILE", "p"}});
    (void)attempts->get("k", {}, {});
    EXPECT_NE(store.requests().back().headers.at("authorization").find("Credential=AKFILE/"),
              std::string::npos);
    std::ofstream(path) << std::string(2'000'000, '#');
    EXPECT_FALSE(open_s3(settings, {{"AWS_SHARED_CREDENTIALS_FILE", path}}, clock_of_tests()));
}

}  // namespace
}  // namespace baton::s3::testing
