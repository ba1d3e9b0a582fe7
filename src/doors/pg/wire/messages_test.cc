#include "doors/pg/wire/messages.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace baton::pgwire {
namespace {

using namespace std::string_literals;  // NOLINT: zeros within texts

std::string sized(std::string_view body) {
    const auto size = static_cast<std::uint32_t>(body.size() + 4);
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(size >> shift);
    return bytes + std::string(body);
}
std::string framed(char type, std::string_view body) {
    return type + sized(body);
}

Result<FrontendMessage> read(char type, std::string_view body) {
    return message_of({.type = type, .body = body});
}
std::string error_of(char type, std::string_view body) {
    const auto message = read(type, body);
    return message ? "none" : to_string(message.error());
}

TEST(StartupPacket, HasAVersionAndParameters) {
    const auto packet = packet_of("\0\3\0\0user\0ann\0database\0db\0\0"s);
    ASSERT_TRUE(packet);
    EXPECT_EQ(*packet, StartupPacket(StartupMessage{
                           .minor = 0, .parameters = {{"user", "ann"}, {"database", "db"}}}));
}

TEST(StartupPacket, MayBeARequestInstead) {
    EXPECT_EQ(*packet_of("\x04\xd2\x16\x2f"s), StartupPacket(SslRequest{}));
    EXPECT_EQ(*packet_of("\x04\xd2\x16\x30"s), StartupPacket(GssEncRequest{}));
    EXPECT_EQ(*packet_of("\x04\xd2\x16\x2e\0\0\0\x07\x80\0\0\x01"s),
              StartupPacket(CancelRequest{.process = 7, .key = 0x80000001}));
    EXPECT_EQ(*packet_of("\0\2\0\0whatever"s),
              StartupPacket(OtherProtocol{.major = 2, .minor = 0}));
}

TEST(StartupPacket, SaysWhatIsWrongWithIt) {
    const auto error = [](std::string_view body) {
        const auto packet = packet_of(body);
        return packet ? "none" : packet.error().message;
    };
    EXPECT_EQ(error("\0\3"s), "start-up message: it ends within its version");
    EXPECT_EQ(error("\0\3\0\0"s), "start-up message: the list of parameters has no end");
    EXPECT_EQ(error("\0\3\0\0user\0ann\0"s), "start-up message: the list of parameters has no end");
    EXPECT_EQ(error("\0\3\0\0user\0ann"s), "start-up message: it ends within its parameter values");
    EXPECT_EQ(error("\0\3\0\0\0more"s), "start-up message: 4 bytes follow after the end");
    EXPECT_EQ(error("\0\3\0\0us\xff\0x\0\0"s), "start-up message: parameter names is not UTF-8");
    EXPECT_EQ(error("\x04\xd2\x16\x2e\0\0\0\x07"s), "start-up message: it ends within its key");
    EXPECT_EQ(error("\x04\xd2\x16\x2f."s), "start-up message: 1 bytes follow after the end");
}

TEST(FrameReader, APacketMayNotBeShorterThanItsHeadOrLongerThanItsLimit) {
    FrameReader small;
    small.feed("\0\0\0\7"s);
    EXPECT_EQ(small.next_packet().error().message, "a start-up packet cannot have 7 bytes");
    FrameReader large;
    large.feed("\0\0\x27\x11"s);
    EXPECT_EQ(large.next_packet().error().message,
              "a start-up packet of 10001 bytes is too large, the limit is 10000");
}

TEST(FrameReader, AFrameHasAKnownTypeAndAPossibleSize) {
    const auto error = [](std::string_view bytes, bool authenticated) {
        FrameReader reader({.login_bytes_max = 100, .message_bytes_max = 1000});
        if (authenticated) reader.authenticated();
        reader.feed(bytes);
        const auto frame = reader.next_frame();
        return frame ? "none" : frame.error().message;
    };
    EXPECT_EQ(error("y", true), "unknown type of message \"y\"");
    EXPECT_EQ(error("\x16\x03\x01"s, true), "unknown type of message 0x16");
    EXPECT_EQ(error("Q\0\0\0\3"s, true), "a message of type \"Q\" cannot have 3 bytes");
    EXPECT_EQ(error("Q\0\0\0\x65"s, true), "none");
    EXPECT_EQ(error("Q\0\0\0\x65"s, false),
              "a message of type \"Q\" of 101 bytes is too large, the limit is 100");
    EXPECT_EQ(error("Q\xff\xff\xff\xff"s, true),
              "a message of type \"Q\" of 4294967295 bytes is too large, the limit is 1000");
}

RC_GTEST_PROP(FrameReader, FramesDoNotDependOnHowTheBytesWereCut, ()) {
    const auto bodies = *rc::gen::container<std::vector<std::string>>(
        rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
    std::string bytes;
    for (const std::string& body : bodies) bytes += framed('d', body);
    FrameReader reader;
    std::vector<std::string> read;
    while (!bytes.empty()) {
        const auto size = *rc::gen::inRange<std::size_t>(1, bytes.size() + 1);
        reader.feed(bytes.substr(0, size));
        bytes.erase(0, size);
        while (const auto frame = *reader.next_frame()) read.emplace_back(frame->body);
    }
    RC_ASSERT(read == bodies);
    RC_ASSERT(reader.buffered() == 0U);
}

TEST(Messages, EachIsRead) {
    EXPECT_EQ(*read('Q', "SHOW X\0"s), FrontendMessage(Query{"SHOW X"}));
    EXPECT_EQ(*read('P', "s\0SHOW X\0\0\2\0\0\0\x14\0\0\0\0"s),
              FrontendMessage(Parse{"s", "SHOW X", {20, 0}}));
    EXPECT_EQ(*read('B', "p\0s\0\0\1\0\1\0\2\0\0\0\2ab\xff\xff\xff\xff\0\2\0\0\0\1"s),
              FrontendMessage(Bind{"p", "s", {1}, {"ab", std::nullopt}, {0, 1}}));
    EXPECT_EQ(*read('D', "Ss\0"s), FrontendMessage(Describe{Target::statement, "s"}));
    EXPECT_EQ(*read('D', "P\0"s), FrontendMessage(Describe{Target::portal, ""}));
    EXPECT_EQ(*read('E', "p\0\0\0\1\0"s), FrontendMessage(Execute{"p", 256}));
    EXPECT_EQ(*read('E', "p\0\xff\xff\xff\xff"s), FrontendMessage(Execute{"p", 0}));
    EXPECT_EQ(*read('C', "Pp\0"s), FrontendMessage(Close{Target::portal, "p"}));
    EXPECT_EQ(*read('H', ""), FrontendMessage(Flush{}));
    EXPECT_EQ(*read('S', ""), FrontendMessage(Sync{}));
    EXPECT_EQ(*read('X', ""), FrontendMessage(Terminate{}));
    EXPECT_EQ(*read('p', "any\0"s), FrontendMessage(LoginResponse{"any\0"s}));
    EXPECT_EQ(*read('d', "a\0b"s), FrontendMessage(CopyData{"a\0b"s}));
    EXPECT_EQ(*read('c', ""), FrontendMessage(CopyDone{}));
    EXPECT_EQ(*read('f', "why\0"s), FrontendMessage(CopyFail{"why"}));
    EXPECT_EQ(*read('F', "anything"), FrontendMessage(FunctionCall{}));
}

TEST(Messages, ALoginResponseIsReadInThreeWays) {
    EXPECT_EQ(*password_of("secret\0"s), "secret");
    EXPECT_EQ(*sasl_initial_response_of("SCRAM-SHA-256\0\0\0\0\3n,,"s),
              (SaslInitialResponse{"SCRAM-SHA-256", "n,,"}));
    EXPECT_EQ(*sasl_initial_response_of("X\0\xff\xff\xff\xff"s),
              (SaslInitialResponse{"X", std::nullopt}));
    EXPECT_FALSE(sasl_initial_response_of("SCRAM-SHA-256\0\0\0\0\4n,,"s));
    EXPECT_FALSE(sasl_initial_response_of("SCRAM-SHA-256"s));
    EXPECT_FALSE(password_of("secret"));
}

TEST(Messages, SayWhatIsWrongWithThem) {
    EXPECT_EQ(error_of('Q', "SHOW"), "error 5010: Query message: it ends within its text");
    EXPECT_EQ(error_of('Q', "a\0b"s), "error 5010: Query message: 1 bytes follow after the end");
    EXPECT_EQ(error_of('Q', "\xc0\x80\0"s), "error 5010: Query message: text is not UTF-8");
    EXPECT_EQ(error_of('P', "s\0x\0\0\2\0\0\0\1"s),
              "error 5010: Parse message: it ends within its parameter types");
    EXPECT_EQ(error_of('B', "p\0s\0\0\0\0\1\0\0\0\x09short\0\0"s),
              "error 5010: Bind message: it ends within its parameters");
    EXPECT_EQ(error_of('B', "p\0s\0\0\0\0\1\xff\xff\xff\xfe\0\0"s),
              "error 5010: Bind message: it ends within its parameters");
    EXPECT_EQ(error_of('B', "p\0s\0\0\0\0\0"s),
              "error 5010: Bind message: it ends within its result formats");
    EXPECT_EQ(error_of('D', "Xs\0"s),
              "error 5010: Describe message: \"X\" is neither a statement nor a portal");
    EXPECT_EQ(error_of('E', "p\0\0\0"s),
              "error 5010: Execute message: it ends within its number of rows");
    EXPECT_EQ(error_of('S', "x"), "error 5010: Sync message: 1 bytes follow after the end");
}

TEST(Messages, ParametersAreCountedBeforeTheyAreRead) {
    const auto bind = message_of({.type = 'B', .body = "\0\0\0\0\xff\xff"s}, 10);
    ASSERT_FALSE(bind);
    EXPECT_EQ(to_string(bind.error()),
              "error 2005: a statement with 65535 parameters is too large, the limit is 10");
    EXPECT_FALSE(message_of({.type = 'P', .body = "\0\0\0\x0b"s}, 10));
    // A count that the bytes cannot hold costs nothing.
    EXPECT_EQ(error_of('B', "\0\0\xff\xff"s),
              "error 5010: Bind message: it ends within its parameter formats");
}

}  // namespace
}  // namespace baton::pgwire
