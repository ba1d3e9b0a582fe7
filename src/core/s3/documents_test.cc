#include "core/s3/documents.h"

#include <array>

#include <gtest/gtest.h>

#include "core/s3/xml.h"

namespace baton::s3 {
namespace {

std::string listing(const std::string& inside, const std::string& truncated = "false") {
    return "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>" +
           inside + "<IsTruncated>" + truncated + "</IsTruncated></ListBucketResult>";
}
std::string entry(const std::string& key) {
    return "<Contents><Key>" + key +
           "</Key><LastModified>2026-11-19T20:43:56.123Z</LastModified>"
           "<ETag>&quot;abc&quot;</ETag><Size>5</Size><StorageClass>STANDARD</StorageClass>"
           "</Contents>";
}

TEST(DocumentsTest, ReadsAListing) {
    const auto list = read_listing(
        listing("<EncodingType>url</EncodingType>" + entry("a%2Fb+c%2B%C3%A4") + entry("d") +
                    "<CommonPrefixes><Prefix>x+y/</Prefix></CommonPrefixes>",
                "true"));
    ASSERT_TRUE(list);
    EXPECT_TRUE(list->truncated);
    ASSERT_EQ(list->keys.size(), 2U);
    EXPECT_EQ(list->keys[0].key, "a/b c+\xc3\xa4");
    EXPECT_EQ(list->keys[0].etag, "abc");
    EXPECT_EQ(list->keys[0].size, 5U);
    EXPECT_EQ(to_string(list->keys[0].modified), "2026-11-19T20:43:56.123000Z");
    EXPECT_EQ(list->prefixes, std::vector<std::string>{"x y/"});
    // Not encoded, a key is as it stands.
    EXPECT_EQ(read_listing(listing(entry("a+b%20")))->keys[0].key, "a+b%20");
}

TEST(DocumentsTest, RefusesAListingThatIsNotWhole) {
    EXPECT_FALSE(read_listing("<Other/>"));
    EXPECT_FALSE(read_listing("<ListBucketResult/>"));
    EXPECT_FALSE(read_listing(listing("", "maybe")));
    EXPECT_FALSE(read_listing(listing("<EncodingType>rot13</EncodingType>")));
    EXPECT_FALSE(read_listing(listing("<EncodingType>url</EncodingType>" + entry("%zz"))));
    EXPECT_FALSE(read_listing(listing(entry(""))));
    EXPECT_FALSE(read_listing(listing("<Contents><Key>k</Key><Size>5</Size></Contents>")));
    EXPECT_FALSE(read_listing(listing(
        "<Contents><Key>k</Key><Size>-5</Size><LastModified>2026-11-19T20:43:56Z</LastModified>"
        "</Contents>")));
    EXPECT_FALSE(read_listing(listing("<CommonPrefixes></CommonPrefixes>")));
}

TEST(DocumentsTest, ReadsErrorsOfEveryKind) {
    const StoreError error = read_error(
        "<Error><Code>NoSuchKey</Code><Message>none</Message><Region>eu</Region></Error>");
    EXPECT_EQ(error.code, "NoSuchKey");
    EXPECT_EQ(error.message, "none");
    EXPECT_EQ(error.region, "eu");
    EXPECT_EQ(read_error("<ErrorResponse><Error><Code>Expired</Code></Error></ErrorResponse>").code,
              "Expired");
    EXPECT_EQ(read_error("<html><body>Bad Gateway</body></html>").code, "");
    EXPECT_EQ(read_error("").code, "");
}

TEST(DocumentsTest, RemovalsNameTheKeysThatStay) {
    const auto errors = read_removal(
        "<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>AccessDenied</Code>"
        "</Error></DeleteResult>");
    ASSERT_TRUE(errors);
    ASSERT_EQ(errors->size(), 1U);
    EXPECT_EQ(errors->front().key, "b");
    EXPECT_EQ(errors->front().error.code, "AccessDenied");
    const std::array<std::string, 2> keys = {"a<&>", "\xc3\xa4"};
    const auto request = read_xml(removal_of(keys));
    ASSERT_TRUE(request);
    EXPECT_EQ(request->children[1].text_of("Key"), "a<&>");
}

TEST(DocumentsTest, UploadsHaveAnIdAndNumberedParts) {
    EXPECT_EQ(*read_upload_id("<InitiateMultipartUploadResult><UploadId>2~x</UploadId>"
                              "</InitiateMultipartUploadResult>"),
              "2~x");
    EXPECT_FALSE(read_upload_id("<InitiateMultipartUploadResult/>"));
    const std::array<std::string, 2> etags = {"e1", "e2"};
    const auto request = read_xml(completion_of(etags));
    ASSERT_TRUE(request);
    EXPECT_EQ(request->children[1].text_of("PartNumber"), "2");
    EXPECT_EQ(request->children[1].text_of("ETag"), "\"e2\"");
    EXPECT_EQ(*read_completion("<CompleteMultipartUploadResult><ETag>\"e-2\"</ETag>"
                               "</CompleteMultipartUploadResult>"),
              "e-2");
    EXPECT_FALSE(read_completion("<Error><Code>InternalError</Code></Error>"));
}

TEST(DocumentsTest, TimesAreReadStrictly) {
    EXPECT_EQ(to_string(*time_of_document("2013-05-24T01:02:03Z")), "2013-05-24T01:02:03.000000Z");
    EXPECT_EQ(to_string(*time_of_document("2013-05-24T01:02:03.4567891Z")),
              "2013-05-24T01:02:03.456789Z");
    EXPECT_EQ(to_string(*time_of_header("Fri, 24 May 2013 01:02:03 GMT")),
              "2013-05-24T01:02:03.000000Z");
    for (const char* const text :
         {"", "2013-05-24", "2013-02-30T00:00:00Z", "2013-05-24T24:00:00Z", "2013-05-24T00:00:00",
          "2013-05-24T00:00:00.Z", "2013-05-24 00:00:00Z", "x013-05-24T00:00:00Z",
          "1913-05-24T00:00:00Z"}) {
        EXPECT_FALSE(time_of_document(text)) << text;
    }
    for (const char* const text :
         {"", "Fri, 24 May 2013 01:02:03 PST", "Fri, 24 Foo 2013 01:02:03 GMT",
          "Fri, 32 May 2013 01:02:03 GMT", "24 May 2013 01:02:03 GMT"}) {
        EXPECT_FALSE(time_of_header(text)) << text;
    }
    EXPECT_EQ(time_for_signature(*time_of_document("2013-05-24T01:02:03.9Z")), "20130524T010203Z");
}

}  // namespace
}  // namespace baton::s3
