#include "doors/http/site_check.h"

#include <gtest/gtest.h>

namespace baton::http {
namespace {

// The status of the refusal; 0: it is served.
unsigned status_for(Headers headers, const SitePolicy* open, const std::string& method = "POST") {
    const auto refusal = refused_site(
        {.method = method, .target = "/v1/sql", .headers = std::move(headers), .body = {}}, open);
    return refusal ? refusal->status : 0;
}

const SitePolicy kThisMachine;
const SitePolicy* const kOpen = &kThisMachine;  // nobody has to say who they are
const SitePolicy* const kProven = nullptr;

TEST(SiteCheck, WithoutProofOnlyNamesOfThisMachineAreServed) {
    for (const char* host : {"localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:8080",
                             "127.9.8.7", "[::1]", "[::1]:8080", "localhost."}) {
        EXPECT_EQ(status_for({{"host", host}}, kOpen), 0U) << host;
    }
    for (const char* host :
         {"evil.example", "evil.example:8080", "127.evil.example", "localhost.evil.example",
          "127.0.0.1.evil.example", "10.0.0.1", "[::1].evil.example", "[::1", "[2001:db8::1]", "",
          "127.0.0", "0x7f.0.0.1", "127.0.0.256"}) {
        EXPECT_EQ(status_for({{"host", host}}, kOpen), 403U) << host;
    }
}

// The name of the page was pointed at this machine: Host and Origin agree.
TEST(SiteCheck, ANameThatWasPointedHereIsRefused) {
    EXPECT_EQ(status_for({{"host", "evil.example"}, {"origin", "http://evil.example"}}, kOpen),
              403U);
}

TEST(SiteCheck, MoreNamesCanBeNamed) {
    const SitePolicy policy{.hosts = {"baton.example"}};
    EXPECT_EQ(status_for({{"host", "Baton.example:8080"}}, &policy), 0U);
    EXPECT_EQ(status_for({{"host", "x.baton.example"}}, &policy), 403U);
    const SitePolicy beyond{.any_address = true};
    EXPECT_EQ(status_for({{"host", "10.0.0.1:8080"}}, &beyond), 0U);
    EXPECT_EQ(status_for({{"host", "[2001:db8::1]:8080"}}, &beyond), 0U);
    EXPECT_EQ(status_for({{"host", "evil.example"}}, &beyond), 403U);
}

TEST(SiteCheck, WithProofTheNameDoesNotMatter) {
    EXPECT_EQ(status_for({{"host", "anything.example"}}, kProven), 0U);
}

TEST(SiteCheck, TwoHostsAreNoRequest) {
    EXPECT_EQ(status_for({{"host", "localhost"}, {"host", "localhost"}}, kOpen), 400U);
    EXPECT_EQ(status_for({{"host", "a"}, {"host", "b"}}, kProven), 400U);
}

TEST(SiteCheck, PagesOfOtherSitesAreRefused) {
    EXPECT_EQ(status_for({{"host", "localhost:80"}, {"origin", "http://evil.example"}}, kOpen),
              403U);
    EXPECT_EQ(status_for({{"host", "localhost:80"}, {"origin", "null"}}, kOpen), 403U);
    EXPECT_EQ(status_for({{"host", "localhost:80"}, {"origin", "http://localhost:80"}}, kOpen), 0U);
    for (const char* site : {"cross-site", "same-site", "something"}) {
        EXPECT_EQ(status_for({{"host", "localhost"}, {"sec-fetch-site", site}}, kOpen), 403U)
            << site;
        EXPECT_EQ(status_for({{"host", "localhost"}, {"sec-fetch-site", site}}, kProven), 403U)
            << site;
    }
    EXPECT_EQ(status_for({{"host", "localhost"}, {"sec-fetch-site", "same-origin"}}, kOpen), 0U);
    EXPECT_EQ(status_for({{"host", "localhost"}, {"sec-fetch-site", "none"}}, kOpen), 0U);
    const Headers link = {
        {"host", "localhost"}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}};
    EXPECT_EQ(status_for(link, kOpen, "GET"), 0U) << "a link may lead here";
    EXPECT_EQ(status_for(link, kOpen, "POST"), 403U) << "a form may not";
}

}  // namespace
}  // namespace baton::http
