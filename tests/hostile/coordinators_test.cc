// Followers that are led astray: somebody else stands at the address of the leader.
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hostile/daemon.h"
#include "testing/free_port.h"
#include "testing/servers/database_server.h"

namespace baton::hostile {
namespace {

// A server that lets whoever comes begin, says one thing, and keeps everything it hears.
class FalseLeader {
public:
    explicit FalseLeader(std::string demand)
        : demand_(std::move(demand)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listener_, 64), 0);
        (void)::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { run(); });
    }
    ~FalseLeader() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    // When it is gone.
    std::shared_ptr<std::string> heard = std::make_shared<std::string>();

private:
    static std::string read_some(int socket) {
        pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
        if (::poll(&ready, 1, 500) <= 0) return {};
        char buffer[4096];
        const ssize_t got = ::recv(socket, buffer, sizeof(buffer), 0);
        return got <= 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(got));
    }
    static void say(int socket, const std::string& bytes) {
        (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    void run() {
        for (;;) {
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket < 0) return;
            (void)read_some(socket);  // whether it encrypts
            say(socket, "N");
            (void)read_some(socket);  // the start-up message
            say(socket, demand_);
            for (std::string more = read_some(socket); !more.empty(); more = read_some(socket)) {
                *heard += more;
            }
            ::close(socket);
        }
    }

    const std::string demand_;
    const int listener_;
    int port_ = 0;
    std::thread thread_;
};

std::string authentication(char kind, const std::string& data = "") {
    const auto size = static_cast<char>(8 + data.size());
    return std::string("R\0\0\0", 4) + size + std::string("\0\0\0", 3) + kind + data;
}

class HostileCoordinators : public ::testing::TestWithParam<testing::ServerKind> {
protected:
    // Somebody has written this address into the row of the leader, for an hour.
    void lead_astray(const std::string& address) {
        const auto database = testing::open_server_database(GetParam(), url_);
        ASSERT_TRUE(database);
        const auto sql = (*database)->connect(Access::write);
        ASSERT_TRUE(sql);
        const auto done = (*sql)->execute(
            "UPDATE lease SET owner = ?, epoch = epoch + 1, expires_at = expires_at + 3600000000 "
            "WHERE lock_key = 'leader'",
            {"evil:1:x " + address});
        ASSERT_TRUE(done) << to_string(done.error());
        const auto fenced =
            (*sql)->execute("UPDATE fence SET epoch = epoch + 1 WHERE lock_key = 'leader'");
        ASSERT_TRUE(fenced);
    }
    std::string secret() {
        const auto database = testing::open_server_database(GetParam(), url_);
        const auto sql = (*database)->connect(Access::read);
        return std::get<std::string>(
            (*(*sql)->query("SELECT secret FROM coordinator_secret")).at(0).at(0));
    }

    const std::string url_ = testing::DatabaseServer::shared(GetParam()).new_database();
};

TEST_P(HostileCoordinators, AFalseLeaderIsToldNothingAndTheClientWhy) {
    struct Case {
        std::string demand;
        std::string why;
    };
    const std::string sasl = authentication(10, std::string("SCRAM-SHA-256\0\0", 15));
    const std::vector<Case> cases = {
        {authentication(3), "asks for the password itself"},          // in clear
        {authentication(5, "salt"), "asks for the password itself"},  // MD5
        {sasl + authentication(3), "asks for the password itself"},   // in the middle
        {authentication(0) + std::string("Z\0\0\0\5I", 6), "does not ask for our proof"},
        {sasl + authentication(12, "v=AAAA"), "asks for the password itself"},
        {sasl + authentication(0), "does not ask for our proof"},
    };
    Daemon daemon({"--catalog", url_, "--lease-ttl", "2", "--set", "forward_wait=2"});
    ASSERT_TRUE(daemon.takes_a_write());
    for (const Case& one : cases) {
        std::shared_ptr<std::string> heard;
        {
            FalseLeader leader(one.demand);
            heard = leader.heard;
            lead_astray(leader.address());
            cli::Ended refused;
            const auto deadline = std::chrono::steady_clock::now() + cli::kPatience;
            do {  // until it has noticed that it leads no more
                refused = daemon.psql("CREATE LOGICAL SOURCE never (a INT8)");
            } while (refused.errors.find(one.why) == std::string::npos &&
                     std::chrono::steady_clock::now() < deadline);
            EXPECT_NE(refused.status, 0);
            EXPECT_NE(refused.errors.find(one.why), std::string::npos) << refused.errors;
        }
        EXPECT_EQ(heard->find(secret()), std::string::npos);
        EXPECT_EQ(heard->find("CREATE"), std::string::npos) << "it was sent the order";
        // Nothing, or the first message of SCRAM, which holds a random number.
        const std::string first = "n,,n=,r=";
        EXPECT_TRUE(heard->empty() || heard->find(first) != std::string::npos) << *heard;
        EXPECT_EQ(heard->find(",p="), std::string::npos) << *heard;
    }
}

