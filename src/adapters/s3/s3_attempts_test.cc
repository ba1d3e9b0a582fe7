#include "adapters/s3/s3_attempts.h"

#include <gtest/gtest.h>

#include "adapters/s3/peer_test.h"
#include "testing/free_port.h"
#include "testing/temporary_directory.h"

namespace baton::s3::testing {
namespace {

using baton::testing::answer_of;
using baton::testing::error_of;
using Then = PeerAnswer::Then;

PutAttempt body(std::string_view bytes, PutCondition condition = Always{}) {
    return {.body = bytes, .condition = std::move(condition), .stamp = "stamp"};
}

// The failure of a read that gets this answer, within the time of the test.
AttemptFailure failure_of_read(const PeerAnswer& answer) {
    const HttpPeer peer([&](const PeerRequest&) { return answer; });
    return failure_in(open_at(settings_at(peer.url()))->get("k", {}, brief()));
}

AttemptFailure failure_of_list(const PeerAnswer& answer) {
    const HttpPeer peer([&](const PeerRequest&) { return answer; });
    return failure_in(open_at(settings_at(peer.url()))->list({}, brief()));
}

AttemptFailure failure_of_put(const PeerAnswer& answer, const PutCondition& condition = Always{}) {
    const HttpPeer peer([&](const PeerRequest&) { return answer; });
    return failure_in(open_at(settings_at(peer.url()))->put("k", body("x", condition), brief()));
}

TEST(S3AttemptsTest, SilenceEndsAnAttempt) {
    const PeerAnswer silence{.bytes = "", .then = Then::silence};
    EXPECT_EQ(failure_of_read(silence).trouble, AttemptTrouble::unknown);
    EXPECT_EQ(failure_of_put(silence).trouble, AttemptTrouble::unknown);
    const PeerAnswer half{
        .bytes = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 9\r\n\r\nhalf",
        .then = Then::silence};
    EXPECT_EQ(failure_of_read(half).trouble, AttemptTrouble::unknown);
}

TEST(S3AttemptsTest, HalfAnAnswerIsNone) {
    for (const char* const bytes :
         {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nETag: \"e\"\r\n",
          "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 9\r\n\r\nhalf",
          "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"}) {
        EXPECT_EQ(failure_of_read({.bytes = bytes, .then = Then::close}).trouble,
                  AttemptTrouble::unknown)
            << bytes;
    }
}

TEST(S3AttemptsTest, AHeaderWithoutAnEndIsBounded) {
    EXPECT_EQ(failure_of_read({.bytes = "HTTP/1.1 200 OK\r\nX: ", .then = Then::close}).trouble,
              AttemptTrouble::unknown);
    const std::string line = "X-Filler: " + std::string(1'000, 'f') + "\r\n";
    bool first = true;
    const HttpPeer peer([&](const PeerRequest&) {
        first = false;
        return PeerAnswer{.bytes = "HTTP/1.1 200 OK\r\n" + line, .then = Then::forever};
    });
    const AttemptFailure failed =
        failure_in(open_at(settings_at(peer.url()))->get("k", {}, brief()));
    EXPECT_EQ(failed.trouble, AttemptTrouble::unknown);
    EXPECT_FALSE(first);
}

TEST(S3AttemptsTest, AnEndlessBodyIsBounded) {
    const PeerAnswer endless{
        .bytes = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\n\r\n" + std::string(100'000, 'b'),
        .then = Then::forever};
    const HttpPeer peer([&](const PeerRequest&) { return endless; });
    const auto store = open_at(settings_at(peer.url()));
    const GetOptions few{.range = {}, .unless_etag = "", .bytes_max = 1'000'000};
    EXPECT_EQ(failure_in(store->get("k", few, brief())).trouble, AttemptTrouble::too_large);
    EXPECT_EQ(failure_in(store->list({}, brief())).trouble, AttemptTrouble::too_large);
}

TEST(S3AttemptsTest, AnEndlessErrorIsJudgedByItsStatus) {
    const PeerAnswer endless{.bytes = "HTTP/1.1 503 Slow\r\n\r\n" + std::string(100'000, 'e'),
                             .then = Then::forever};
    EXPECT_EQ(failure_of_read(endless).trouble, AttemptTrouble::throttled);
}

TEST(S3AttemptsTest, AListThatIsNoneIsNotBelieved) {
    constexpr const char* kStart = "<ListBucketResult><IsTruncated>";
    for (const std::string& text :
         {std::string(), std::string("hello"), std::string("<a><b></a></b>"),
          std::string("<!DOCTYPE x [<!ENTITY e \"e\">]><ListBucketResult/>"),
          std::string("<ListBucketResult></ListBucketResult>"),
          std::string("<Error><Code>InternalError</Code></Error>"),
          kStart + std::string("true</IsTruncated></ListBucketResult>"),
          kStart + std::string("false</IsTruncated><Contents><Key>k</Key></Contents>"
                               "</ListBucketResult>")}) {
        const AttemptFailure failed = failure_of_list(answer_of(200, {}, text));
        EXPECT_EQ(failed.trouble, AttemptTrouble::unknown) << text;
        EXPECT_NE(failed.why.find("none of S3"), std::string::npos) << failed.why;
    }
}

TEST(S3AttemptsTest, AListOfOtherKeysIsNotBelieved) {
    const std::string page =
        "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>other/k</Key>"
        "<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>e</ETag><Size>1</Size>"
        "</Contents></ListBucketResult>";
    const HttpPeer peer([&](const PeerRequest&) { return answer_of(200, {}, page); });
    S3Settings settings = settings_at(peer.url());
    // The page never goes on behind its last key.
    EXPECT_EQ(failure_in(open_at(settings)->list({.prefix = "", .after = "z"}, {})).trouble,
              AttemptTrouble::unknown);
    settings.prefix = "mine";
    EXPECT_EQ(failure_in(open_at(settings)->list({}, {})).trouble, AttemptTrouble::unknown);
}

TEST(S3AttemptsTest, ARedirectionIsNotFollowed) {
    const HttpPeer elsewhere([](const PeerRequest&) { return answer_of(200, {}, "stolen"); });
    for (const int status : {301, 302, 303, 307, 308}) {
        const HttpPeer peer([&](const PeerRequest&) {
            return answer_of(status, {{"Location", elsewhere.url() + "/k"}}, "");
        });
        const auto store = open_at(settings_at(peer.url()));
        EXPECT_EQ(failure_in(store->get("k", {}, {})).trouble, AttemptTrouble::refused) << status;
        EXPECT_EQ(failure_in(store->put("k", body("x"), {})).trouble, AttemptTrouble::refused);
    }
    EXPECT_TRUE(elsewhere.requests().empty());
}

TEST(S3AttemptsTest, EachAnswerHasItsTrouble) {
    using enum AttemptTrouble;
    const auto of = [](int status, const char* code) {
        return failure_of_put(error_of(status, code, "words")).trouble;
    };
    EXPECT_EQ(of(503, "SlowDown"), throttled);
    EXPECT_EQ(of(503, "Anything"), throttled);
    EXPECT_EQ(of(429, "TooManyRequests"), throttled);
    EXPECT_EQ(of(500, "InternalError"), server);
    EXPECT_EQ(of(500, "UnknownError"), server);
    EXPECT_EQ(of(502, ""), server);
    EXPECT_EQ(of(504, ""), server);
    EXPECT_EQ(of(409, "ConditionalRequestConflict"), server);
    EXPECT_EQ(of(400, "RequestTimeout"), server);
    EXPECT_EQ(of(507, "XMinioStorageFull"), full);
    EXPECT_EQ(of(403, "QuotaExceeded"), full);
    EXPECT_EQ(of(400, "EntityTooLarge"), too_large);
    EXPECT_EQ(of(413, ""), too_large);
    EXPECT_EQ(of(403, "AccessDenied"), refused);
    EXPECT_EQ(of(401, ""), refused);
    EXPECT_EQ(of(404, "NoSuchBucket"), refused);
    EXPECT_EQ(of(501, "NotImplemented"), refused);
    EXPECT_EQ(of(412, "PreconditionFailed"), refused);                   // without a condition
    EXPECT_EQ(failure_of_put(answer_of(200, {}, "")).trouble, unknown);  // stored without an etag
    EXPECT_EQ(failure_of_put(answer_of(204, {{"ETag", "\"e\""}}, "")).trouble, unknown);
}

TEST(S3AttemptsTest, APageOfAProxyIsNoMissingObject) {
    EXPECT_EQ(failure_of_read(answer_of(404, {}, "<html><p>not found<br></html>")).trouble,
              AttemptTrouble::refused);
}

TEST(S3AttemptsTest, WordsOfTheStoreAreCleanedAndCut) {
    const AttemptFailure failed =
        failure_of_read(error_of(400, "Bad&#10;Code", "a\nb &#x202e;" + std::string(9'000, 'w')));
    EXPECT_LE(failed.why.size(), AttemptFailure::kWhyBytesMax);
    EXPECT_EQ(failed.why.find('\n'), std::string::npos);
    EXPECT_NE(failed.why.find("a b"), std::string::npos) << failed.why;
}

TEST(S3AttemptsTest, NoMessageRepeatsASecret) {
    for (const char* const secret : {"TOKEN-OF-TEST", "SECRET-OF-TEST"}) {
        const AttemptFailure failed =
            failure_of_read(error_of(403, "AccessDenied", "you sent " + std::string(secret)));
        EXPECT_EQ(failed.trouble, AttemptTrouble::refused);
        EXPECT_EQ(failed.why.find(secret), std::string::npos) << failed.why;
    }
}

TEST(S3AttemptsTest, ABodyIsSentOnceEvenIfAKeptConnectionEnds) {
    std::size_t puts = 0;
    const HttpPeer peer([&](const PeerRequest&) {
        // The first is answered, and its connection kept; the second is read, and not answered.
        if (++puts == 1) return answer_of(200, {{"ETag", "\"e\""}}, "");
        return PeerAnswer{.bytes = "", .then = Then::close};
    });
    const auto store = open_at(settings_at(peer.url()));
    EXPECT_FALSE(std::holds_alternative<AttemptFailure>(store->put("k", body("1"), {}).outcome));
    EXPECT_EQ(failure_in(store->put("k", body("2", IfAbsent{}), {})).trouble,
              AttemptTrouble::unknown);
    EXPECT_EQ(failure_in(store->put("k", body("", IfAbsent{}), {})).trouble,
              AttemptTrouble::unknown);
    EXPECT_EQ(peer.requests().size(), 3U);
}

TEST(S3AttemptsTest, AConnectionIsUsedAgain) {
    const HttpPeer peer([](const PeerRequest&) {
        return answer_of(200, {{"ETag", "\"e\""}}, "bytes");
    });
    const auto store = open_at(settings_at(peer.url()));
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(std::holds_alternative<AttemptFailure>(store->get("k", {}, {}).outcome));
        EXPECT_FALSE(
            std::holds_alternative<AttemptFailure>(store->put("k", body("b"), {}).outcome));
    }
    EXPECT_EQ(peer.connections(), 1U);
}

TEST(S3AttemptsTest, ConnectionsAreBounded) {
    const HttpPeer peer(
        [](const PeerRequest&) { return PeerAnswer{.bytes = "", .then = Then::silence}; });
    S3Settings settings = settings_at(peer.url());
    settings.connections_max = 1;
    const auto store = open_at(settings);
    std::thread first([&] {
        AttemptCall call;
        call.given_up = [&] { return peer.connections() == 2; };  // never: there is one only
        call.silence_max = std::chrono::milliseconds(800);
        EXPECT_EQ(failure_in(store->get("k", {}, call)).trouble, AttemptTrouble::unknown);
    });
    while (peer.requests().empty()) std::this_thread::yield();
    AttemptCall call;
    call.time_max = std::chrono::milliseconds(100);
    EXPECT_EQ(failure_in(store->get("k", {}, call)).trouble, AttemptTrouble::not_sent);
    first.join();
    EXPECT_EQ(peer.connections(), 1U);
}

TEST(S3AttemptsTest, GivingUpEndsAnAttempt) {
    const HttpPeer peer(
        [](const PeerRequest&) { return PeerAnswer{.bytes = "", .then = Then::silence}; });
    AttemptCall call;
    call.given_up = [&] { return !peer.requests().empty(); };
    EXPECT_EQ(failure_in(open_at(settings_at(peer.url()))->get("k", {}, call)).trouble,
              AttemptTrouble::given_up);
}

TEST(S3AttemptsTest, NothingIsSentToAPortWithoutTls) {
    const HttpPeer peer([](const PeerRequest&) { return answer_of(200, {}, ""); });
    S3Settings settings = settings_at(peer.url());
    settings.endpoint.replace(0, 4, "https");
    const AttemptFailure failed = failure_in(open_at(settings)->put("k", body("x"), brief()));
    EXPECT_EQ(failed.trouble, AttemptTrouble::not_sent) << failed.why;
    EXPECT_TRUE(peer.requests().empty());
}

TEST(S3AttemptsTest, TheRegionOfTheBucketIsFound) {
    const HttpPeer peer([](const PeerRequest& request) {
        if (request.method == "HEAD") {
            return answer_of(403, {{"x-amz-bucket-region", "eu-north-1"}}, "");
        }
        const bool right =
            request.headers.at("authorization").find("/eu-north-1/s3/") != std::string::npos;
        return right ? answer_of(200, {{"ETag", "\"e\""}}, "") : error_of(403, "AccessDenied");
    });
    S3Settings settings = settings_at(peer.url());
    settings.region = "";
    const auto store = open_at(settings);
    EXPECT_FALSE(std::holds_alternative<AttemptFailure>(store->get("k", {}, {}).outcome));
    EXPECT_EQ(store->get("k", {}, {}).cost.requests, 1U);
    EXPECT_EQ(peer.requests().size(), 3U);
}

TEST(S3AttemptsTest, ARegionOfTheEnvironmentGivesWayToThatOfTheBucket) {
    const HttpPeer peer([](const PeerRequest& request) {
        const bool right =
            request.headers.at("authorization").find("/eu-north-1/s3/") != std::string::npos;
        if (right) return answer_of(200, {{"ETag", "\"e\""}}, "");
        return answer_of(400, {},
                         "<Error><Code>AuthorizationHeaderMalformed</Code>"
                         "<Region>eu-north-1</Region></Error>");
    });
    S3Settings settings = settings_at(peer.url());
    settings.region = "";
    const auto store = open_at(settings, {{"AWS_REGION", "us-west-2"}});
    EXPECT_FALSE(std::holds_alternative<AttemptFailure>(store->get("k", {}, {}).outcome));
    EXPECT_EQ(store->get("k", {}, {}).cost.requests, 1U);
    // That of the URL is final, and the error names the right one.
    settings.region = "us-west-2";
    const AttemptFailure failed = failure_in(open_at(settings)->get("k", {}, {}));
    EXPECT_EQ(failed.trouble, AttemptTrouble::refused);
    EXPECT_NE(failed.why.find("eu-north-1"), std::string::npos) << failed.why;
}

TEST(S3AttemptsTest, ASkewThatStaysIsNamed) {
    const HttpPeer peer([](const PeerRequest&) {
        PeerAnswer answer = error_of(403, "RequestTimeTooSkewed", "too far");
        answer.bytes.replace(answer.bytes.find("\r\n") + 2, 0,
                             "Date: Fri, 24 May 2013 00:00:00 GMT\r\n");
        return answer;
    });
    const AttemptFailure failed = failure_in(open_at(settings_at(peer.url()))->get("k", {}, {}));
    EXPECT_EQ(failed.trouble, AttemptTrouble::refused);
    EXPECT_NE(failed.why.find("RequestTimeTooSkewed"), std::string::npos) << failed.why;
    EXPECT_NE(failed.why.find("s ahead of the store's"), std::string::npos) << failed.why;
    EXPECT_EQ(peer.requests().size(), 2U);
    EXPECT_EQ(peer.requests()[1].headers.at("x-amz-date").substr(0, 8), "20130524");
}

TEST(S3AttemptsTest, RemovingFallsBackToOneByOne) {
    const HttpPeer peer([](const PeerRequest& request) {
        if (request.method == "POST") return error_of(501, "NotImplemented");
        return answer_of(204, {}, "");
    });
    const auto store = open_at(settings_at(peer.url()));
    const std::vector<std::string> keys = {"a", "b c", "ä"};
    EXPECT_TRUE(std::holds_alternative<Done>(store->remove(keys, {}).outcome));
    EXPECT_TRUE(std::holds_alternative<Done>(store->remove(keys, {}).outcome));
    const auto requests = peer.requests();
    ASSERT_EQ(requests.size(), 7U);
    EXPECT_EQ(requests[3].target, "/bucket/%C3%A4");
}

TEST(S3AttemptsTest, ARemovalThatFailsForOneKeyFails) {
    const HttpPeer peer([](const PeerRequest&) {
        return answer_of(200, {},
                         "<DeleteResult><Error><Key>a</Key><Code>NoSuchKey</Code></Error>"
                         "<Error><Key>b</Key><Code>AccessDenied</Code></Error></DeleteResult>");
    });
    const std::vector<std::string> keys = {"a", "b"};
    EXPECT_EQ(failure_in(open_at(settings_at(peer.url()))->remove(keys, {})).trouble,
              AttemptTrouble::refused);
}

// Parts are repeated, and what failed is removed.
TEST(S3AttemptsTest, APartIsRepeatedAndAFailedUploadIsRemoved) {
    int part_tries = 0;
    bool completes = true;
    const HttpPeer peer([&](const PeerRequest& request) {
        const bool about_upload = request.target.find("uploadId=") != std::string::npos;
        if (request.target.ends_with("?uploads=")) {
            return answer_of(200, {},
                             "<InitiateMultipartUploadResult><UploadId>id/1</UploadId>"
                             "</InitiateMultipartUploadResult>");
        }
        if (request.method == "PUT" && ++part_tries % 2 == 1) return error_of(500, "InternalError");
        if (request.method == "PUT") return answer_of(200, {{"ETag", "\"p\""}}, "");
        if (request.method == "POST" && about_upload && completes) {
            return answer_of(200, {},
                             "<CompleteMultipartUploadResult><ETag>\"whole\"</ETag>"
                             "</CompleteMultipartUploadResult>");
        }
        if (request.method == "POST") {
            return answer_of(200, {}, "<Error><Code>InternalError</Code></Error>");
        }
        return answer_of(204, {}, "");
    });
    S3Settings settings = settings_at(peer.url());
    settings.parts_from = 10;
    settings.part_bytes = 6;
    const auto store = open_at(settings);
    const auto put = store->put("k", body("0123456789"), {});
    EXPECT_EQ(std::get<Stored>(std::get<PutOutcome>(put.outcome)).etag, "whole");
    EXPECT_EQ(part_tries, 4);
    EXPECT_NE(peer.requests().back().body.find("<PartNumber>2</PartNumber>"), std::string::npos);

    completes = false;
    EXPECT_EQ(failure_in(store->put("k", body("0123456789"), {})).trouble, AttemptTrouble::server);
    EXPECT_EQ(peer.requests().back().method, "DELETE");
    EXPECT_EQ(peer.requests().back().target, "/bucket/k?uploadId=id%2F1");
}

TEST(S3AttemptsTest, AConditionIsSentWithTheCompletionWhereTheStoreJudgesItThere) {
    const HttpPeer peer([&](const PeerRequest& request) {
        if (request.target.ends_with("?uploads=")) {
            return answer_of(200, {},
                             "<InitiateMultipartUploadResult><UploadId>id</UploadId>"
                             "</InitiateMultipartUploadResult>");
        }
        if (request.method == "POST") {
            const bool trial = request.target.find(".baton-probe-") != std::string::npos;
            const bool conditional = request.headers.contains("if-none-match");
            if (trial && conditional) return error_of(412, "PreconditionFailed");
            return answer_of(200, {},
                             "<CompleteMultipartUploadResult><ETag>\"whole\"</ETag>"
                             "</CompleteMultipartUploadResult>");
        }
        return answer_of(request.method == "DELETE" ? 204 : 200, {{"ETag", "\"p\""}}, "");
    });
    S3Settings settings = settings_at(peer.url());
    settings.parts_from = 10;
    settings.part_bytes = 6;
    const auto store = open_at(settings);
    const auto put = store->put("k", body("0123456789", IfAbsent{}), {});
    EXPECT_TRUE(std::holds_alternative<PutOutcome>(put.outcome));
    EXPECT_EQ(peer.requests().back().target, "/bucket/k?uploadId=id");
    EXPECT_EQ(peer.requests().back().headers.at("if-none-match"), "*");
    // The trial is over: create, two parts, complete.
    EXPECT_EQ(store->put("k", body("0123456789", IfAbsent{}), {}).cost.requests, 4U);
}

TEST(S3AttemptsTest, PlacesAreHostsWhereABucketCanBeOne) {
    S3Settings settings{.bucket = "my-bucket", .prefix = "", .endpoint = "", .region = ""};
    EXPECT_EQ(place_of(settings, "eu-west-1").host, "my-bucket.s3.eu-west-1.amazonaws.com");
    EXPECT_EQ(place_of(settings, "cn-north-1").host, "my-bucket.s3.cn-north-1.amazonaws.com.cn");
    settings.bucket = "my.bucket";
    EXPECT_EQ(place_of(settings, "eu-west-1").host, "s3.eu-west-1.amazonaws.com");
    EXPECT_EQ(place_of(settings, "eu-west-1").path, "/my.bucket");
    settings.endpoint = "https://minio:443";
    EXPECT_EQ(place_of(settings, "x").host, "minio");
    settings.endpoint = "http://[::1]:9000";
    EXPECT_EQ(place_of(settings, "x").scheme, "http");
    EXPECT_EQ(place_of(settings, "x").host, "[::1]:9000");
}

TEST(S3AttemptsTest, SettingsThatCannotBeAreRefused) {
    const auto refused = [](const std::string& bucket, const std::string& endpoint,
                            const std::string& region) {
        return !check_settings(
            {.bucket = bucket, .prefix = "", .endpoint = endpoint, .region = region});
    };
    EXPECT_FALSE(refused("bucket", "", ""));
    EXPECT_FALSE(refused("bucket", "http://h:1", "eu-west-1"));
    for (const char* const bucket :
         {"", "ab", "a/b", "-abc", "a b c", "a\nb", "a?b", "abc#", "äöü"}) {
        EXPECT_TRUE(refused(bucket, "", "")) << bucket;
    }
    for (const char* const endpoint : {"h:1", "ftp://h", "http://", "http://u:p@h", "http://h/path",
                                       "http://h?q", "http://h\r\n"}) {
        EXPECT_TRUE(refused("bucket", endpoint, "")) << endpoint;
    }
    for (const char* const region : {"eu west", "eu/west", "eu.west", "\n"}) {
        EXPECT_TRUE(refused("bucket", "", region)) << region;
    }
}

}  // namespace
}  // namespace baton::s3::testing
