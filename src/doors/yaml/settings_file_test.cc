#include "doors/yaml/settings_file.h"

#include <gtest/gtest.h>

namespace baton::yaml {
namespace {

TEST(SettingsFileTest, MappingsBecomeKeysWithDots) {
    const auto file =
        read_settings("data: /var/lib/baton\nhttp:\n  listen: '0.0.0.0:80'\npg: {listen: }\n");
    ASSERT_TRUE(file) << to_string(file.error());
    ASSERT_EQ(file->entries.size(), 3U);
    EXPECT_EQ(file->entries[0].key, "data");
    EXPECT_EQ(file->entries[1].key, "http.listen");
    EXPECT_EQ(file->entries[1].value, "0.0.0.0:80");
    EXPECT_EQ(file->entries[1].at.line, 3U);
    EXPECT_EQ(file->entries[2].value, "");
}

TEST(SettingsFileTest, WhoMayComeInIsAList) {
    const auto file = read_settings(
        "users: [{name: ann, role: admin, verifier: v}]\ntokens: [{name: ci, role: reader, sha256: "
        "d}]");
    ASSERT_TRUE(file) << to_string(file.error());
    ASSERT_EQ(file->users.size(), 1U);
    EXPECT_EQ(file->users[0].secret, "v");
    ASSERT_EQ(file->tokens.size(), 1U);
    EXPECT_EQ(file->tokens[0].role, "reader");
}

TEST(SettingsFileTest, AListIsOneValue) {
    const auto file = read_settings("files: [/srv/a, /srv/b]\nconnect_to: []\n");
    ASSERT_TRUE(file) << to_string(file.error());
    ASSERT_EQ(file->entries.size(), 2U);
    EXPECT_EQ(file->entries[0].value, "/srv/a,/srv/b");
    EXPECT_TRUE(file->entries[0].is_list);
    EXPECT_EQ(file->entries[1].value, "");
}

TEST(SettingsFileTest, ARightToFilesIsGivenByItself) {
    const auto file = read_settings("users: [{name: a, role: writer, files: true, verifier: v}]");
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_TRUE(file->users[0].files);
}

TEST(SettingsFileTest, WhatIsNoSuchFileIsRefusedWithThePlace) {
    for (const char* text :
         {"- a", "a: [{b: 1}]", "a: ['1,2']", "users: [{name: a, role: b, verifier: c, files: 1}]",
          "users: [{name: ann}]", "users: [{name: a, role: b, verifier: c, x: 1}]", "users: 5",
          "a: 1\na: 2", "{"}) {
        const auto file = read_settings(text);
        EXPECT_FALSE(file) << text;
    }
    EXPECT_TRUE(read_settings(""));
    EXPECT_TRUE(read_settings("# nothing is set\n\n"));
}

}  // namespace
}  // namespace baton::yaml