INSTANTIATE_TEST_SUITE_P(On, HostileCoordinators,
                         ::testing::Values(testing::ServerKind::postgres,
                                           testing::ServerKind::mariadb),
                         [](const auto& one) {
                             return one.param == testing::ServerKind::postgres ? "Postgres"
                                                                               : "Mariadb";
                         });

// ---- with certificates --------------------------------------------------------------------------

class HostileCoordinatorsTls : public ::testing::Test {
protected:
    void make_certificate(const std::string& name, const std::string& address) const {
        const cli::Ended made =
            cli::run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                      "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                      "/CN=" + name, "-addext", "subjectAltName=IP:" + address, "-keyout",
                      directory_ / (name + ".key"), "-out", directory_ / (name + ".pem")});
        ASSERT_EQ(made.status, 0) << made.errors;
    }
    // Its port for psql, when it is ready.
    std::string start(const std::string& name, const std::string& cert, const std::string& ca) {
        const std::string pg = std::to_string(testing::free_port());
        const std::string http = std::to_string(testing::free_port());
        daemons_.push_back(std::make_unique<cli::Process>(
            std::vector<std::string>{BATON_PROGRAMS "/baton",
                                     "serve",
                                     "--data",
                                     directory_ / name,
                                     "--catalog",
                                     url_,
                                     "--lease-ttl",
                                     "2",
                                     "--pg",
                                     "127.0.0.1:" + pg,
                                     "--http",
                                     "127.0.0.1:" + http,
                                     "--set",
                                     "forward_wait=4",
                                     "--set",
                                     "tls.cert=" + (directory_ / (cert + ".pem")),
                                     "--set",
                                     "tls.key=" + (directory_ / (cert + ".key")),
                                     "--set",
                                     "tls.ca=" + (directory_ / (ca + ".pem"))}));
        const auto deadline = std::chrono::steady_clock::now() + cli::kPatience;
        while (
            cli::run({"/usr/bin/curl", "-sfk", "https://127.0.0.1:" + http + "/readyz"}).status !=
                0 &&
            std::chrono::steady_clock::now() < deadline) {
            ::usleep(20'000);
        }
        return pg;
    }
    static cli::Ended write(const std::string& port, const std::string& name) {
        return cli::run({"/usr/bin/psql", "-X", "-v", "ON_ERROR_STOP=1",
                         "host=127.0.0.1 dbname=baton user=ann sslmode=require port=" + port},
                        "CREATE LOGICAL SOURCE " + name + " (a INT8);\n");
    }

    testing::TemporaryDirectory directory_;
    const std::string url_ =
        testing::DatabaseServer::shared(testing::ServerKind::postgres).new_database();
    std::vector<std::unique_ptr<cli::Process>> daemons_;
};

TEST_F(HostileCoordinatorsTls, OrdersGoOnlyToWhomTheCertificateNames) {
    make_certificate("here", "127.0.0.1");
    make_certificate("elsewhere", "192.0.2.7");
    const std::string leader = start("a", "here", "here");
    const std::string follower = start("b", "here", "here");
    for (const auto& [port, name] : {std::pair(leader, "one"), std::pair(follower, "two")}) {
        const cli::Ended done = write(port, name);
        EXPECT_EQ(done.status, 0) << done.errors;
    }
    // One that trusts somebody else sends nothing.
    const std::string wary = start("c", "here", "elsewhere");
    const cli::Ended refused = write(wary, "three");
    EXPECT_NE(refused.status, 0);
    EXPECT_NE(refused.errors.find("TLS: "), std::string::npos) << refused.errors;
}

}  // namespace
}  // namespace baton::hostile
