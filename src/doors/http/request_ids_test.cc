#include "doors/http/request_ids.h"

#include <gtest/gtest.h>

namespace baton::http {
namespace {

Request with(const std::string& id) {
    return {.method = "GET", .target = "/", .headers = {{"x-request-id", id}}, .body = {}};
}

TEST(RequestIds, AreTheClientsIfTheyAreWellFormed) {
    RequestIds ids("p");
    for (const std::string id : {"a", "5F-x_y.z:1+2/3=@", "0af7651916cd43dd8448eb211c80319c"}) {
        EXPECT_EQ(ids.id_for(with(id)), id);
    }
}

TEST(RequestIds, ElseAreMadeUpAndNeverTheSame) {
    RequestIds ids("p");
    int made = 0;
    for (const std::string& id :
         {std::string(), std::string("a b"), std::string("a\nlevel=error"), std::string("\"x\""),
          std::string("\xC3\xA4"), std::string(129, 'x')}) {
        EXPECT_EQ(ids.id_for(with(id)), "p-" + std::to_string(++made));
    }
    EXPECT_EQ(ids.id_for({.method = "GET", .target = "/", .headers = {}, .body = {}}), "p-7");
}

}  // namespace
}  // namespace baton::http
