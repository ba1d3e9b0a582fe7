// Who guesses passwords, and what is done about users, tokens, certificates and files of secrets
// while the daemon runs.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hostile/daemon.h"
#include "testing/free_port.h"

namespace baton::hostile {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

const std::string kBaton = BATON_PROGRAMS "/baton";

// The lines that `baton config` prints for a user with this password.
std::string user_lines(const std::string& name, const std::string& role,
                       const std::string& password) {
    return cli::run({kBaton, "config", "user", name, "--role", role}, password + "\n").out;
}

struct MadeToken {
    std::string lines;
    std::string token;
};
MadeToken make_token(const std::string& name) {
    const cli::Ended made = cli::run({kBaton, "config", "token", name, "--role", "admin"});
    const std::size_t at = made.errors.find("now: ");
    return {.lines = made.out, .token = made.errors.substr(at + 5, 64)};
}

void write_private(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms(0600));
}

// A user, a list below a key that may be there already.
std::string in_one(const std::string& lines, const std::string& more) {
    return lines + more.substr(more.find('\n') + 1);
}

std::vector<std::string> psql_as(const std::string& port, const std::string& user,
                                 const std::string& password, const std::string& more = "") {
    return {"/usr/bin/psql",
            "-X",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "host=127.0.0.1 dbname=baton port=" + port + " user=" + user + " password=" + password +
                " " + more};
}

// What the door says to a start-up message from this address: R, prove it; E, not now.
char first_answer(const std::string& from, const std::string& port, const std::string& user) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    (void)inet_pton(AF_INET, from.c_str(), &address.sin_addr);
    EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    (void)inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoul(port)));
    EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    std::string body = std::string("\0\3\0\0", 4) + "user" + '\0' + user + '\0' + '\0';
    const auto size = htonl(static_cast<std::uint32_t>(body.size() + 4));
    body.insert(0, reinterpret_cast<const char*>(&size), 4);
    EXPECT_EQ(::send(socket, body.data(), body.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(body.size()));
    char answer = '-';
    (void)::recv(socket, &answer, 1, 0);
    ::close(socket);
    return answer;
}

class HostileLogins : public ::testing::Test {
protected:
    [[nodiscard]] std::string settings() const { return directory_ / "baton.yaml"; }
    [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }

    testing::TemporaryDirectory directory_;
};

TEST_F(HostileLogins, WhoGuessesIsHeldUpAndNobodyElseIs) {
    const MadeToken token = make_token("ops");
    write_private(settings(), in_one(user_lines("ann", "admin", "apple"),
                                     user_lines("bob", "reader", "berry")) +
                                  token.lines);
    Daemon daemon({"--config", settings()});
    const std::string port = daemon.pg_port();
    ASSERT_EQ(cli::run(psql_as(port, "ann", "apple"), "SHOW QUERIES;").status, 0);

    // One failure takes its time.
    const auto begun = steady_clock::now();
    EXPECT_NE(cli::run(psql_as(port, "bob", "guess")).status, 0);
    EXPECT_GE(steady_clock::now() - begun, std::chrono::milliseconds(250));
    // Many at once use up what their address has.
    std::vector<std::unique_ptr<cli::Process>> guesses;
    for (int i = 0; i < 40; ++i) {
        guesses.push_back(std::make_unique<cli::Process>(psql_as(port, "bob", "guess")));
    }
    int judged = 0;
    int held_up = 0;
    for (const auto& guess : guesses) {
        EXPECT_NE(guess->wait(), 0);
        judged += guess->errors().find("password authentication failed") != std::string::npos;
        held_up += guess->errors().find("too many logins have failed") != std::string::npos;
    }
    EXPECT_EQ(judged + held_up, 40);
    EXPECT_LE(judged, 25) << "they were judged as fast as they came";
    EXPECT_GT(held_up, 0);

    // No harm to who logged in here before, nor to the same user elsewhere.
    EXPECT_EQ(cli::run(psql_as(port, "ann", "apple"), "SHOW QUERIES;").status, 0);
    EXPECT_EQ(first_answer("127.0.0.2", port, "bob"), 'R');

    const std::string good = "Authorization: Bearer " + token.token;
    const auto asked = steady_clock::now();
    const cli::Ended metrics = daemon.curl("/metrics", {"-H", good});
    EXPECT_TRUE(metrics.out.ends_with("\n200\n")) << metrics.out;
    EXPECT_LT(steady_clock::now() - asked, std::chrono::seconds(2));
    EXPECT_NE(metrics.out.find("baton_logins_failed_total{door=\"pg\"}"), std::string::npos)
        << metrics.out;
    EXPECT_NE(metrics.out.find("baton_logins_held_up_total{door=\"pg\"}"), std::string::npos);
    EXPECT_NE(daemon.ended_log().find("a login was refused"), std::string::npos);
}

