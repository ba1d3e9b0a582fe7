// Against a real broker, which each test starts on a free port.
#include "adapters/mqtt/mqtt_bytes.h"

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/free_port.h"
#include "testing/temporary_directory.h"

namespace baton::mqtt {
namespace {

using testing::TemporaryDirectory;
using What = BytesRead::What;

constexpr Duration kLong = std::chrono::seconds(20);

sockaddr_in local(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

class Broker {
public:
    explicit Broker(const std::string& options = "allow_anonymous true\n")
        : port_(testing::free_port()) {
        std::ofstream(directory_ / "broker.conf")
            << "user root\nlistener " << port_
            << " 127.0.0.1\n"  // so that it may keep sessions there
            << options << "log_type none\npersistence true\npersistence_location "
            << directory_.path() << "/\n";
        start();
    }
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;
    ~Broker() { stop(); }

    void start() {
        process_ = ::fork();
        if (process_ == 0) {
            const std::string config = directory_ / "broker.conf";
            for (const char* const program : {"/usr/sbin/mosquitto", "mosquitto"}) {
                ::execlp(program, program, "-c", config.c_str(), nullptr);
            }
            ::_exit(127);
        }
        const auto deadline = std::chrono::steady_clock::now() + kLong;
        while (!answers() && std::chrono::steady_clock::now() < deadline) ::poll(nullptr, 0, 10);
    }
    void stop() {
        if (process_ <= 0) return;
        ::kill(process_, SIGTERM);
        ::waitpid(process_, nullptr, 0);
        process_ = 0;
    }

    [[nodiscard]] MqttBroker at(const std::string& topic) const {
        return {.uri = "tcp://127.0.0.1:" + std::to_string(port_), .topic = topic};
    }
    [[nodiscard]] MqttBroker encrypted_at(const std::string& host) const {
        return {.uri = "ssl://" + host + ":" + std::to_string(port_), .topic = "t"};
    }
    [[nodiscard]] const std::string& directory() const { return directory_.path(); }

private:
    [[nodiscard]] bool answers() const {
        const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
        const sockaddr_in address = local(port_);
        const bool good =
            ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        ::close(probe);
        return good;
    }

    TemporaryDirectory directory_;
    std::uint16_t port_;
    pid_t process_ = 0;
};

MqttBytes any_broker() {
    static const targets::AllowedTargets kAll =
        *targets::AllowedTargets::of({.connect_to = {"*"}, .own_ports = {}});
    return MqttBytes(kAll);
}

// Reads until so many bytes have come.
std::string bytes_of(ByteSource& source, std::size_t count, int* reconnects = nullptr) {
    std::string all;
    std::array<char, 1000> part{};
    while (all.size() < count) {
        const auto read = source.read(part, kLong);
        EXPECT_TRUE(read.has_value());
        if (!read || read->what != What::bytes) break;
        if (read->reconnected && reconnects != nullptr) *reconnects += 1;
        all.append(part.data(), read->count);
    }
    return all;
}

TEST(MqttBytes, CarriesMessagesInTheirOrder) {
    const Broker broker;
    for (const int qos : {0, 1, 2}) {
        MqttBroker at = broker.at("rows/" + std::to_string(qos));
        at.qos = qos;
        auto source = any_broker().subscribe({.broker = at});
        ASSERT_TRUE(source.has_value()) << to_string(source.error());
        auto sink = any_broker().publish({.broker = at, .outstanding_max = 3});
        ASSERT_TRUE(sink.has_value()) << to_string(sink.error());
        std::string expected;
        for (int i = 0; i < 200; ++i) {
            const std::string row = std::to_string(i) + ",a";
            ASSERT_TRUE((*sink)->write(i % 2 == 0 ? row : row + "\n").has_value());
            expected += row + "\n";  // the delimiter is put where it is missing
        }
        ASSERT_TRUE((*sink)->finish().has_value());
        EXPECT_EQ(bytes_of(**source, expected.size()), expected);
    }
}

TEST(MqttBytes, ARetainedMessageWaitsForNewcomers) {
    const Broker broker;
    auto sink = any_broker().publish({.broker = broker.at("state"), .retained = true});
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE((*sink)->write("last").has_value());
    ASSERT_TRUE((*sink)->finish().has_value());
    auto source = any_broker().subscribe({.broker = broker.at("state"), .delimiter = "|"});
    ASSERT_TRUE(source.has_value());
    EXPECT_EQ(bytes_of(**source, 5), "last|");
}

TEST(MqttBytes, AClientThatIsNotForgottenGetsWhatItMissed) {
    const Broker broker;
    MqttBroker at = broker.at("t");
    at.client_id = "reader";
    at.clean_session = false;
    ASSERT_TRUE(any_broker().subscribe({.broker = at}).has_value());  // and leaves again
    auto sink = any_broker().publish({.broker = broker.at("t")});
    ASSERT_TRUE((*sink)->write("missed").has_value());
    ASSERT_TRUE((*sink)->finish().has_value());
    auto source = any_broker().subscribe({.broker = at});
    ASSERT_TRUE(source.has_value());
    EXPECT_EQ(bytes_of(**source, 7), "missed\n");
    at.client_id.reset();
    EXPECT_EQ(any_broker().subscribe({.broker = at}).error().code,
              ErrorCode::invalid_configuration);
}

TEST(MqttBytes, ALostConnectionIsMadeAgain) {
    Broker broker;
    MqttBroker at = broker.at("t");
    at.client_id = "reader";
    at.clean_session = false;
    auto source = any_broker().subscribe({.broker = at});
    auto sink = any_broker().publish({.broker = broker.at("t")});
    ASSERT_TRUE(source.has_value() && sink.has_value());
    ASSERT_TRUE((*sink)->write("before").has_value());
    EXPECT_EQ(bytes_of(**source, 7), "before\n");
    broker.stop();
    broker.start();
    ASSERT_TRUE((*sink)->write("after").has_value());
    ASSERT_TRUE((*sink)->finish().has_value());
    EXPECT_EQ(bytes_of(**source, 6), "after\n");
}

TEST(MqttBytes, ABrokerMayAskForAPassword) {
    const TemporaryDirectory directory;
    const std::string file = directory / "passwords";
    const std::string command = "mosquitto_passwd -b -c " + file + " me secret 2>/dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "mosquitto_passwd is not there";
    ASSERT_EQ(std::system(("chmod 644 " + file + "; chmod 755 " + directory.path()).c_str()), 0);
    const Broker broker("allow_anonymous false\npassword_file " + file + "\n");
    MqttBroker at = broker.at("t");
    EXPECT_EQ(any_broker().publish({.broker = at}).error().code, ErrorCode::cannot_connect);
    at.username = "me";
    at.password = "wrong";
    const auto refused = any_broker().subscribe({.broker = at});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message, "cannot reach topic \"t\" of \"" + at.uri +
                                           "\": Connection Refused: not authorised.");
    at.password = "secret";
    EXPECT_TRUE(any_broker().subscribe({.broker = at}).has_value());
}

// An authority with a broker's and a client's certificate, and one that signed nothing.
class Authority {
public:
    Authority() {
        authority("ca");
        authority("other");
        sign("broker", "subjectAltName=DNS:broker.example,IP:127.0.0.1");
        sign("client", "subjectAltName=DNS:client");
        run("chmod 755 " + directory_.path() + "; chmod 644 " + directory_.path() + "/*");
    }
    [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
    [[nodiscard]] std::string pem(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::string settings() const {
        return "allow_anonymous true\ncafile " + path("ca.pem") + "\ncertfile " +
               path("broker.pem") + "\nkeyfile " + path("broker.key") + "\n";
    }

private:
    static void run(const std::string& command) {
        ASSERT_EQ(std::system((command + " 2>/dev/null").c_str()), 0) << command;
    }
    void authority(const std::string& name) const {
        run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
            "-subj /CN=" +
            name + " -keyout " + path(name + ".key") + " -out " + path(name + ".pem"));
    }
    void sign(const std::string& name, const std::string& extension) const {
        std::ofstream(path(name + ".ext")) << extension << "\n";
        run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=" +
            name + " -keyout " + path(name + ".key") + " -out " + path(name + ".csr"));
        run("openssl x509 -req -days 2 -in " + path(name + ".csr") + " -CA " + path("ca.pem") +
            " -CAkey " + path("ca.key") + " -CAcreateserial -extfile " + path(name + ".ext") +
            " -out " + path(name + ".pem"));
    }

