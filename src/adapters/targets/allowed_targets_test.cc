#include "adapters/targets/allowed_targets.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace baton::targets {
namespace {

SocketAddress at(const std::string& text) {
    SocketAddress address;
    auto* const four = reinterpret_cast<sockaddr_in*>(&address.bytes);
    if (::inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        address.size = sizeof *four;
        return address;
    }
    auto* const six = reinterpret_cast<sockaddr_in6*>(&address.bytes);
    EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &six->sin6_addr), 1) << text;
    six->sin6_family = AF_INET6;
    address.size = sizeof *six;
    return address;
}

bool allowed(const std::vector<std::string>& rules, const std::string& host,
             const std::string& address, std::uint16_t port = 1883) {
    const auto targets = AllowedTargets::of({.connect_to = rules, .own_ports = {}});
    EXPECT_TRUE(targets.has_value());
    return targets && targets->allows(host, at(address), port);
}

TEST(AllowedTargets, WithoutARuleNothingOfThisMachineAndNothingLinkLocal) {
    EXPECT_TRUE(allowed({}, "h", "192.0.2.7"));
    EXPECT_TRUE(allowed({}, "h", "2001:db8::7"));
    for (const char* const address :
         {"127.0.0.1", "127.8.8.8", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::127.0.0.1",
          "64:ff9b::7f00:1", "169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
          "fe80::1", "fd00:ec2::254"}) {
        EXPECT_FALSE(allowed({}, "h", address)) << address;
    }
}

TEST(AllowedTargets, AStarLeadsToThisMachineButNotToLinkLocalAddresses) {
    EXPECT_TRUE(allowed({"*"}, "h", "127.0.0.1"));
    EXPECT_TRUE(allowed({"*:1883"}, "h", "192.0.2.7"));
    EXPECT_FALSE(allowed({"*:1883"}, "h", "192.0.2.7", 1884));
    EXPECT_FALSE(allowed({"*"}, "h", "169.254.169.254"));
    EXPECT_TRUE(allowed({"169.254.0.0/16"}, "h", "169.254.169.254"));
}

TEST(AllowedTargets, AddressesFitByTheirPrefix) {
    EXPECT_TRUE(allowed({"10.0.0.0/8"}, "h", "10.255.1.2"));
    EXPECT_TRUE(allowed({"10.0.0.0/8"}, "h", "::ffff:10.1.1.2"));
    EXPECT_FALSE(allowed({"10.0.0.0/8"}, "h", "11.0.0.1"));
    EXPECT_TRUE(allowed({"192.0.2.7:1883"}, "h", "192.0.2.7"));
    EXPECT_FALSE(allowed({"192.0.2.7:1884"}, "h", "192.0.2.7"));
    EXPECT_TRUE(allowed({"[fd00::/8]:1883"}, "h", "fd12::1"));
    EXPECT_TRUE(allowed({"2001:db8::7"}, "h", "2001:db8::7"));
    EXPECT_FALSE(allowed({"2001:db8::7"}, "h", "192.0.2.7"));
}

// A name whose owner answers with an address of this machine gets nowhere.
TEST(AllowedTargets, NamesFitByThemselvesAndNeverLeadHome) {
    EXPECT_TRUE(allowed({"*.example.com"}, "a.Example.com.", "192.0.2.7"));
    EXPECT_FALSE(allowed({"*.example.com"}, "example.com", "192.0.2.7"));
    EXPECT_FALSE(allowed({"*.example.com"}, "badexample.com", "192.0.2.7"));
    EXPECT_FALSE(allowed({"*.example.com"}, "a.example.com", "127.0.0.1"));
    EXPECT_FALSE(allowed({"*.example.com"}, "a.example.com", "169.254.169.254"));
    EXPECT_TRUE(allowed({"broker.lan:1883"}, "broker.lan", "192.0.2.7"));
    EXPECT_FALSE(allowed({"broker.lan"}, "192.0.2.7", "192.0.2.7"));
    EXPECT_TRUE(allowed({"localhost"}, "localhost", "127.0.0.1"));
    EXPECT_FALSE(allowed({"localhost"}, "127.0.0.1", "127.0.0.1"));
}

TEST(AllowedTargets, BatonsOwnPortsAreShut) {
    const auto all =
        AllowedTargets::of({.connect_to = {"*", "127.0.0.1:5433"}, .own_ports = {5433}});
    EXPECT_FALSE(all->allows("h", at("127.0.0.1"), 5433));
    EXPECT_FALSE(all->allows("h", at("0.0.0.0"), 5433));
    EXPECT_FALSE(all->allows("h", at("::1"), 5433));
    EXPECT_TRUE(all->allows("h", at("192.0.2.7"), 5433));
    EXPECT_TRUE(all->allows("h", at("127.0.0.1"), 5434));
}

TEST(AllowedTargets, LookUpGivesWhatIsAllowed) {
    const auto all = AllowedTargets::of({.connect_to = {"*"}, .own_ports = {}});
    const auto found = all->look_up("127.0.0.1", 9, AddressFamily::ipv4);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->front().host(), "127.0.0.1");
    EXPECT_EQ(all->look_up("no.such.host.invalid", 9).error().code, ErrorCode::cannot_connect);
    const auto refused = AllowedTargets().look_up("169.254.169.254", 80);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(to_string(refused.error()),
              "error 5003: cannot connect to \"169.254.169.254:80\": its worker may not connect to "
              "169.254.169.254; start the worker with --connect-to HOST[:PORT], or set connect_to "
              "of the daemon; a port of Baton's own is never allowed");
}

// The system would read the name to its first byte 0, and the rule all of it.
TEST(AllowedTargets, ANameWithAByte0IsNone) {
    using namespace std::string_literals;
    const auto some = AllowedTargets::of({.connect_to = {"*.example.com"}, .own_ports = {}});
    const auto refused = some->look_up("192.0.2.7\0.example.com"s, 80);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("no name of a host"), std::string::npos);
}

TEST(AllowedTargets, RulesThatMeanNothingAreRefused) {
    for (const char* const rule :
         {"", "a b", "10.0.0.0/33", "host:", "host:0", "host:70000", "[::1", "*x", "http://h"}) {
        EXPECT_EQ(AllowedTargets::of({.connect_to = {rule}, .own_ports = {}}).error().code,
                  ErrorCode::invalid_configuration)
            << rule;
    }
}

}  // namespace
}  // namespace baton::targets