TEST_F(HostileLogins, TokensThatNobodyKnowsAreHeldUpAndOthersAreNot) {
    const MadeToken token = make_token("ops");
    write_private(settings(), token.lines);
    Daemon daemon({"--config", settings()});
    const auto begun = steady_clock::now();
    EXPECT_TRUE(
        daemon.curl("/v1/workers", {"-H", "Authorization: Bearer x"}).out.ends_with("401\n"));
    EXPECT_GE(steady_clock::now() - begun, std::chrono::milliseconds(250));
    std::vector<std::unique_ptr<cli::Process>> guesses;
    for (int i = 0; i < 30; ++i) {
        guesses.push_back(std::make_unique<cli::Process>(std::vector<std::string>{
            "/usr/bin/curl", "-s", "-i", "-H", "Authorization: Bearer guess",
            "http://127.0.0.1:" + daemon.http_port() + "/v1/workers"}));
    }
    int held_up = 0;
    for (const auto& guess : guesses) {
        EXPECT_EQ(guess->wait(), 0);
        const bool later = guess->out().starts_with("HTTP/1.1 429");
        held_up += static_cast<int>(later);
        EXPECT_EQ(later, guess->out().find("Retry-After: ") != std::string::npos);
        EXPECT_TRUE(later || guess->out().starts_with("HTTP/1.1 401")) << guess->out();
    }
    EXPECT_GT(held_up, 0);
    const auto asked = steady_clock::now();
    const std::string good = "Authorization: Bearer " + token.token;
    EXPECT_TRUE(daemon.curl("/v1/workers", {"-H", good}).out.ends_with("200\n"));
    EXPECT_LT(steady_clock::now() - asked, std::chrono::seconds(2));
}

// ---- read again ---------------------------------------------------------------------------------

