// A server and those who abuse it.
#pragma once

#include "pgwire/footprint.h"
#include "pgwire/raw_client.h"
#include "pgwire/server_test_base.h"

namespace baton {

class Abuse : public ServerTest {
protected:
    static std::size_t descriptors() { return Footprint::now().descriptors; }
    void expect_nobody() {
        EXPECT_TRUE(eventually([&] {
            return server_->load().connections == 0 && desk_->load().visitors == 0;
        })) << server_->load().connections
            << " connections, " << desk_->load().visitors << " visitors";
    }
    void expect_served() {
        const RawClient client(server_->port());
        client.say(said::startup());
        EXPECT_NE(client.hear(kReady).find(kReady), std::string::npos);
        client.say(said::query("SHOW LINKS"));
        EXPECT_NE(client.hear(kReady).find("EDGE"), std::string::npos);
    }
};

}  // namespace baton
