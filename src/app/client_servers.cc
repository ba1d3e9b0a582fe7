#include "app/client_servers.h"

#include <algorithm>
#include <thread>

#include "adapters/system/descriptors.h"
#include "adapters/system/server_tls.h"
#include "base/text.h"
#include "core/identity/identity.h"
#include "core/topology/topology.h"

namespace baton::app {

namespace {

struct Listening {
    std::string host;
    std::uint16_t port = 0;
};

// "127.0.0.1:8080"; port 0 is any that is free.
Result<Listening> listening_of(const config::Settings& settings, const std::string& key) {
    const std::string& text = settings.text(key);
    const bool any_port = text.ends_with(":0");
    const auto address =
        topology::parse_address(any_port ? text.substr(0, text.size() - 1) + "1" : text);
    if (!address) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = key + ": " + address.error().message,
                     .hint = "it is host:port, or empty to keep the door closed"};
    }
    return Listening{.host = address->host, .port = any_port ? std::uint16_t{0} : address->port};
}

// "a, b": a and b.
std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : list + ",") {
        if (c != ',' && c != ' ') {
            word += c;
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    return words;
}

Result<Done> check_trust(const Configuration& configuration, const std::string& key,
                         const std::string& host) {
    const bool meant = configuration.settings.flag("auth.trust_remote");
    if (identity::is_loopback(host) || meant || !configuration.access.trusts_everybody())
        return Done{};
    return Error{
        .code = ErrorCode::invalid_configuration,
        .message = key + ": " + host + " is beyond this machine, and every client would be trusted",
        .hint =
            "add users or tokens (`baton config user`, `baton config token`), or set "
            "auth.trust_remote to true if that is meant"};
}

// How many connections each door lets in: as set, unless that is more than there are descriptors.
struct Shares {
    std::size_t pg = 0;
    std::size_t pg_strangers = 0;
    std::size_t http = 0;
};

Shares shares_of(const config::Settings& settings, Log& log) {
    const std::size_t beside = pgserver::ServerOptions{}.strangers_max + pgserver::kKeptForOthers;
    const std::size_t limit = system::raise_descriptor_limit();
    const bool pg_open = !settings.text("pg.listen").empty();
    const bool http_open = !settings.text("http.listen").empty();
    const std::size_t pg = pg_open ? settings.number("pg.connections_max") : 0;
    const std::size_t http = http_open ? settings.number("http.connections_max") : 0;
    const system::DoorShares doors = system::door_shares(limit, pg_open ? pg + beside : 0, http);
    const std::size_t beside_pg = std::min(doors.first / 2, beside);
    const Shares shares{
        .pg = doors.first - beside_pg,
        .pg_strangers = beside_pg - std::min(beside_pg / 2, pgserver::kKeptForOthers),
        .http = doors.second};
    // The settings allow by default more than most machines have descriptors for.
    constexpr std::size_t kFew = 1'000;
    if (shares.pg < std::min(pg, kFew) || shares.http < std::min(http, kFew)) {
        log.warn("fewer connections than set are let in: there are too few file descriptors",
                 {{"descriptors", std::to_string(limit)},
                  {"pg", std::to_string(shares.pg)},
                  {"http", std::to_string(shares.http)}});
    }
    return shares;
}

Result<std::unique_ptr<pgserver::Server>> open_postgres(const Configuration& configuration,
                                                        const Shares& shares, desk::Desk& desk,
                                                        desk::Metrics& metrics,
                                                        desk::Logins& logins, Log& log) {
    const config::Settings& settings = configuration.settings;
    if (settings.text("pg.listen").empty()) return std::unique_ptr<pgserver::Server>();
    TRY_ASSIGN(where, listening_of(settings, "pg.listen"));
    TRY(check_trust(configuration, "pg.listen", where.host));
    pgserver::ServerOptions options{.host = where.host, .port = where.port};
    options.connections_max = shares.pg;
    options.strangers_max = shares.pg_strangers;
    options.log = &log;
    options.logins = &logins;
    if (!settings.text("tls.cert").empty()) {
        options.tls = pgserver::TlsFiles{.certificate = settings.text("tls.cert"),
                                         .key = settings.text("tls.key"),
                                         .required = settings.text("pg.tls") == "require"};
    }
    TRY_ASSIGN(server, pgserver::Server::open(desk, configuration.access, metrics, options));
    log.info("the door for PostgreSQL's clients is open",
             {{"door", "pg"}, {"host", where.host}, {"port", std::to_string(server->port())}});
    return server;
}

Result<std::unique_ptr<http::Server>> open_http(const Configuration& configuration,
                                                const Shares& shares, desk::Desk& desk,
                                                desk::Metrics& metrics, desk::Logins& logins,
                                                Log& log) {
    const config::Settings& settings = configuration.settings;
    if (settings.text("http.listen").empty()) return std::unique_ptr<http::Server>();
    TRY_ASSIGN(where, listening_of(settings, "http.listen"));
    TRY(check_trust(configuration, "http.listen", where.host));
    http::ServerOptions options{.address = where.host, .port = where.port};
    options.body_bytes_max = settings.number("http.body_max");
    options.connections_max = shares.http;
    options.service.log = &log;
    options.service.logins = &logins;
    options.service.site = {.hosts = words_of(settings.text("http.hosts")),
                            .any_address = !identity::is_loopback(where.host)};
    if (!settings.text("tls.cert").empty()) {
        options.tls = http::TlsFiles{.certificate = settings.text("tls.cert"),
                                     .key = settings.text("tls.key")};
    }
    TRY_ASSIGN(server, http::Server::open(desk, configuration.access, metrics, options));
    log.info("the door for HTTP is open",
             {{"door", "http"}, {"host", where.host}, {"port", std::to_string(server->port())}});
    return server;
}

}  // namespace

Result<std::unique_ptr<ClientServers>> ClientServers::open(const Configuration& configuration,
                                                           desk::Desk& desk, desk::Metrics& metrics,
                                                           desk::Logins& logins, Log& log) {
    const config::Settings& settings = configuration.settings;
    if (settings.text("tls.cert").empty() != settings.text("tls.key").empty()) {
        return Error{.code = ErrorCode::missing_configuration,
                     .message = "tls.cert and tls.key belong together: one of them is not set"};
    }
    std::unique_ptr<ClientServers> doors(new ClientServers);
    const Shares shares = shares_of(settings, log);
    TRY_ASSIGN(postgres, open_postgres(configuration, shares, desk, metrics, logins, log));
    doors->postgres_ = std::move(postgres);
    TRY_ASSIGN(http, open_http(configuration, shares, desk, metrics, logins, log));
    doors->http_ = std::move(http);
    return doors;
}

Result<Done> ClientServers::reload(const Configuration& configuration) {
    const config::Settings& settings = configuration.settings;
    for (const std::string key : {"pg.listen", "http.listen"}) {
        if (settings.text(key).empty()) continue;
        TRY_ASSIGN(where, listening_of(settings, key));
        TRY(check_trust(configuration, key, where.host));
    }
    if (!settings.text("tls.cert").empty()) {  // so that no door goes on without the other
        TRY(system::server_tls(settings.text("tls.cert"), settings.text("tls.key")));
    }
    if (postgres_) TRY(postgres_->reload(configuration.access));
    if (http_) TRY(http_->reload(configuration.access));
    return Done{};
}

void ClientServers::stop(Duration patience) {
    std::thread beside([&] {
        if (http_) http_->stop(patience);
    });
    if (postgres_) postgres_->stop(patience);
    beside.join();
}

}  // namespace baton::app
