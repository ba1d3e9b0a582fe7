#include "adapters/system/digest.h"

#include <gtest/gtest.h>

namespace baton::system {
namespace {

TEST(DigestTest, IsThatOfTheStandard) {
    EXPECT_EQ(sha256_hex("abc"),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(DigestTest, RandomBytesAreNotTheSameTwice) {
    EXPECT_EQ(random_bytes(32).size(), 32U);
    EXPECT_NE(random_bytes(32), random_bytes(32));
}

}  // namespace
}  // namespace baton::system
