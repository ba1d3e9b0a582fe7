#include "doors/pg/wire/scram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace baton::pgwire {
namespace {

// The example of RFC 7677.
constexpr std::string_view kServerNonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
constexpr std::string_view kScramSalt =
    "\x5b\x6d\x99\x68\x9d\x12\x35\x8e\xec\xa0\x4b\x14\x12\x36\xfa\x81";
constexpr std::string_view kClientFirst = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
constexpr std::string_view kServerFirst =
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
constexpr std::string_view kClientFinal =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
constexpr std::string_view kServerFinal = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

const ScramServer::Secrets kSecrets{.nonce = std::string(kServerNonce), .mock = "mock"};

ScramServer known_user() {
    return {"user", make_verifier("pencil", kScramSalt), kSecrets};
}
std::string outcome_of(ScramServer& server, std::string_view client_final) {
    const auto outcome = server.final(client_final);
    if (!outcome) return to_string(outcome.error());
    const auto* accepted = std::get_if<ScramServer::Accepted>(&*outcome);
    return accepted != nullptr ? accepted->message : "rejected";
}
std::string error_of_first(std::string_view client_first) {
    ScramServer server = known_user();
    const auto reply = server.first(client_first);
    return reply ? "none" : to_string(reply.error());
}
std::string outcome_of_final(std::string_view client_final) {
    ScramServer server = known_user();
    EXPECT_TRUE(server.first(kClientFirst));
    return outcome_of(server, client_final);
}

TEST(Scram, SpeaksAsTheExampleOfTheStandard) {
    ScramServer server = known_user();
    const auto reply = server.first(kClientFirst);
    ASSERT_TRUE(reply);
    EXPECT_EQ(*reply, kServerFirst);
    EXPECT_EQ(outcome_of(server, kClientFinal), kServerFinal);
}

TEST(Scram, AnotherPasswordIsRejected) {
    ScramServer server("user", make_verifier("pencils", kScramSalt), kSecrets);
    ASSERT_TRUE(server.first(kClientFirst));
    EXPECT_EQ(outcome_of(server, kClientFinal), "rejected");
}

TEST(Scram, AnUnknownUserGetsAnExchangeThatLooksLikeAnyOther) {
    const auto first = [](std::string_view user, std::string_view mock) {
        ScramServer server(user, std::nullopt, {.nonce = "N", .mock = std::string(mock)});
        return *server.first("n,,n=,r=c");
    };
    const std::string reply = first("nobody", "mock");
    EXPECT_TRUE(reply.starts_with("r=cN,s="));
    EXPECT_TRUE(reply.ends_with("==,i=4096"));  // 16 bytes
    EXPECT_EQ(reply.size(), std::string_view("r=cN,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096").size());
    EXPECT_EQ(reply, first("nobody", "mock"));
    EXPECT_NE(reply, first("somebody", "mock"));
    EXPECT_NE(reply, first("nobody", "another"));

    ScramServer server("user", std::nullopt, kSecrets);
    ASSERT_TRUE(server.first(kClientFirst));
    EXPECT_EQ(outcome_of(server, kClientFinal), "rejected");
}

TEST(Scram, NoChannelBindingIsOffered) {
    EXPECT_EQ(error_of_first("y,,n=user,r=x"), "none");
    EXPECT_EQ(error_of_first("p=tls-server-end-point,,n=user,r=x"),
              "error 5010: SCRAM: there is no channel binding here, but the client wants it");
}

TEST(Scram, AFirstMessageSaysWhatIsWrongWithIt) {
    EXPECT_EQ(error_of_first(""), "error 5010: SCRAM: the first message has no header");
    EXPECT_EQ(error_of_first("x,,n=,r=x"), "error 5010: SCRAM: the first message has no header");
    EXPECT_EQ(error_of_first("n,"), "error 5010: SCRAM: the first message has no header");
    EXPECT_EQ(error_of_first("n,a=me,n=,r=x"),
              "error 2001: SCRAM: acting as another user is not supported");
    EXPECT_EQ(error_of_first("n,,m=x,n=,r=x"),
              "error 2001: SCRAM: the client requires an extension that is not supported");
    EXPECT_EQ(error_of_first("n,,r=x"), "error 5010: SCRAM: attribute \"n\" is missing");
    EXPECT_EQ(error_of_first("n,,n=x"), "error 5010: SCRAM: attribute \"r\" is missing");
    EXPECT_EQ(error_of_first("n,,n=x,r="),
              "error 5010: SCRAM: the client's nonce is not printable");
    EXPECT_EQ(error_of_first("n,,n=x,r=a b"),
              "error 5010: SCRAM: the client's nonce is not printable");
}

TEST(Scram, AFinalMessageSaysWhatIsWrongWithIt) {
    const std::string proof = ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const std::string nonce = "rOprNGfwEbeRWgbNEkqO" + std::string(kServerNonce);
    EXPECT_EQ(outcome_of_final(""), "error 5010: SCRAM: attribute \"p\" is missing");
    EXPECT_EQ(outcome_of_final("c=biws,r=" + nonce + ",p=AAAA"),
              "error 5010: SCRAM: this is not a proof");
    EXPECT_EQ(outcome_of_final("c=biws,r=" + nonce + ",p=dHz*"),
              "error 5010: SCRAM: this is not a proof");
    EXPECT_EQ(outcome_of_final("r=" + nonce + proof),
              "error 5010: SCRAM: attribute \"c\" is missing");
    EXPECT_EQ(outcome_of_final("c=eSws,r=" + nonce + proof),
              "error 5010: SCRAM: the channel binding is not what was said first");
    EXPECT_EQ(outcome_of_final("c=biws,r=" + nonce + "x" + proof),
              "error 5010: SCRAM: the nonce is not that of this exchange");
    EXPECT_EQ(outcome_of_final("c=biws,r=" + nonce + ",x=extension" + proof), "rejected");
}

// ---- the client's side --------------------------------------------------------------------------

// RFC 7677 with an empty user, who is named elsewhere; the server is ours.
TEST(ScramClient, ProvesThePasswordAndHasTheServerProveTheVerifier) {
    ScramServer server("user", make_verifier("pencil", kScramSalt), {.nonce = "srv", .mock = "m"});
    ScramClient client("pencil", "cln");
    const auto server_first = server.first(client.first());
    ASSERT_TRUE(server_first);
    const auto client_final = client.final(*server_first);
    ASSERT_TRUE(client_final);
    const auto outcome = server.final(*client_final);
    ASSERT_TRUE(outcome && std::holds_alternative<ScramServer::Accepted>(*outcome));
    const std::string message = std::get<ScramServer::Accepted>(*outcome).message;
    EXPECT_TRUE(client.check(message));
    EXPECT_FALSE(client.check("v=AAAA"));
    EXPECT_FALSE(client.check("e=other-error"));
    EXPECT_FALSE(client.check(""));
    const auto other = ScramClient("pencil", "cln").check(message);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::not_authenticated);
}

