// Clients that do not behave: what they did is gone with them.
#include <fstream>
#include <thread>

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/pgwire/scripted_test.h"
#include "base/prng.h"
#include "pgwire/server_test_base.h"

namespace baton {
namespace {

using namespace std::chrono_literals;
namespace said = pgwire::testing;

// A socket that says what it is told to.
class Client {
public:
    explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval patience{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    }
    ~Client() {
        if (socket_ >= 0) ::close(socket_);
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void say(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    // Until the text occurs, or the server has closed.
    std::string hear(std::string_view until = "\xff\xff never") const {
        std::string heard;
        std::array<char, 4096> some{};
        while (heard.find(until) == std::string::npos) {
            const auto count = ::recv(socket_, some.data(), some.size(), 0);
            if (count <= 0) break;
            heard.append(some.data(), static_cast<std::size_t>(count));
        }
        return heard;
    }
    // With a reset, as when a process is killed with unread input.
    void vanish() {
        const linger none{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        ::close(std::exchange(socket_, -1));
    }
    [[nodiscard]] bool connected() const { return connected_; }

private:
    int socket_;
    bool connected_ = false;
};

const std::string kReady = said::frame('Z', "I");

class Abuse : public ServerTest {
protected:
    static std::size_t descriptors() {
        std::size_t count = 0;
        DIR* directory = ::opendir("/proc/self/fd");
        while (::readdir(directory) != nullptr) count += 1;
        ::closedir(directory);
        return count;
    }
    void expect_nobody() {
        EXPECT_TRUE(eventually([&] {
            return server_->load().connections == 0 && desk_->load().visitors == 0;
        })) << server_->load().connections
            << " connections, " << desk_->load().visitors << " visitors";
    }
    void expect_served() {
        const Client client(server_->port());
        client.say(said::startup());
        EXPECT_NE(client.hear(kReady).find(kReady), std::string::npos);
        client.say(said::query("SHOW LINKS"));
        EXPECT_NE(client.hear(kReady).find("EDGE"), std::string::npos);
    }
};

TEST_F(Abuse, RandomBytesEndOnlyTheirConnection) {
    Prng dice(7);
    const std::size_t before = descriptors();
    for (int i = 0; i < 200; ++i) {
        Client client(server_->port());
        std::string bytes = i % 3 == 0 ? "" : said::startup();
        for (std::uint64_t n = dice.next() % 300; n > 0; --n) {
            bytes += static_cast<char>(dice.next() % 256);
        }
        client.say(bytes);
        if (i % 2 == 0) client.vanish();
    }
    expect_nobody();
    expect_served();
    expect_nobody();
    EXPECT_LE(descriptors(), before + 4);
}

TEST_F(Abuse, HalfAMessageAndSilenceAreBounded) {
    serve({.login_timeout = 300ms});
    const Client half(server_->port());
    half.say(said::startup().substr(0, 10));
    const Client silent(server_->port());
    EXPECT_NE(half.hear().find("the login took too long"), std::string::npos);
    silent.hear();
    expect_nobody();
}

TEST_F(Abuse, WhoVanishesInMidStreamLeavesNothing) {
    const std::size_t before = descriptors();
    for (int i = 0; i < 50; ++i) {
        Client client(server_->port());
        client.say(said::startup() + said::query("BEGIN; SHOW WORKERS"));
        client.hear("EDGE");
        if (i % 2 == 0) client.say(said::query("ROLLBACK; WATCH SHOW WORKERS"));
        if (i % 4 == 0) client.hear("snapshot");
        client.vanish();
    }
    expect_nobody();
    EXPECT_LE(descriptors(), before + 4);
    run("CREATE LOGICAL SOURCE after (a INT8)");  // whatever watched is not in the way
}

TEST_F(Abuse, WhoDoesNotReadIsNotWaitedFor) {
    serve({.output_bytes_max = 10'000});
    std::string names;
    for (int i = 0; i < 300; ++i) {
        names += "CREATE LOGICAL SOURCE s" + std::to_string(i) + " (a INT8);";
    }
    run("BEGIN;" + names + "COMMIT");
    Client client(server_->port());
    client.say(said::startup());
    client.hear(kReady);
    std::string many;
    for (int i = 0; i < 2000; ++i) many += said::query("SELECT * FROM baton.changes");
    std::thread talks([&] { client.say(many); });
    std::this_thread::sleep_for(500ms);
    expect_served();
    run("CREATE LOGICAL SOURCE other (a INT8)");
    client.vanish();
    talks.join();
    expect_nobody();
}

TEST_F(Abuse, TooManyAreToldSo) {
    serve({.connections_max = 2});
    const Client first(server_->port());
    const Client second(server_->port());
    first.say(said::startup());
    second.say(said::startup());
    first.hear(kReady);
    second.hear(kReady);
    const Client third(server_->port());
    third.say(said::startup());
    EXPECT_NE(third.hear().find("53300"), std::string::npos);
    EXPECT_GE(server_->load().refused, 1U);
}

TEST_F(Abuse, ACancelWithTheWrongKeyDoesNothing) {
    const Client watches(server_->port());
    watches.say(said::startup());
    const std::string start = watches.hear(kReady);
    const std::size_t at = start.find(said::frame('K', "12345678").substr(0, 5));
    ASSERT_NE(at, std::string::npos);
    std::string key = start.substr(at + 5, 8);
    watches.say(said::query("WATCH SHOW LINKS"));
    watches.hear("snapshot");
    const std::string request = "\x04\xd2\x16\x2e";
    std::string wrong = key;
    wrong[7] = static_cast<char>(wrong[7] + 1);
    {
        const Client guesses(server_->port());
        guesses.say(said::startup_packet(request + wrong));
        EXPECT_EQ(guesses.hear(), "");
    }
    run("CREATE WORKER 'c:1' SET ('C' AS NAME, 'HUB' AS DOWNSTREAM)");
    watches.hear("create");
    const Client knows(server_->port());
    knows.say(said::startup_packet(request + key));
    EXPECT_EQ(knows.hear(), "");
    EXPECT_NE(watches.hear(kReady).find("57014"), std::string::npos);
}

TEST_F(Abuse, TheServerOutlivesAWantOfDescriptors) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = descriptors() + 20;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    {
        std::vector<std::unique_ptr<Client>> crowd;
        while (crowd.empty() || (crowd.back()->connected() && crowd.size() < 100)) {
            crowd.push_back(std::make_unique<Client>(server_->port()));
        }
        EXPECT_TRUE(eventually([&] { return log_.count("warn: cannot accept a connection") > 0; }));
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    expect_served();
    expect_nobody();
}

}  // namespace
}  // namespace baton
