// Questions about PostgreSQL's catalog that take long: they end when the client wants it or leaves.
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "hostile/daemon.h"

namespace baton::hostile {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr std::string_view kLongQuestion =
    "SELECT count(*) FROM pg_type a, pg_type b, pg_type c, pg_type d";

std::string question_message() {
    std::string message = "Q";
    message += std::string("\0\0\0", 3) + static_cast<char>(kLongQuestion.size() + 5);
    return message + std::string(kLongQuestion) + std::string(1, '\0');
}

class HostileQuestions : public ::testing::Test {
protected:
    [[nodiscard]] std::string come(const Socket& socket) const {
        (void)socket.send(std::string("\0\0\0\x12\0\3\0\0user\0ann\0\0", 18));
        return socket.read_until(std::string("Z\0\0\0\5I", 6), cli::kPatience);
    }

    // Seconds that the daemon has had the processor.
    [[nodiscard]] double processor_seconds() {
        std::ifstream stat("/proc/" + std::to_string(daemon_.process().pid()) + "/stat");
        std::string word;
        for (int i = 0; i < 13; ++i) stat >> word;
        double user = 0;
        double system = 0;
        stat >> user >> system;
        return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }

    Daemon daemon_;
};

TEST_F(HostileQuestions, ACancelEndsThemAtOnce) {
    const Socket socket(daemon_.pg_port());
    const std::string greeting = come(socket);
    const std::size_t key = greeting.find(std::string("K\0\0\0\x0c", 5));
    ASSERT_NE(key, std::string::npos);
    milliseconds best = cli::kPatience;
    for (int i = 0; i < 5; ++i) {  // the quickest of some: the machine is busy with other tests
        (void)socket.send(question_message());
        std::this_thread::sleep_for(milliseconds(100));
        const auto asked = Steady::now();
        {
            const Socket cancels(daemon_.pg_port());
            (void)cancels.send(std::string("\0\0\0\x10\x04\xd2\x16\x2e", 8) +
                               greeting.substr(key + 5, 8));
            const std::string heard =
                socket.read_until(std::string("Z\0\0\0\5I", 6), cli::kPatience);
            EXPECT_NE(heard.find("57014"), std::string::npos) << heard;
        }
        best = std::min(best, std::chrono::duration_cast<milliseconds>(Steady::now() - asked));
    }
    EXPECT_LE(best, milliseconds(100));
    EXPECT_TRUE(daemon_.takes_a_write());
}

TEST_F(HostileQuestions, TheyEndWithTheirClient) {
    constexpr int kClients = 20;
    const double before = processor_seconds();
    for (int i = 0; i < kClients; ++i) {
        const Socket socket(daemon_.pg_port());
        (void)come(socket);
        (void)socket.send(question_message());
    }
    EXPECT_TRUE(daemon_.takes_a_write());
    // Each would have a second of the processor.
    std::this_thread::sleep_for(milliseconds(500));
    EXPECT_LT(processor_seconds() - before, 5.0);
}

}  // namespace
}  // namespace baton::hostile