TEST(ScramClient, WithAnotherPasswordIsRejected) {
    ScramServer server("user", make_verifier("pencil", kScramSalt), {.nonce = "srv", .mock = "m"});
    ScramClient client("pen", "cln");
    const auto outcome = server.final(*client.final(*server.first(client.first())));
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(std::holds_alternative<ScramServer::Rejected>(*outcome));
}

TEST(ScramClient, RefusesWhatOnlyCostsItTimeOrIsOfAnotherExchange) {
    for (const std::string text :
         {"r=clnsrv,s=AAAA,i=2000000000", "r=clnsrv,s=AAAA,i=1", "r=clnsrv,s=,i=4096",
          "r=cln,s=AAAA,i=4096", "r=other,s=AAAA,i=4096", "r=clnsrv,s=*,i=4096", "", "r="}) {
        EXPECT_FALSE(ScramClient("pencil", "cln").final(text)) << text;
    }
}

TEST(ScramVerifier, IsWrittenAsPostgresDoesAndReadBack) {
    const ScramVerifier verifier = make_verifier("pencil", kScramSalt);
    const std::string text = to_string(verifier);
    EXPECT_EQ(text,
              "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"
              "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
              "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");
    const auto read = verifier_of(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, verifier);
}

TEST(ScramVerifier, OtherTextIsRefusedAndNotRepeated) {
    const std::string good = to_string(make_verifier("pencil", kScramSalt));
    for (const std::string& text :
         {std::string(), std::string("pencil"), std::string("md5abc"), good.substr(1),
          good.substr(0, good.size() - 1), good + "A", "SCRAM-SHA-256$0" + good.substr(18),
          "SCRAM-SHA-256$-1" + good.substr(18), "SCRAM-SHA-256$99999999999" + good.substr(18),
          std::string("SCRAM-SHA-256$4096:$AAAA:AAAA")}) {
        const auto read = verifier_of(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().message, "this is not a verifier of a password");
    }
}

RC_GTEST_PROP(ScramVerifier, AnySaltIsReadBack, (const std::string& salt)) {
    RC_PRE(!salt.empty());
    const ScramVerifier verifier{.iterations = 1,
                                 .salt = salt,
                                 .stored_key = std::string(32, 's'),
                                 .server_key = std::string(32, 'k')};
    const auto read = verifier_of(to_string(verifier));
    RC_ASSERT(read);
    RC_ASSERT(*read == verifier);
}

}  // namespace
}  // namespace baton::pgwire