TEST_F(HostileLogins, UsersAreReadAgainWithoutARestart) {
    const std::string ann = user_lines("ann", "admin", "apple");
    const std::string bob = user_lines("bob", "admin", "berry");
    const MadeToken first = make_token("first");
    const MadeToken second = make_token("second");
    write_private(settings(), in_one(ann, bob) + first.lines);
    Daemon daemon({"--config", settings()});
    const std::string port = daemon.pg_port();
    const auto says = [&](const std::string& user, const std::string& password) {
        return cli::run(psql_as(port, user, password), "SHOW QUERIES;").status == 0;
    };
    const auto shows = [&](const MadeToken& token) {
        const auto answer =
            daemon.curl("/v1/workers", {"-H", "Authorization: Bearer " + token.token});
        return answer.out.ends_with("\n200\n");
    };
    ASSERT_TRUE(says("ann", "apple") && says("bob", "berry") && shows(first));
    EXPECT_FALSE(shows(second));
    cli::Process inside(psql_as(port, "bob", "berry"), "WATCH SHOW QUERIES;\n");

    // Settings that cannot be used change nothing.
    write_private(settings(), "users: [{name: eve, role: nobody, scram: x}]\n");
    daemon.process().signal(SIGHUP);
    ::usleep(300'000);
    EXPECT_TRUE(says("ann", "apple") && says("bob", "berry"));
    // Nor does a file that would let everybody in: perhaps it is cut off.
    write_private(settings(), "");
    daemon.process().signal(SIGHUP);
    ::usleep(300'000);
    EXPECT_FALSE(says("bob", "wrong"));

    write_private(settings(), ann + second.lines);
    daemon.process().signal(SIGHUP);
    const auto deadline = steady_clock::now() + cli::kPatience;
    while (says("bob", "berry") && steady_clock::now() < deadline) continue;
    EXPECT_FALSE(says("bob", "berry"));
    EXPECT_TRUE(says("ann", "apple"));
    EXPECT_TRUE(shows(second));
    EXPECT_FALSE(shows(first));
    // Who was inside is shown out.
    EXPECT_NE(inside.wait(), 0);
    EXPECT_NE(inside.errors().find("may not stay"), std::string::npos) << inside.errors();
    const std::string log = daemon.ended_log();
    EXPECT_NE(log.find("all stays as it was"), std::string::npos) << log;
    EXPECT_NE(log.find("were read again"), std::string::npos) << log;
}

TEST_F(HostileLogins, ARequestThatWaitsEndsWithItsToken) {
    const MadeToken first = make_token("first");
    const MadeToken second = make_token("second");
    write_private(settings(), first.lines);
    Daemon daemon({"--config", settings()});
    const auto post = [&](const MadeToken& token, const std::string& text) {
        return "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
               "Authorization: Bearer " +
               token.token + "\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" +
               text;
    };
    const Socket maker(daemon.http_port());
    ASSERT_TRUE(maker.send(post(
        first,
        "CREATE WORKER '127.0.0.1:1' SET ('away' AS NAME); CREATE QUERY stuck AS SELECT a FROM "
        "Generator('SEQUENCE UINT64 0 9 1' AS SOURCE.GENERATOR_SCHEMA, 'away' AS SOURCE.HOST, "
        "SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA) INTO Void('away' AS SINK.HOST)")));
    ASSERT_NE(maker.read_until("\r\n\r\n", 10s).find("200 OK"), std::string::npos);
    const Socket waiting(daemon.http_port());
    ASSERT_TRUE(
        waiting.send(post(first, "WAIT FOR QUERY stuck; CREATE LOGICAL SOURCE late (a INT8)")));
    const auto header = "Authorization: Bearer ";
    const auto deadline = steady_clock::now() + cli::kPatience;
    const auto page = [&](const MadeToken& token, const std::string& path) {
        return daemon.curl(path, {"-H", header + token.token}).out;
    };
    while (page(first, "/metrics").find("baton_desk_standing 1") == std::string::npos) {
        ASSERT_LT(steady_clock::now(), deadline);
    }
    write_private(settings(), second.lines);
    daemon.process().signal(SIGHUP);
    EXPECT_NE(waiting.read_until("cancelled", 20s).find("cancelled"), std::string::npos);
    EXPECT_TRUE(page(second, "/v1/logical-sources/LATE").ends_with("\n404\n"));
}

class HostileTls : public HostileLogins {
protected:
    void SetUp() override {
        make_certificate("one.example");
        pg_ = std::to_string(testing::free_port());
        http_ = std::to_string(testing::free_port());
        daemon_ = std::make_unique<cli::Process>(std::vector<std::string>{
            kBaton, "serve", "--data", path("d"), "--pg", "127.0.0.1:" + pg_, "--http",
            "127.0.0.1:" + http_, "--set", "tls.cert=" + path("cert.pem"), "--set",
            "tls.key=" + path("key.pem")});
        const auto deadline = steady_clock::now() + cli::kPatience;
        while (
            cli::run({"/usr/bin/curl", "-sfk", "https://127.0.0.1:" + http_ + "/readyz"}).status !=
            0) {
            ASSERT_LT(steady_clock::now(), deadline);
            ::usleep(20'000);
        }
    }
    void make_certificate(const std::string& name) const {
        const cli::Ended made =
            cli::run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                      "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                      "/CN=" + name, "-keyout", path("key.pem"), "-out", path("cert.pem")});
        ASSERT_EQ(made.status, 0) << made.errors;
    }
    // What `openssl s_client` says of either door.
    [[nodiscard]] std::string shaken(bool postgres, const std::vector<std::string>& more) const {
        std::vector<std::string> command = {"openssl", "s_client", "-connect",
                                            "127.0.0.1:" + (postgres ? pg_ : http_)};
        if (postgres) command.insert(command.end(), {"-starttls", "postgres"});
        command.insert(command.end(), more.begin(), more.end());
        const cli::Ended ended = cli::run(command);
        return ended.out + ended.errors;
    }

    std::string pg_;
    std::string http_;
    std::unique_ptr<cli::Process> daemon_;
};

TEST_F(HostileTls, OnlyCurrentCiphersAreSpoken) {
    for (const bool postgres : {true, false}) {
        const std::string current = shaken(postgres, {});
        EXPECT_NE(current.find("TLSv1.3"), std::string::npos) << current;
        for (const std::string cipher :
             {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"}) {
            const std::string older = shaken(postgres, {"-tls1_2", "-cipher", cipher});
            EXPECT_NE(older.find("Cipher is " + cipher), std::string::npos) << older;
        }
        for (const std::vector<std::string>& refused :
             {std::vector<std::string>{"-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"},
              {"-tls1", "-cipher", "DEFAULT@SECLEVEL=0"},
              {"-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"},
              {"-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0"},
              {"-tls1_2", "-cipher", "AES128-GCM-SHA256:@SECLEVEL=0"},
              {"-tls1_2", "-cipher", "aNULL:@SECLEVEL=0"}}) {
            const std::string answer = shaken(postgres, refused);
            EXPECT_NE(answer.find("Cipher is (NONE)"), std::string::npos)
                << refused.front() << " " << refused.back() << "\n"
                << answer;
        }
    }
}

TEST_F(HostileTls, ARotatedCertificateIsShownWithoutARestart) {
    for (const bool postgres : {true, false}) {
        EXPECT_NE(shaken(postgres, {}).find("one.example"), std::string::npos);
    }
    // A key that does not belong to it is not used.
    fs::copy_file(path("cert.pem"), path("old.pem"));
    make_certificate("two.example");
    fs::copy_file(path("cert.pem"), path("new.pem"));
    fs::copy_file(path("old.pem"), path("cert.pem"), fs::copy_options::overwrite_existing);
    daemon_->signal(SIGHUP);
    ::usleep(300'000);
    for (const bool postgres : {true, false}) {
        EXPECT_NE(shaken(postgres, {}).find("one.example"), std::string::npos);
    }
    fs::copy_file(path("new.pem"), path("cert.pem"), fs::copy_options::overwrite_existing);
    daemon_->signal(SIGHUP);
    for (const bool postgres : {true, false}) {
        const auto deadline = steady_clock::now() + cli::kPatience;
        while (shaken(postgres, {}).find("two.example") == std::string::npos) {
            ASSERT_LT(steady_clock::now(), deadline);
        }
    }
    daemon_->signal(SIGTERM);
    EXPECT_EQ(daemon_->wait(), 0);
    EXPECT_NE(daemon_->errors().find("all stays as it was"), std::string::npos);
}

// ---- files of secrets ---------------------------------------------------------------------------

TEST_F(HostileLogins, FilesOfSecretsThatEverybodyCanReadAreRefused) {
    fs::permissions(directory_.path(), fs::perms(0755));
    const auto check = [&] {
        return cli::run({kBaton, "config", "check", "--config", settings()});
    };
    std::ofstream(settings()) << "threads: 8\n";  // no secret
    fs::permissions(settings(), fs::perms(0644));
    EXPECT_EQ(check().status, 0);
    for (const std::string& secret : {user_lines("ann", "admin", "apple"), make_token("ops").lines,
                                      std::string("catalog: 'postgres://me:secret@db/baton'\n")}) {
        std::ofstream(settings()) << secret;
        fs::permissions(settings(), fs::perms(0644));
        const cli::Ended refused = check();
        EXPECT_NE(refused.status, 0);
        EXPECT_NE(refused.errors.find("chmod 600"), std::string::npos) << refused.errors;
        EXPECT_NE(refused.errors.find(settings()), std::string::npos) << refused.errors;
        for (const unsigned mode : {0600U, 0640U, 0440U}) {
            fs::permissions(settings(), fs::perms(mode));
            EXPECT_EQ(check().status, 0) << mode << check().errors;
        }
        fs::permissions(settings(), fs::perms(0600));
    }
    std::ofstream(path("key.pem")) << "no key";
    fs::permissions(path("key.pem"), fs::perms(0644));
    const cli::Ended refused =
        cli::run({kBaton, "serve", "--data", path("d"), "--set", "tls.cert=" + path("cert.pem"),
                  "--set", "tls.key=" + path("key.pem")});
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.errors.find("chmod 600"), std::string::npos) << refused.errors;
}

}  // namespace
}  // namespace baton::hostile
