// The units of systemd in deploy/: systemd understands them, and Baton understands what they run.
#include <fstream>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/process.h"
#include "testing/temporary_directory.h"

namespace baton::cli {
namespace {

const std::string kProgram = std::string(BATON_PROGRAMS) + "/baton";

std::string read_all(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

class Units : public ::testing::TestWithParam<std::string> {
protected:
    static std::string text() { return read_all(BATON_DEPLOY "/" + GetParam()); }
};

TEST_P(Units, AreUnderstoodBySystemd) {
    if (run({"/bin/sh", "-c", "command -v systemd-analyze >/dev/null"}).status != 0) {
        GTEST_SKIP() << "systemd-analyze is not installed";
    }
    const testing::TemporaryDirectory directory;
    const std::string unit = directory / GetParam();
    std::ofstream(unit) << std::regex_replace(text(), std::regex("/usr/local/bin/baton"), kProgram);
    const auto verified = run({"/bin/sh", "-c", "exec systemd-analyze verify --man=no " + unit});
    EXPECT_EQ(verified.status, 0) << verified.errors;
    EXPECT_EQ(verified.errors, "");
}

// As `systemd-analyze security` sees it: 10 is a service that may do everything.
TEST_P(Units, AreConfinedToWhatBatonNeeds) {
    const std::string analyze = "systemd-analyze security --offline=true --no-pager ";
    if (run({"/bin/sh", "-c", analyze + "--help >/dev/null 2>&1"}).status != 0) {
        GTEST_SKIP() << "systemd-analyze is not installed, or too old";
    }
    const auto judged =
        run({"/bin/sh", "-c", "exec " + analyze + "--threshold=30 " BATON_DEPLOY "/" + GetParam()});
    EXPECT_EQ(judged.status, 0) << judged.out << judged.errors;
}

TEST_P(Units, KeepWhatBatonNeeds) {
    const std::string all = text();
    EXPECT_NE(all.find("StateDirectory=baton"), std::string::npos);
    EXPECT_NE(all.find("AF_INET AF_INET6 AF_UNIX"), std::string::npos);  // AF_UNIX: notifications
    const bool coordinator = GetParam() == "baton.service";
    EXPECT_EQ(all.find("Type=notify") != std::string::npos, coordinator);
}

TEST_P(Units, NameCommandsAndOptionsThatThereAre) {
    const std::string all = text();
    const std::regex command("Exec[A-Za-z]+=/usr/local/bin/baton ([a-z ]+)( --[^\n]*)?");
    std::size_t commands = 0;
    for (std::sregex_iterator i(all.begin(), all.end(), command), end; i != end; ++i) {
        commands += 1;
        const auto help = run({"/bin/sh", "-c", kProgram + " " + (*i)[1].str() + " --help"});
        EXPECT_EQ(help.status, 0) << (*i)[1];
        const std::string given = (*i)[2];
        const std::regex option("--[a-z-]+");
        for (std::sregex_iterator o(given.begin(), given.end(), option); o != end; ++o) {
            EXPECT_NE(help.out.find(o->str()), std::string::npos) << (*i)[1] << " " << o->str();
        }
    }
    EXPECT_GE(commands, 1U);
}

INSTANTIATE_TEST_SUITE_P(Deploy, Units, ::testing::Values("baton.service", "baton-worker.service"),
                         [](const auto& unit) {
                             return std::string(unit.param == "baton.service" ? "Coordinator"
                                                                              : "Worker");
                         });

}  // namespace
}  // namespace baton::cli
