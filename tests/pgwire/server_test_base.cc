#include "pgwire/server_test_base.h"

#include <thread>

#include "doors/pg/wire/scram.h"

namespace baton {

using namespace std::chrono_literals;

namespace {

desk::Access::User user(const std::string& name, desk::Role role, const std::string& password) {
    return {.name = name,
            .role = role,
            .verifier = to_string(pgwire::make_verifier(password, "0123456789abcdef"))};
}

}  // namespace

void ServerTest::SetUp() {
    open();
    make_small_cluster();
    desk_.emplace(*coordinator_, desk::DeskOptions{.threads = 4});
    serve({});
}

void ServerTest::TearDown() {
    server_.reset();
    desk_.reset();
}

void ServerTest::serve(const With& with) {
    server_.reset();
    pgserver::ServerOptions options;
    options.port = 0;
    options.connections_max = with.connections_max;
    options.strangers_max = with.strangers_max;
    options.kept_bytes_max = with.kept_bytes_max;
    options.output_bytes_max = with.output_bytes_max;
    options.login_timeout = with.login_timeout;
    options.log = &log_;
    desk::Access access;
    if (with.users) {
        access = desk::Access(
            {user("ann", desk::Role::writer, "secret"), user("rob", desk::Role::reader, "r'b\\")},
            {}, nullptr);
    }
    if (with.tls) {
        const std::string key = directory_ / "key.pem";
        const std::string certificate = directory_ / "cert.pem";
        const auto made = cli::run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                                    "-out", certificate, "-days", "30", "-subj", "/CN=localhost",
                                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"});
        ASSERT_EQ(made.status, 0) << made.errors;
        options.tls = {.certificate = certificate, .key = key, .required = with.tls_required};
    }
    auto opened = pgserver::Server::open(*desk_, access, metrics_, options);
    ASSERT_TRUE(opened) << to_string(opened.error());
    server_ = *std::move(opened);
}

bool ServerTest::has(const std::string& command, const std::string& what) {
    const bool there = cli::run({"/bin/sh", "-c", command + " >/dev/null 2>&1"}).status == 0;
    if (!there) ::testing::Test::RecordProperty("missing", what);
    return there;
}

std::string ServerTest::address(const std::string& more) const {
    return "host=localhost hostaddr=127.0.0.1 port=" + std::to_string(server_->port()) +
           " user=ann password=secret dbname=baton " + more;
}

std::string ServerTest::psql(const std::vector<std::string>& commands,
                             const std::string& more) const {
    std::vector<std::string> arguments = {"/bin/sh", "-c", "exec psql -X -At \"$@\" 2>&1", "psql",
                                          address(more)};
    for (const std::string& command : commands) {
        arguments.emplace_back("-c");
        arguments.push_back(command);
    }
    return cli::run(arguments).out;
}

std::string ServerTest::psql_script(const std::string& script, const std::string& more) const {
    return cli::run({"/bin/sh", "-c", "exec psql -X -At \"$@\" 2>&1", "psql", address(more)},
                    script)
        .out;
}

bool ServerTest::eventually(const std::function<bool()>& holds) const {
    for (int i = 0; i < 1000; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

}  // namespace baton
