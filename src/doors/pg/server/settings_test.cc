#include "doors/pg/server/settings.h"

#include <gtest/gtest.h>

namespace baton::pgserver {
namespace {

TEST(Settings, ATimeThatIsTooLongIsRefused) {
    Settings settings("1");
    const auto set = [&](const char* value) {
        return settings.set("idle_in_transaction_session_timeout", value);
    };
    EXPECT_TRUE(std::holds_alternative<pgwire::Report>(set("4000000000d")));
    EXPECT_TRUE(std::holds_alternative<pgwire::Report>(set("25d")));
    EXPECT_TRUE(std::holds_alternative<Settings::Changed>(set("24d")));
    EXPECT_EQ(settings.idle_in_transaction(), std::chrono::hours(24 * 24));
}

}  // namespace
}  // namespace baton::pgserver
