// How connections begin; the rest is in connection_test.cc.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "doors/pg/wire/connection.h"
#include "doors/pg/wire/scripted_test.h"

namespace baton::pgwire {
namespace {

using namespace connection;            // NOLINT
using namespace testing;               // NOLINT
using namespace std::string_literals;  // NOLINT: zeros within texts

ConnectionOptions options_with(Tls tls, Authentication authentication = Authentication::trust) {
    return {.tls = tls,
            .authentication = authentication,
            .scram = {.nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0", .mock = "mock"},
            .process = 7,
            .key = 9,
            .version = "1.2"};
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
    return text;
}

// What is wanted and, at the end, the types of what was sent.
std::string story_of(Scripted& scripted, std::string_view bytes) {
    scripted.wanted.clear();
    scripted.sent.clear();
    scripted.receive(bytes);
    std::string story = joined(scripted.wanted);
    if (!scripted.sent.empty()) {
        story += (story.empty() ? "" : "; ") + to_string(Effect(Send{scripted.sent}));
    }
    return story;
}
std::string start(const ConnectionOptions& options, std::string_view bytes) {
    Scripted scripted(options);
    return story_of(scripted, bytes);
}

TEST(Startup, ATrustedClientIsToldAllThatItNeedsToKnow) {
    Scripted scripted(options_with(Tls::off));
    scripted.receive(startup({{"user", "ann"},
                              {"database", "db"},
                              {"application_name", "psql"},
                              {"client_encoding", "utf-8"},
                              {"options", "-c x=y"}}));
    EXPECT_EQ(joined(scripted.wanted), "open session ann@db");
    EXPECT_EQ(to_string(Effect(Send{scripted.sent})), "send R S S S S S S S S S S K ZI");
    for (const std::string& parameter :
         {"server_version\00015.0 (Baton 1.2)\0"s, "server_encoding\0UTF8\0"s,
          "client_encoding\0UTF8\0"s, "DateStyle\0ISO, MDY\0"s, "integer_datetimes\0on\0"s,
          "standard_conforming_strings\0off\0"s, "TimeZone\0UTC\0"s, "application_name\0psql\0"s,
          "default_transaction_read_only\0off\0"s, "in_hot_standby\0off\0"s,
          "K\0\0\0\x0c\0\0\0\7\0\0\0\x09"s}) {
        EXPECT_NE(scripted.sent.find(parameter), std::string::npos) << parameter;
    }
}

TEST(Startup, WhoAlwaysProvesAPasswordDoesSoWhereTheOthersAreTrusted) {
    ConnectionOptions options = options_with(Tls::off);
    options.always_proves = "peer";
    EXPECT_EQ(start(options, startup({{"user", "peer"}})), "look up peer; send R");
    EXPECT_TRUE(start(options, startup({{"user", "ann"}})).starts_with("open session ann"));
}

TEST(Startup, TheOtherParametersAreGivenToTheSession) {
    Connection machine(options_with(Tls::off));
    const auto effects =
        machine.step(Received{startup({{"user", "ann"}, {"options", "-c x"}, {"_pq_.y", "1"}})});
    EXPECT_EQ(std::get<OpenSession>(effects[0]),
              (OpenSession{.user = "ann", .database = "ann", .parameters = {{"options", "-c x"}}}));
}

TEST(Startup, ANewerMinorVersionOrAnUnknownOptionIsNegotiatedDown) {
    EXPECT_TRUE(start(options_with(Tls::off), startup({{"user", "ann"}}, 2))
                    .starts_with("open session ann@ann; send v R "));
    Scripted scripted(options_with(Tls::off));
    scripted.receive(startup({{"user", "ann"}, {"_pq_.grease", ""}}));
    EXPECT_TRUE(scripted.sent.starts_with("v\0\0\0\x18\0\3\0\0\0\0\0\1_pq_.grease\0R"s));
}

TEST(Startup, AnotherMajorVersionIsRefused) {
    EXPECT_EQ(start(options_with(Tls::off), startup_packet("\0\2\0\0"s)), "hang up; send E");
}

TEST(Startup, ThereIsAUserAndOurEncoding) {
    const auto sent = [](const std::vector<std::pair<std::string, std::string>>& parameters) {
        Scripted scripted(options_with(Tls::off));
        scripted.receive(startup(parameters));
        return scripted.sent;
    };
    EXPECT_NE(sent({{"database", "d"}}).find("C28000"), std::string::npos);
    EXPECT_NE(sent({{"user", ""}}).find("C28000"), std::string::npos);
    EXPECT_NE(sent({{"user", "a"}, {"client_encoding", "LATIN1"}}).find("C22023"),
              std::string::npos);
    EXPECT_NE(sent({{"user", "a"}, {"client_encoding", "SQL_ASCII"}})
                  .find("client_encoding\0SQL_ASCII\0"s),
              std::string::npos);
}

TEST(Startup, ACancelRequestIsPassedOnAndNotAnswered) {
    EXPECT_EQ(start(options_with(Tls::off), startup_packet("\x04\xd2\x16\x2e\0\0\0\7\0\0\0\x09"s)),
              "cancel 7/9; hang up");
}

TEST(Startup, EncryptionThatIsNotOfferedIsDeclined) {
    Scripted scripted(options_with(Tls::off));
    EXPECT_EQ(story_of(scripted, gss_request()), "send N");
    EXPECT_EQ(story_of(scripted, ssl_request()), "send N");
    EXPECT_TRUE(story_of(scripted, startup()).ends_with("K ZI"));
}

TEST(Startup, EncryptionIsAskedForOnce) {
    EXPECT_EQ(start(options_with(Tls::off), ssl_request() + ssl_request()), "hang up; send N");
    EXPECT_EQ(start(options_with(Tls::off), gss_request() + gss_request()), "hang up; send N");
}

TEST(Startup, TlsBeginsAfterItsRequestAndThenTheStartUp) {
    Scripted scripted(options_with(Tls::required));
    EXPECT_EQ(story_of(scripted, ssl_request()), "start TLS; send S");
    EXPECT_TRUE(story_of(scripted, startup()).ends_with("K ZI"));
}

TEST(Startup, WhatCameWithTheRequestForTlsIsNotUsed) {
    EXPECT_EQ(start(options_with(Tls::offered), ssl_request() + startup()), "hang up");
}

TEST(Startup, PlainTextIsRefusedWhereTlsIsRequired) {
    Scripted scripted(options_with(Tls::required));
    EXPECT_EQ(story_of(scripted, startup()), "hang up; send E");
    EXPECT_NE(scripted.sent.find("C28000"), std::string::npos);
    EXPECT_TRUE(start(options_with(Tls::offered), startup()).ends_with("K ZI"));
}

TEST(Startup, ALinkThatIsEncryptedFromItsStartNeedsNoRequest) {
    Connection machine(options_with(Tls::required));
    EXPECT_TRUE(machine.step(TlsStarted{}).empty());
    EXPECT_EQ(to_string(machine.step(Received{startup()})[0]), "open session ann@ann");
}

TEST(Startup, AStartUpPacketMayNotBeLarge) {
    Scripted scripted(options_with(Tls::off));
    EXPECT_EQ(story_of(scripted, "\0\0\x40\0"s), "hang up; send E");
    EXPECT_NE(scripted.sent.find("C54000"), std::string::npos);
}

TEST(Startup, ASessionMayBeRefused) {
    Connection machine(options_with(Tls::off));
    (void)machine.step(Received{startup()});
    const auto effects = machine.step(Failed{{.sqlstate = "53300", .message = "too many"}, {}});
    ASSERT_EQ(effects.size(), 2U);
    EXPECT_NE(std::get<Send>(effects[0]).bytes.find("SFATAL\0VFATAL\0C53300"s), std::string::npos);
    EXPECT_EQ(effects[1], Effect(HangUp{}));
}

// ---- login --------------------------------------------------------------------------------------

constexpr std::string_view kSalt =
    "\x5b\x6d\x99\x68\x9d\x12\x35\x8e\xec\xa0\x4b\x14\x12\x36\xfa\x81";

std::string sasl_initial(std::string_view mechanism, std::string_view data) {
    std::string bytes;
    {
        Message(bytes, 'p')
            .string(mechanism)
            .int32(static_cast<std::uint32_t>(data.size()))
            .bytes(data);
    }
    return bytes;
}
std::string first_message() {
    return sasl_initial("SCRAM-SHA-256", "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
}
std::string final_message() {
    return frame('p',
                 "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                 "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
}

class LoginTest : public ::testing::Test {
protected:
    LoginTest() { scripted_.runner.verifier = make_verifier("pencil", kSalt); }

    std::string receive(std::string_view bytes) { return story_of(scripted_, bytes); }
    [[nodiscard]] bool said(std::string_view text) const {
        return scripted_.sent.find(text) != std::string::npos;
    }

    Scripted scripted_{options_with(Tls::off, Authentication::scram)};
};

TEST_F(LoginTest, WhoProvesThePasswordIsLetIn) {
    EXPECT_EQ(receive(startup()), "look up ann; send R");
    EXPECT_TRUE(said("SCRAM-SHA-256\0\0"s));
    EXPECT_EQ(receive(first_message()), "send R");
    EXPECT_EQ(receive(final_message()), "open session ann@ann; send R R S S S S S S S S S S K ZI");
    EXPECT_TRUE(said("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
}

TEST_F(LoginTest, AWrongPasswordAndAnUnknownUserAreRefusedAlike) {
    scripted_.runner.verifier = make_verifier("pencils", kSalt);
    EXPECT_EQ(receive(startup() + first_message() + final_message()),
              "look up ann; login refused to ann; hang up; send R R E");
    EXPECT_TRUE(said("C28P01\0Mpassword authentication failed for user \"ann\"\0"s));
    const std::string wrong = scripted_.sent;

    Scripted unknown(options_with(Tls::off, Authentication::scram));
    EXPECT_EQ(story_of(unknown, startup() + first_message() + final_message()),
              "look up ann; login refused to ann; hang up; send R R E");
    EXPECT_EQ(unknown.sent.size(), wrong.size());
}

TEST_F(LoginTest, OnlyALoginIsTakenBeforeItIsDone) {
    EXPECT_EQ(receive(startup() + query("SHOW X")), "look up ann; hang up; send R E");
    EXPECT_TRUE(said("C08P01"));
}

TEST_F(LoginTest, OnlyWhatWasOfferedIsTaken) {
    EXPECT_EQ(receive(startup() + sasl_initial("SCRAM-SHA-256-PLUS", "n,,n=,r=x")),
              "look up ann; hang up; send R E");
    EXPECT_TRUE(said("C08P01"));
}

TEST_F(LoginTest, AMalformedLoginIsRefused) {
    EXPECT_EQ(receive(startup() + frame('p', "x")), "look up ann; hang up; send R E");
    EXPECT_TRUE(said("C08P01"));
}

TEST_F(LoginTest, AStrangerCannotMakeUsKeepMuch) {
    EXPECT_EQ(receive(startup() + "p\0\1\0\1"s), "look up ann; hang up; send R E");
    EXPECT_TRUE(said("C54000"));
}

TEST_F(LoginTest, AClientMayLeave) {
    EXPECT_EQ(receive(startup() + terminate()), "look up ann; hang up; send R");
}

TEST_F(LoginTest, ACatalogThatCannotBeReadRefuses) {
    Connection machine(options_with(Tls::off, Authentication::scram));
    (void)machine.step(Received{startup()});
    const auto effects = machine.step(Failed{{.sqlstate = "58000", .message = "m"}, {}});
    EXPECT_EQ(effects.back(), Effect(HangUp{}));
}

// ---- cuts ---------------------------------------------------------------------------------------

std::string some_name() {
    return *rc::gen::element<std::string>("", "a", "b");
}
std::string some_text() {
    return *rc::gen::element<std::string>("", "rows 3", "rows 2; copy 1; set", "begin", "commit",
                                          "fail", "notice", "rows 2 $", "rows 20", "copy 3");
}

// Such as drivers send it, so that much of what is generated gets far.
std::string some_series() {
    const std::string statement = some_name();
    const std::string portal = some_name();
    std::string bytes = close('S', statement) + parse(statement, some_text()) + close('P', portal) +
                        bound(portal, statement);
    if (*rc::gen::arbitrary<bool>()) bytes += describe('P', portal);
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
        bytes += execute(portal, *rc::gen::element<char>(0, 1, 2));
    }
    return *rc::gen::inRange(0, 4) != 0 ? bytes + sync() : bytes;
}

std::string some_messages() {
    switch (*rc::gen::inRange(0, 15)) {
        case 0:
        case 1:
            return query(some_text());
        case 2:
            return parse(some_name(), some_text());
        case 3:
            return bound(some_name(), some_name());
        case 4:
            return bound(some_name(), some_name(), {.parameters = {"1"}, .result_formats = {1}});
        case 5:
            return describe(*rc::gen::element('S', 'P'), some_name());
        case 6:
            return execute(some_name(), *rc::gen::element<char>(0, 1, 2));
        case 7:
            return close(*rc::gen::element('S', 'P'), some_name());
        case 8:
        case 9:
            return sync();
        case 10:
            return frame(*rc::gen::element('Q', 'P', 'B', 'H', 'd', 'F', 'S'),
                         *rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
        default:
            return some_series();
    }
}

std::string some_conversation() {
    std::string bytes = startup();
    for (int i = *rc::gen::inRange(0, 30); i > 0; --i) bytes += some_messages();
    return bytes;
}

RC_GTEST_PROP(Connection, NeitherCutsNorDelaysChangeWhatIsSaidAndDone, ()) {
    std::string bytes = *rc::gen::resize(100, rc::gen::exec(some_conversation));
    ConnectionOptions options = options_with(Tls::off);
    options.input_bytes_ahead_max = 50;
    options.output_bytes_max = 200;
    Scripted whole(options);
    whole.receive(bytes);

    Scripted cut(options);
    cut.answers_held = true;
    while (!bytes.empty() || cut.has_answers()) {
        if (!bytes.empty() && cut.reading) {
            const auto size =
                *rc::gen::inRange<std::size_t>(1, std::min<std::size_t>(bytes.size(), 40) + 1);
            cut.receive(bytes.substr(0, size));
            bytes.erase(0, size);
            RC_ASSERT(cut.machine.input_waiting() < 3000U);
        }
        const bool must = bytes.empty() || !cut.reading;
        RC_ASSERT(!must || cut.has_answers() || bytes.empty());  // something goes on
        cut.answer(must ? 1 : *rc::gen::inRange<std::size_t>(0, 3));
        if (cut.machine.is_closed()) break;
    }
    RC_ASSERT(cut.sent == whole.sent);
    RC_ASSERT(cut.wanted == whole.wanted);
}

}  // namespace
}  // namespace baton::pgwire
