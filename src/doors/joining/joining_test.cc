#include <atomic>
#include <future>
#include <list>
#include <thread>

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include "adapters/certificates/openssl_certificates.h"
#include "adapters/system/system_clock.h"
#include "doors/joining/join_call.h"
#include "doors/joining/join_door.h"

namespace baton::joining {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;

class JoiningTest : public ::testing::Test {
protected:
    struct Issuer {
        explicit Issuer(CertificateMaker& maker)
            : now(system::SystemClock().wall_now()),
              keys(*maker.make_authority("c", now - 1h, now + 24h)) {}
        WallTime now;
        KeyAndCertificate keys;
    };
    system::TlsTexts texts_of(const Issuer& issuer, const std::string& host) {
        const auto made = maker_.make(issuer.keys, {.uris = {"baton://c/worker/w"},
                                                    .hosts = {host},
                                                    .from = issuer.now - 1h,
                                                    .until = issuer.now + 1h});
        return {.ca = issuer.keys.certificate, .cert = made->certificate, .key = made->key};
    }
    JoinDoorOptions options() {
        return {
            .listen = {.host = "localhost", .port = 0},
            .tls = texts_of(issuer_, "coordinator.c"),
            .join = [this](const std::string& token,
                           const std::string& request) -> Result<std::string> {
                asked_ += 1;
                if (token == "good") return "certificate for " + request;
                return Error{.code = ErrorCode::not_authenticated, .message = "bad token"};
            },
            .renew = [this](const std::string& shown, const std::string&) -> Result<std::string> {
                asked_ += 1;
                if (maker_.look_at(shown)) return shown;
                return Error{.code = ErrorCode::not_permitted, .message = "dropped"};
            },
            .log = {}};
    }
    std::unique_ptr<JoinDoor> open(const JoinDoorOptions& options) {
        auto opened = JoinDoor::open(options);
        EXPECT_TRUE(opened) << to_string(opened.error());
        return *std::move(opened);
    }
    JoinCall call(const JoinDoor& door, const std::string& token = "good") {
        return {.address = "localhost:" + std::to_string(door.port()),
                .server_name = "coordinator.c",
                .ca = issuer_.keys.certificate,
                .shown = {},
                .token = token,
                .request = "request"};
    }
    static tcp::socket connect(asio::io_context& io, const JoinDoor& door) {
        tcp::socket socket(io);
        socket.connect({asio::ip::address_v4::loopback(), door.port()});
        return socket;
    }

    certificates::OpensslCertificates maker_;
    const Issuer issuer_{maker_};
    std::atomic<int> asked_ = 0;
};

TEST_F(JoiningTest, ATokenGivesACertificate) {
    const auto door = open(options());
    const auto certificate = ask_for_certificate(call(*door));
    ASSERT_TRUE(certificate) << to_string(certificate.error());
    EXPECT_EQ(*certificate, "certificate for request");
    const auto refused = ask_for_certificate(call(*door, "bad"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::not_authenticated);
    EXPECT_NE(refused.error().message.find("bad token"), std::string::npos);
}

TEST_F(JoiningTest, ACertificateOfTheSameIssuerIsRenewedAndNoOther) {
    const auto door = open(options());
    JoinCall renewal = call(*door);
    renewal.shown = texts_of(issuer_, "worker.c");
    const auto again = ask_for_certificate(renewal);
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(maker_.look_at(*again)->serial, maker_.look_at(renewal.shown->cert)->serial);
    const Issuer stranger(maker_);
    renewal.shown = texts_of(stranger, "worker.c");
    renewal.shown->ca = issuer_.keys.certificate;
    const int before = asked_;
    const auto refused = ask_for_certificate(renewal);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::cannot_connect);
    EXPECT_EQ(asked_, before);
}

TEST_F(JoiningTest, NothingIsSaidToAFalseCoordinator) {
    const Issuer stranger(maker_);
    JoinDoorOptions false_one = options();
    false_one.tls = texts_of(stranger, "coordinator.c");
    const auto of_another_issuer = open(false_one);
    EXPECT_EQ(ask_for_certificate(call(*of_another_issuer)).error().code,
              ErrorCode::cannot_connect);
    false_one.tls = texts_of(issuer_, "worker.c");
    const auto of_another_name = open(false_one);
    EXPECT_EQ(ask_for_certificate(call(*of_another_name)).error().code, ErrorCode::cannot_connect);
    EXPECT_EQ(asked_, 0);
}

TEST_F(JoiningTest, NobodyThereIsAnError) {
    JoinCall nowhere = call(*open(options()));  // it is closed by now
    const auto refused = ask_for_certificate(nowhere);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::cannot_connect);
    nowhere.address = "no.such.host.invalid:1";
    EXPECT_FALSE(ask_for_certificate(nowhere));
}

TEST_F(JoiningTest, ConnectionsThatSayNothingKeepNobodyOut) {
    JoinDoorOptions few = options();
    few.connections_max = 4;
    const auto door = open(few);
    asio::io_context io;
    std::list<tcp::socket> silent;
    for (int i = 0; i < 40; ++i) silent.push_back(connect(io, *door));
    const auto certificate = ask_for_certificate(call(*door));
    EXPECT_TRUE(certificate) << to_string(certificate.error());
}

TEST_F(JoiningTest, AConnectionThatSaysNothingIsClosed) {
    JoinDoorOptions impatient = options();
    impatient.request_timeout = 50ms;
    const auto door = open(impatient);
    asio::io_context io;
    tcp::socket silent = connect(io, *door);
    char byte = 0;
    boost::system::error_code error;
    EXPECT_EQ(silent.read_some(asio::buffer(&byte, 1), error), 0U);
    EXPECT_TRUE(error);
}

TEST_F(JoiningTest, ARequestIsBounded) {
    const auto door = open(options());
    JoinCall large = call(*door);
    large.request = std::string(1 << 20, 'x');
    EXPECT_FALSE(ask_for_certificate(large));
    large = call(*door, std::string(30'000, 'x'));
    EXPECT_FALSE(ask_for_certificate(large));
    large = call(*door, std::string(1 << 20, 'x'));
    EXPECT_FALSE(ask_for_certificate(large));
    EXPECT_EQ(asked_, 0);
    EXPECT_TRUE(ask_for_certificate(call(*door)));
}

TEST_F(JoiningTest, MoreRequestsThanCanBeServedAreRefusedAndNoneIsLost) {
    std::promise<void> free;
    const auto freed = free.get_future().share();
    std::promise<void> inside;
    JoinDoorOptions slow = options();
    slow.served_max = 1;
    slow.join = [&](const std::string&, const std::string&) -> Result<std::string> {
        inside.set_value();
        freed.wait();
        return std::string("certificate");
    };
    const auto door = open(slow);
    auto first = std::async(std::launch::async, [&] { return ask_for_certificate(call(*door)); });
    inside.get_future().wait();
    const auto second = ask_for_certificate(call(*door));
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("too many workers"), std::string::npos);
    free.set_value();
    EXPECT_TRUE(first.get());
}

TEST_F(JoiningTest, ADoorThatIsTakenIsAnError) {
    const auto door = open(options());
    JoinDoorOptions same = options();
    same.listen.port = door->port();
    const auto refused = JoinDoor::open(same);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_configuration);
    same.tls.key = "nonsense";
    EXPECT_FALSE(JoinDoor::open(same));
}

}  // namespace
}  // namespace baton::joining
