#include "config/settings.h"

#include <gtest/gtest.h>

namespace baton::config {
namespace {

TEST(SettingsTest, EveryDefaultFitsItsOwnSetting) {
    for (const Setting& known : known_settings()) {
        Settings settings;
        const auto set = settings.set(std::string(known.key), std::string(known.fallback), "test");
        EXPECT_TRUE(set) << known.key;
        EXPECT_FALSE(known.meaning.empty()) << known.key;
    }
}

TEST(SettingsTest, WhatIsSetLaterWinsAndIsShownWithItsOrigin) {
    Settings settings;
    ASSERT_TRUE(settings.set("http.listen", "127.0.0.1:1", "baton.yaml:2"));
    ASSERT_TRUE(settings.set_from_environment(
        {{"BATON_HTTP_LISTEN", "127.0.0.1:2"}, {"PATH", "/bin"}, {"BATON_CONNECT", "elsewhere"}}));
    EXPECT_EQ(settings.text("http.listen"), "127.0.0.1:2");
    ASSERT_TRUE(settings.set("http.listen", "127.0.0.1:3", "--http"));
    for (const Settings::Shown& shown : settings.all()) {
        EXPECT_EQ(shown.origin, shown.key == "http.listen" ? "--http" : "default");
    }
}

TEST(SettingsTest, AnUnknownKeyIsRefusedWithTheNearestOne) {
    Settings settings;
    const auto set = settings.set("http.listn", "x", "baton.yaml:7");
    ASSERT_FALSE(set);
    EXPECT_EQ(to_string(set.error()),
              "error 1000: baton.yaml:7: unknown setting \"http.listn\"; did you mean "
              "\"http.listen\"?");
}

TEST(SettingsTest, AMistypedVariableGivesAWarningWithTheNearestOne) {
    Settings settings;
    const auto warnings = settings.set_from_environment({{"BATON_HTTP_LISTN", "x"}});
    ASSERT_TRUE(warnings);
    EXPECT_EQ(*warnings, std::vector<std::string>{
                             "the environment variable \"BATON_HTTP_LISTN\" is no setting and has "
                             "no effect; did you mean \"BATON_HTTP_LISTEN\"?"});
}

TEST(SettingsTest, VariablesThatKubernetesSetsForAServiceAreNoMistakes) {
    Settings settings;
    const auto warnings =
        settings.set_from_environment({{"BATON_SERVICE_HOST", "10.0.0.1"},
                                       {"BATON_SERVICE_PORT", "5433"},
                                       {"BATON_SERVICE_PORT_PG", "5433"},
                                       {"BATON_SERVICE_PORT_HTTP", "8080"},
                                       {"BATON_PORT", "tcp://10.0.0.1:5433"},
                                       {"BATON_PORT_5433_TCP", "tcp://10.0.0.1:5433"},
                                       {"BATON_PORT_5433_TCP_ADDR", "10.0.0.1"},
                                       {"BATON_PORT_5433_TCP_PORT", "5433"},
                                       {"BATON_PORT_5433_TCP_PROTO", "tcp"},
                                       {"BATON_HTTP_PORT", "tcp://10.0.0.2:80"},
                                       {"BATON_HTTP_SERVICE_HOST", "10.0.0.2"}});
    ASSERT_TRUE(warnings);
    EXPECT_EQ(*warnings, std::vector<std::string>{});
    for (const Settings::Shown& shown : settings.all()) EXPECT_EQ(shown.origin, "default");
}

TEST(SettingsTest, AValueThatDoesNotFitIsRefusedAndTheOldOneStays) {
    Settings settings;
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{"threads", "0"},
                                                          {"threads", "many"},
                                                          {"threads", "4 "},
                                                          {"log.level", "loud"},
                                                          {"auth.trust_remote", "yes"},
                                                          {"shutdown_seconds", "99999"}}) {
        const auto set = settings.set(key, value, "test");
        ASSERT_FALSE(set) << key << " " << value;
        EXPECT_EQ(set.error().code, ErrorCode::invalid_configuration);
    }
    EXPECT_EQ(settings.number("threads"), 64U);
}

TEST(SettingsTest, AListHasCommasBetweenItsItems) {
    Settings settings;
    EXPECT_TRUE(settings.list("files").empty());
    ASSERT_TRUE(settings.set("files", " /srv/a , /srv/b,,", "test"));
    EXPECT_EQ(settings.list("files"), (std::vector<std::string>{"/srv/a", "/srv/b"}));
    EXPECT_TRUE(is_list("connect_to"));
    EXPECT_FALSE(is_list("data"));
}

}  // namespace
}  // namespace baton::config
