#include "doors/desk/journal.h"

#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton::desk {
namespace {

class Lines final : public Log {
public:
    void write(LogLevel level, std::string_view message,
               const std::vector<LogField>& fields) override {
        const std::lock_guard lock(mutex_);
        text_ += std::to_string(static_cast<int>(level)) + " " + std::string(message);
        for (const LogField& field : fields) {
            if (field.key != "revision") text_ += " " + std::string(field.key) + "=" + field.value;
        }
        text_ += "\n";
    }
    std::string text() {
        const std::lock_guard lock(mutex_);
        return text_;
    }

private:
    std::mutex mutex_;
    std::string text_;
};

class JournalTest : public testing::CoordinatorTest {
protected:
    void SetUp() override { open(); }
};

TEST_F(JournalTest, WhatHappensFromNowOnIsWrittenOnceWithWhatItConcerns) {
    make_small_cluster();
    Lines lines;
    auto journal = *Journal::open(*coordinator_, lines);
    request(controllers::ReportWorker{"EDGE", WorkerState::unreachable, {}, {.text = "no answer"}});
    request(controllers::ReportWorker{"EDGE", WorkerState::unreachable, {}, {.text = "no answer"}});
    run("DRAIN WORKER hub");
    journal.reset();
    EXPECT_EQ(lines.text(),
              "2 worker is UNREACHABLE worker=EDGE reason=no answer\n"
              "1 worker is ACTIVE worker=HUB reason=not heard from yet draining=true\n");
}

TEST_F(JournalTest, AQueryIsFollowedFromItsBeginningToItsEnd) {
    make_small_cluster();
    Lines lines;
    auto journal = *Journal::open(*coordinator_, lines);
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts; DROP QUERY q");
    journal.reset();
    const std::string text = lines.text();
    EXPECT_NE(text.find("1 query is PENDING query=2 name=Q run=1 desired=RUNNING\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("1 query is gone query=2 name=Q"), std::string::npos) << text;
    EXPECT_NE(text.find("0 fragment is PENDING fragment=3 query=2 worker=EDGE run=1\n"),
              std::string::npos)
        << text;
}

}  // namespace
}  // namespace baton::desk
