#include "core/identity/join_token.h"

#include <gtest/gtest.h>

namespace baton::identity {
namespace {

using std::chrono::seconds;

const JoinToken kToken{.worker = "edge 1",
                       .expires = WallTime(seconds(1000)),
                       .nonce = "n",
                       .address = "10.0.0.1:7399",
                       .cluster = "c",
                       .authority = "-----BEGIN\nline\n",
                       .mac = "abc"};

TEST(JoinToken, IsReadBackAsItWasWritten) {
    for (const char* more : {"", "x", "xy", "xyz"}) {
        JoinToken token = kToken;
        token.authority += more;
        const std::string text = to_string(token);
        EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789-_."),
                  std::string::npos);
        EXPECT_EQ(*join_token_in(text), token);
    }
}

TEST(JoinToken, WhatIsBrokenIsNoToken) {
    const std::string text = to_string(kToken);
    for (const std::string& broken :
         {std::string(), std::string("join."), text.substr(1), text.substr(0, 20), text + "!",
          "join." + std::string(20'000, 'A')}) {
        const auto read = join_token_in(broken);
        ASSERT_FALSE(read) << broken.substr(0, 40);
        EXPECT_EQ(read.error().code, ErrorCode::invalid_configuration);
    }
}

TEST(JoinToken, EndsWithItsTime) {
    EXPECT_TRUE(check_in_time(kToken, "c", WallTime(seconds(999))));
    EXPECT_FALSE(check_in_time(kToken, "c", WallTime(seconds(1000))));
    EXPECT_FALSE(check_in_time(kToken, "d", WallTime(seconds(1))));
}

TEST(JoinToken, ACertificateIsRenewedWithAThirdOfItsLifeLeft) {
    EXPECT_EQ(renew_at(WallTime(seconds(300)), WallTime(seconds(600))), WallTime(seconds(500)));
}

}  // namespace
}  // namespace baton::identity
