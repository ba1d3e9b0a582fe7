// A coordinator that clients of PostgreSQL can visit: on a port of its own, with users ann (writer,
// "secret") and rob (reader, "r'b\\") if it is asked for, and with TLS.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/process.h"
#include "doors/pg/server/server.h"
#include "testing/coordinator/coordinator_test_base.h"
#include "testing/log_lines.h"
#include "testing/temporary_directory.h"

namespace baton {

class ServerTest : public testing::CoordinatorTest {
protected:
    void SetUp() override;
    void TearDown() override;

    struct With {
        bool users = false;
        bool tls = false;
        bool tls_required = false;
        std::size_t connections_max = 100;
        std::size_t strangers_max = 256;
        std::size_t kept_bytes_max = std::size_t{256} << 20U;
        std::size_t output_bytes_max = std::size_t{1} << 20U;
        Duration login_timeout = std::chrono::seconds(30);
    };
    void serve(const With& with);

    // Whether the program is there; says so if it is not.
    [[nodiscard]] static bool has(const std::string& command, const std::string& what);
    // "host=127.0.0.1 port=.. user=ann password=secret dbname=baton"
    [[nodiscard]] std::string address(const std::string& more = "") const;

    // What psql says to these commands, errors between the rest.
    [[nodiscard]] std::string psql(const std::vector<std::string>& commands,
                                   const std::string& more = "") const;
    // The same for a script on its standard input.
    [[nodiscard]] std::string psql_script(const std::string& script,
                                          const std::string& more = "") const;
    [[nodiscard]] bool eventually(const std::function<bool()>& holds) const;

    testing::TemporaryDirectory directory_;
    testing::LogLines log_;
    std::optional<desk::Desk> desk_;
    desk::Metrics metrics_;
    std::unique_ptr<pgserver::Server> server_;
};

}  // namespace baton
