#include "stores/store_url.h"

#include <gtest/gtest.h>

namespace baton::stores {
namespace {

StoreUrl parsed(const std::string& text) {
    const auto url = parse_store_url(text);
    EXPECT_TRUE(url) << text << ": " << to_string(url.error());
    return url ? *url : StoreUrl();
}
std::string refusal(const std::string& text) {
    const auto url = parse_store_url(text);
    if (url) return "";
    EXPECT_EQ(url.error().code, ErrorCode::invalid_configuration);
    return url.error().message;
}

TEST(StoreUrl, APathIsAFolder) {
    for (const char* path : {"./a", ".", "..", "../a", "/a/b c", "/a%20b", "/a?b"}) {
        EXPECT_EQ(parsed(path), StoreUrl(FolderUrl{path}));
    }
    EXPECT_EQ(parsed("file:///a/b%20c"), StoreUrl(FolderUrl{"/a/b c"}));
}

TEST(StoreUrl, S3HasABucketAPrefixAndParameters) {
    EXPECT_EQ(parsed("s3://b"), StoreUrl(S3Url{.bucket = "b"}));
    EXPECT_EQ(parsed("s3://b/"), StoreUrl(S3Url{.bucket = "b"}));
    const StoreUrl whole(S3Url{.bucket = "my-bucket",
                               .prefix = "a/b c",
                               .endpoint = "https://minio.example:9000",
                               .region = "eu-west-1",
                               .access_key_id = "AKIA",
                               .secret_access_key = "s/e+c=r",
                               .session_token = "t&"});
    EXPECT_EQ(parsed("s3://my-bucket/a/b%20c/?endpoint=https://minio.example:9000&region=eu-west-1"
                     "&access_key_id=AKIA&secret_access_key=s%2fe+c=r&session_token=t%26"),
              whole);
    EXPECT_EQ(parsed(whole_text(whole)), whole);
}

TEST(StoreUrl, SecretsAreNotShown) {
    const StoreUrl url = parsed(
        "s3://b/p?endpoint=http://h:1&access_key_id=ID1&secret_access_key=S1&session_token=T1");
    EXPECT_EQ(shown(url), "s3://b/p?endpoint=http://h:1");
}

TEST(StoreUrl, AnErrorShowsNoValueAndNoUnknownName) {
    for (const char* text :
         {"s3://b?secret_access_keyS3CR3T", "s3://b?secret=S3CR3T", "s3://b?endpoint=S3CR3T",
          "s3://ID:S3CR3T@b/p", "s3://b?secret_access_key=S3CR3T", "s3://b?S3CR3T",
          "s3://b?secret_access_key=S3CR3T&secret_access_key=S3CR3T",
          "s3://b?endpoint=https://u:S3CR3T@h", "s3://b?session_token=S3CR3T",
          "s3://b?secret_access_key=S3CR3T%zz"}) {
        const auto url = parse_store_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(to_string(url.error()).find("S3CR3T"), std::string::npos);
    }
}

TEST(StoreUrl, HostileTextIsRefused) {
    EXPECT_NE(refusal(""), "");
    EXPECT_NE(refusal("folder"), "");
    EXPECT_NE(refusal("S3://b"), "");
    EXPECT_NE(refusal("s3://"), "");
    EXPECT_NE(refusal("s3:///p"), "");
    EXPECT_NE(refusal("s3://b/a//c"), "");
    EXPECT_NE(refusal("s3://b/a/../c"), "");
    EXPECT_NE(refusal("s3://b/%2e%2e/c"), "");
    EXPECT_NE(refusal("s3://b/a%0ab"), "");
    EXPECT_NE(refusal("s3://b/a%00b"), "");
    EXPECT_NE(refusal("s3://b/a%f"), "");
    EXPECT_NE(refusal("s3://b\r\nHost: x"), "");
    EXPECT_NE(refusal("s3://b?region="), "");
    EXPECT_NE(refusal("s3://b?region=a&region=b"), "");
    EXPECT_NE(refusal("s3://b?endpoint=ftp://x"), "");
    EXPECT_NE(refusal("s3://b?region=a%0d%0aX"), "");
    EXPECT_NE(refusal("file://host/a"), "");
    EXPECT_NE(refusal("file:///a%00"), "");
    EXPECT_NE(refusal("/a\xff"), "");
    EXPECT_NE(refusal(std::string("/a\0b", 4)), "");
    EXPECT_NE(refusal("/" + std::string(kUrlBytesMax, 'a')), "");
}

TEST(StoreUrl, AnAbsolutePathHasAUrlThatGivesItAgain) {
    for (const char* path : {"/a", "/a b/%20?c#d", "/\xc3\xa4"}) {
        EXPECT_EQ(parsed(url_of_path(path)), StoreUrl(FolderUrl{path}));
    }
    EXPECT_EQ(url_of_path("/data/tables"), "file:///data/tables");
}

}  // namespace
}  // namespace baton::stores
