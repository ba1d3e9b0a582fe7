#include "core/tables/log_files.h"

#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "testing/script.h"

namespace baton::tables {
namespace {

std::string padded(std::int64_t version) {
    return entry_key(version).substr(kLogFolder.size(), 20);
}

// "0-5 c3 c8.1/2": entries 0 to 5, a checkpoint of version 3, the first part of two of another.
std::vector<std::string> keys_of(const std::string& text) {
    std::vector<std::string> keys;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (word.front() != 'c') {
            const std::size_t dash = word.find('-');
            const std::int64_t first = std::stoll(word);
            const std::int64_t last =
                dash == std::string::npos ? first : std::stoll(word.substr(dash + 1));
            for (std::int64_t version = first; version <= last; ++version) {
                keys.push_back(entry_key(version));
            }
            continue;
        }
        const std::size_t dot = word.find('.');
        const std::int64_t version = std::stoll(word.substr(1));
        if (dot == std::string::npos) {
            keys.push_back(checkpoint_key(version));
            continue;
        }
        const std::size_t slash = word.find('/');
        const auto number = [](const std::string& digits) {
            return std::string(10 - digits.size(), '0') + digits;
        };
        keys.push_back(std::string(kLogFolder) + padded(version) + ".checkpoint." +
                       number(word.substr(dot + 1, slash - dot - 1)) + "." +
                       number(word.substr(slash + 1)) + ".parquet");
    }
    return keys;
}

// "files | at 7", or "files": the plan in a line.
std::string answer(const std::string& command) {
    const std::size_t bar = command.find(" at ");
    std::optional<std::int64_t> version;
    if (bar != std::string::npos) version = std::stoll(command.substr(bar + 4));
    const auto plan = plan_read(keys_of(command.substr(0, bar)), version);
    if (!plan) return to_string(plan.error()) + "\n";
    std::string text = plan->checkpoint ? "checkpoint " + std::to_string(*plan->checkpoint) + " (" +
                                              std::to_string(plan->checkpoint_keys.size()) + ")"
                                        : "no checkpoint";
    if (plan->last_entry >= plan->first_entry) {
        text += ", entries " + std::to_string(plan->first_entry) + " to " +
                std::to_string(plan->last_entry);
    }
    return text + "\n";
}

TEST(LogFiles, ThePlanToReadAVersion) {
    testing::run_script(BATON_TESTDATA "/read_plans.txt", answer);
}

TEST(LogFiles, NamesAreReadBack) {
    EXPECT_EQ(entry_key(12), "_delta_log/00000000000000000012.json");
    EXPECT_EQ(checkpoint_key(12), "_delta_log/00000000000000000012.checkpoint.parquet");
    EXPECT_EQ(log_file_of(entry_key(12)), LogFile{.version = 12});
    EXPECT_EQ(log_file_of(checkpoint_key(12)), (LogFile{.version = 12, .is_checkpoint = true}));
    EXPECT_EQ(log_file_of(keys_of("c8.1/2").front()),
              (LogFile{.version = 8, .is_checkpoint = true, .part = 1, .parts = 2}));
    EXPECT_LT(key_before(12), entry_key(12));
    EXPECT_LT(key_before(12), checkpoint_key(12));
    EXPECT_GT(key_before(12), entry_key(11));
}

TEST(LogFiles, OtherFilesAreIgnored) {
    for (const std::string key :
         {"", "00000000000000000012.json", "_delta_log/_last_checkpoint", "_delta_log/12.json",
          "_delta_log/00000000000000000012.crc", "_delta_log/0000000000000000001x.json",
          "_delta_log/99999999999999999999.json", "_delta_log/-0000000000000000001.json",
          "_delta_log/00000000000000000012.checkpoint.0000000000.0000000001.parquet",
          "_delta_log/00000000000000000012.checkpoint.0000000003.0000000002.parquet",
          "_delta_log/00000000000000000012.checkpoint.80a083e8-7026.parquet",
          "_delta_log/00000000000000000004.00000000000000000006.compacted.json"}) {
        EXPECT_FALSE(log_file_of(key)) << key;
    }
}

TEST(LogFiles, TheHintIsReadBackAndMayBeAnything) {
    const LastCheckpoint last{.version = 100, .actions = 7};
    EXPECT_EQ(last_checkpoint_text(last), "{\"version\":100,\"size\":7}");
    EXPECT_EQ(last_checkpoint_of(last_checkpoint_text(last)), last);
    EXPECT_EQ(last_checkpoint_of("{\"version\":5,\"size\":1,\"parts\":3,\"checkpointSchema\":{}}"),
              (LastCheckpoint{.version = 5, .actions = 1, .parts = 3}));
    for (const std::string text : {"", "{}", "[]", "{\"version\":-1}", "{\"version\":1e300}",
                                   "{\"version\":18446744073709551615}"}) {
        EXPECT_FALSE(last_checkpoint_of(text)) << text;
    }
}

}  // namespace
}  // namespace baton::tables
