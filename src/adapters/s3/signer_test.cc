#include "adapters/s3/signer.h"

#include <gtest/gtest.h>

#include "adapters/system/digest.h"
#include "core/s3/documents.h"
#include "core/s3/encoding.h"

namespace baton::s3 {
namespace {

// The examples of "Authenticating Requests (AWS Signature Version 4)" in the documentation of S3.
const Keys kExampleKeys{.id = "AKIAIOSFODNN7EXAMPLE",
                        .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                        .token = ""};
const WallTime kExampleTime = *time_of_document("2013-05-24T00:00:00Z");

UnsignedRequest example(std::string method, std::string path) {
    return {.method = std::move(method),
            .host = "examplebucket.s3.amazonaws.com",
            .path = std::move(path),
            .query = {},
            .headers = {},
            .payload_sha256 = std::string(kEmptySha256)};
}

std::string header_of(const std::vector<HttpHeader>& headers, const std::string& name) {
    for (const HttpHeader& header : headers) {
        if (header.name == name) return header.value;
    }
    return "";
}

std::string authorization(const UnsignedRequest& request, const Keys& keys = kExampleKeys) {
    return header_of(sign(request, keys, {.region = "us-east-1"}, kExampleTime), "authorization");
}

std::string signature(const UnsignedRequest& request, const Keys& keys = kExampleKeys) {
    const std::string text = authorization(request, keys);
    return text.substr(text.rfind('=') + 1);
}

TEST(SignerTest, SignsAReadOfARange) {
    UnsignedRequest request = example("GET", "/test.txt");
    request.headers = {{"range", "bytes=0-9"}};
    EXPECT_EQ(authorization(request),
              "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
              "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
              "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SignerTest, SignsABodyAndAnEncodedPath) {
    UnsignedRequest request = example("PUT", encode_path("/test$file.text"));
    request.headers = {{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                       {"date", "Fri, 24 May 2013 00:00:00 GMT"}};
    request.payload_sha256 = system::sha256_hex("Welcome to Amazon S3.");
    EXPECT_EQ(signature(request),
              "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SignerTest, SignsAQueryWithoutAValue) {
    UnsignedRequest request = example("GET", "/");
    request.query = {{"lifecycle", ""}};
    EXPECT_EQ(signature(request),
              "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(SignerTest, SortsTheQuery) {
    UnsignedRequest request = example("GET", "/");
    request.query = {{"prefix", "J"}, {"max-keys", "2"}};
    EXPECT_EQ(signature(request),
              "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    EXPECT_EQ(canonical_query({{"b", "2 +"}, {"a", "x/y"}, {"a!", "ä"}}),
              "a=x%2Fy&a%21=%C3%A4&b=2%20%2B");
}

TEST(SignerTest, SignsTheTokenOfASession) {
    Keys keys = kExampleKeys;
    keys.token = "AQoDYXdzEPT//////////wEXAMPLE";
    const auto headers = sign(example("GET", "/"), keys, {.region = "us-east-1"}, kExampleTime);
    EXPECT_EQ(header_of(headers, "x-amz-security-token"), keys.token);
    EXPECT_NE(header_of(headers, "authorization")
                  .find("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"),
              std::string::npos);
    EXPECT_NE(signature(example("GET", "/"), keys), signature(example("GET", "/")));
}

TEST(SignerTest, MayLeaveThePayloadUnsigned) {
    UnsignedRequest request = example("PUT", "/k");
    request.payload_sha256 = kUnsignedPayload;
    EXPECT_EQ(header_of(sign(request, kExampleKeys, {.region = "us-east-1"}, kExampleTime),
                        "x-amz-content-sha256"),
              "UNSIGNED-PAYLOAD");
}

TEST(SignerTest, ASignatureIsOfEachPartOfTheRequest) {
    const UnsignedRequest base = example("GET", "/k");
    std::vector<UnsignedRequest> others(5, base);
    others[0].method = "PUT";
    others[1].path = "/l";
    others[2].host = "other";
    others[3].query = {{"a", "b"}};
    others[4].headers = {{"if-none-match", "*"}};
    for (const UnsignedRequest& other : others) EXPECT_NE(signature(other), signature(base));
}

}  // namespace
}  // namespace baton::s3
