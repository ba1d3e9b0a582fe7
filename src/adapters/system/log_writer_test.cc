#include "adapters/system/log_writer.h"

#include <array>

#include <gtest/gtest.h>
#include <unistd.h>

#include "adapters/system/system_clock.h"

namespace baton::system {
namespace {

class LogWriterTest : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(pipe(ends_.data()), 0); }
    void TearDown() override {
        close(ends_[0]);
        if (ends_[1] >= 0) close(ends_[1]);
    }
    // What was written, without the times.
    std::string written() {
        close(ends_[1]);
        ends_[1] = -1;
        std::string text;
        std::array<char, 4096> buffer{};
        for (ssize_t got = 0; (got = read(ends_[0], buffer.data(), buffer.size())) > 0;) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        }
        return text;
    }

    const SystemClock clock_;
    std::array<int, 2> ends_{-1, -1};
};

TEST_F(LogWriterTest, ALineIsOneLineWhateverIsInIt) {
    LogWriter log(ends_[1], LogFormat::text, LogLevel::info, clock_);
    log.warn("worker is\nUNREACHABLE", {{"worker", "EDGE"}, {"reason", "no \"answer\"\n"}});
    const std::string text = written();
    EXPECT_EQ(text.substr(text.find(' ')),
              " WARN  worker is UNREACHABLE worker=EDGE reason=\"no \\\"answer\\\"\\n\"\n");
}

TEST_F(LogWriterTest, WhatIsLessImportantIsNotWritten) {
    LogWriter log(ends_[1], LogFormat::text, LogLevel::warn, clock_);
    log.info("nobody cares");
    log.debug("nobody cares");
    EXPECT_EQ(written(), "");
}

TEST_F(LogWriterTest, AProgramReadsAnObjectPerLine) {
    LogWriter log(ends_[1], LogFormat::json, LogLevel::debug, clock_);
    log.error("said \"no\"", {{"query", "7"}});
    const std::string text = written();
    EXPECT_EQ(text.substr(text.find(",\"level\"")),
              ",\"level\":\"error\",\"message\":\"said \\\"no\\\"\",\"query\":\"7\"}\n");
}

// The network threads of a daemon write to it.
TEST_F(LogWriterTest, NobodyWaitsForAReaderThatDoesNotRead) {
    LogWriter log(ends_[1], LogFormat::text, LogLevel::info, clock_);
    const std::string text(1'000, 'x');
    for (int i = 0; i < 1'000; ++i) log.info(text);  // ten times what a pipe holds
    std::array<char, 65'536> buffer{};
    ASSERT_GT(read(ends_[0], buffer.data(), buffer.size()), 0);
    log.info("somebody reads");
    const std::string rest = written();
    EXPECT_NE(rest.find("lines of this log were lost: their reader was too slow lines=9"),
              std::string::npos);
    EXPECT_NE(rest.find("somebody reads"), std::string::npos);
}

}  // namespace
}  // namespace baton::system