    TemporaryDirectory directory_;
};

TEST(MqttBytes, AnEncryptedBrokerHasToProveItsName) {
    const Authority authority;
    const Broker broker(authority.settings());
    MqttBroker at = broker.encrypted_at("127.0.0.1");
    at.tls_ca = authority.pem("ca.pem");
    auto source = any_broker().subscribe({.broker = at});
    ASSERT_TRUE(source.has_value()) << to_string(source.error());
    auto sink = any_broker().publish({.broker = at});
    ASSERT_TRUE(sink.has_value()) << to_string(sink.error());
    ASSERT_TRUE((*sink)->write("secret").has_value());
    ASSERT_TRUE((*sink)->finish().has_value());
    EXPECT_EQ(bytes_of(**source, 7), "secret\n");

    at = broker.encrypted_at("localhost");
    at.tls_ca = authority.pem("ca.pem");
    const auto misnamed = any_broker().publish({.broker = at});
    ASSERT_FALSE(misnamed.has_value());
    EXPECT_NE(misnamed.error().message.find("its certificate is refused: hostname mismatch"),
              std::string::npos)
        << misnamed.error().message;
    at.tls_server_name = "broker.example";
    EXPECT_TRUE(any_broker().publish({.broker = at}).has_value());
}

TEST(MqttBytes, ABrokerThatNobodyKnownSignedForIsRefused) {
    const Authority authority;
    const Broker broker(authority.settings());
    MqttBroker at = broker.encrypted_at("127.0.0.1");
    for (const bool other : {false, true}) {
        if (other) at.tls_ca = authority.pem("other.pem");
        const auto refused = any_broker().publish({.broker = at});
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, ErrorCode::cannot_connect);
        EXPECT_NE(refused.error().message.find("its certificate is refused"), std::string::npos)
            << refused.error().message;
    }
}

TEST(MqttBytes, ABrokerMayAskForACertificate) {
    const Authority authority;
    const Broker broker(authority.settings() + "require_certificate true\n");
    MqttBroker at = broker.encrypted_at("127.0.0.1");
    at.tls_ca = authority.pem("ca.pem");
    EXPECT_EQ(any_broker().publish({.broker = at}).error().code, ErrorCode::cannot_connect);
    at.tls_cert = authority.pem("client.pem");
    at.tls_key = authority.pem("client.key");
    const auto sink = any_broker().publish({.broker = at});
    EXPECT_TRUE(sink.has_value()) << to_string(sink.error());
    at.tls_key = authority.pem("broker.key");
    EXPECT_EQ(any_broker().publish({.broker = at}).error().message,
              "option \"TLS_KEY\" cannot be used: it is not the key of TLS_CERT");
    at.tls_key = "no key";
    EXPECT_EQ(any_broker().publish({.broker = at}).error().code, ErrorCode::invalid_configuration);
}

TEST(MqttBytes, ABrokerThatIsNotAllowedIsNotSpokenTo) {
    const Broker broker;
    const targets::AllowedTargets none;
    EXPECT_EQ(MqttBytes(none).publish({.broker = broker.at("t")}).error().code,
              ErrorCode::not_permitted);
}

TEST(MqttBytes, NoBrokerIsAnError) {
    const std::uint16_t port = testing::free_port();
    const auto source = any_broker().subscribe(
        {.broker = {.uri = "tcp://127.0.0.1:" + std::to_string(port), .topic = "t"}});
    ASSERT_FALSE(source.has_value());
    EXPECT_EQ(source.error().code, ErrorCode::cannot_connect);
    for (const char* const uri : {"http://h:1", "tcp://h:x", "tcp://:1", "tcp://h:70000", ""}) {
        EXPECT_EQ(any_broker().publish({.broker = {.uri = uri, .topic = "t"}}).error().code,
                  ErrorCode::invalid_configuration)
            << uri;
    }
}

TEST(MqttBytes, AReadThatWaitsCanBeInterrupted) {
    const Broker broker;
    auto source = any_broker().subscribe({.broker = broker.at("t")});
    ASSERT_TRUE(source.has_value());
    std::thread interrupter([&] { (*source)->interrupt(); });
    std::array<char, 10> part{};
    EXPECT_EQ((*source)->read(part, std::chrono::hours(1))->what, What::nothing);
    interrupter.join();
}

TEST(MqttBytes, AWriteThatWaitsCanBeInterrupted) {
    Broker broker;
    auto sink = any_broker().publish({.broker = broker.at("t"), .outstanding_max = 1});
    ASSERT_TRUE(sink.has_value());
    broker.stop();
    std::thread interrupter([&] { (*sink)->interrupt(); });
    Result<Done> written = Done{};
    for (int i = 0; i < 3 && written; ++i) written = (*sink)->write("x");
    interrupter.join();
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace baton::mqtt
