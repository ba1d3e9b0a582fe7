#include "app/members.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "adapters/system/digest.h"
#include "adapters/system/system_clock.h"
#include "app/catalogs.h"
#include "app/counterparts.h"
#include "base/text.h"
#include "catalog/schema.h"
#include "core/topology/topology.h"

namespace baton::app {

namespace {

std::string new_cluster() {
    constexpr std::size_t kBytes = 8;
    return system::hex_of(system::random_bytes(kBytes));
}

Result<Address> join_address(const std::string& text) {
    auto address = topology::parse_address(text);
    if (address) return address;
    Error error = address.error();
    error.message = "workers.listen: " + error.message;
    return error;
}

}  // namespace

Result<std::unique_ptr<Members>> Members::open(SqlDatabase& database, const Clock& clock,
                                               const MembersOptions& options) {
    std::unique_ptr<Members> members(new Members);
    members->options_ = options;
    if (!options.listen.empty()) TRY(join_address(options.listen));
    TRY_ASSIGN(sql, database.connect(Access::write));
    TRY_ASSIGN(authority, coordinator::open_authority(*sql, members->maker_, new_cluster(),
                                                      options.listen, clock.wall_now()));
    TRY_ASSIGN(own,
               coordinator::coordinator_certificate(authority, members->maker_, clock.wall_now()));
    members->tls_ = {.ca = authority.certificate, .cert = own.certificate, .key = own.key};
    const std::string cluster = authority.cluster;
    members->registrar_ = std::make_shared<coordinator::Registrar>(
        coordinator::RegistrarOptions{.authority = std::move(authority),
                                      .life = options.life,
                                      .hmac = system::hmac_sha256_hex,
                                      .digest = system::sha256_hex},
        database, members->maker_, clock);
    TRY(members->registrar_->refresh(*sql));
    members->trust_ =
        rpc::members_trust(rpc::cluster_trust(members->tls_, cluster), rpc::user_trust(),
                           [registrar = members->registrar_](const std::string& worker) {
                               return registrar->has_joined(worker);
                           });
    members->database_ = &database;
    return members;
}

Members::~Members() = default;

void Members::look_again(const std::stop_token& stop) {
    constexpr auto kEvery = std::chrono::seconds(1);
    std::unique_ptr<Sql> sql;
    while (true) {
        {
            std::unique_lock lock(mutex_);
            woken_.wait_for(lock, stop, kEvery, [&] { return stop.stop_requested(); });
        }
        if (stop.stop_requested()) return;
        if (!sql) {
            if (auto connected = database_->connect(Access::read)) sql = *std::move(connected);
        }
        // While the database is away, members are those that were.
        if (sql && !registrar_->refresh(*sql)) sql.reset();
    }
}

Result<Done> Members::open_door() {
    looking_ = std::jthread([this](const std::stop_token& stop) { look_again(stop); });
    if (options_.listen.empty()) return Done{};
    TRY_ASSIGN(address, join_address(options_.listen));
    const auto registrar = registrar_;
    TRY_ASSIGN(
        door,
        joining::JoinDoor::open(
            {.listen = address,
             .tls = tls_,
             .join = [registrar](const std::string& token,
                                 const std::string& csr) { return registrar->join(token, csr); },
             .renew = [registrar](const std::string& shown,
                                  const std::string& csr) { return registrar->renew(shown, csr); },
             .log = options_.log}));
    door_ = std::move(door);
    return Done{};
}

// ---- tokens -------------------------------------------------------------------------------------

namespace {

Result<std::string> token_for(const TokenCommand& command) {
    const bool plain = !command.worker.empty() &&
                       std::all_of(command.worker.begin(), command.worker.end(),
                                   [](unsigned char c) { return c >= ' ' && c != 127; });
    if (!plain) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "this is no name of a worker: " + in_quotes(command.worker)};
    }
    const std::string where = command.catalog.empty() ? command.data : command.catalog;
    TRY_ASSIGN(database, look_at_catalog(is_server(where) ? where : file_of_catalog(where)));
    TRY_ASSIGN(sql, database->connect(Access::read));
    TRY(catalog::require_current_version(*sql));
    TRY_ASSIGN(authority, catalog::find_authority(*sql));
    const std::string address =
        command.address.empty() && authority ? authority->address : command.address;
    if (!authority || address.empty()) {
        return Error{.code = ErrorCode::missing_configuration,
                     .message = "the coordinator of this catalog lets no worker join",
                     .at = {},
                     .hint = "start it with --workers HOST:PORT (workers.listen)"};
    }
    TRY_ASSIGN(parsed, topology::parse_address(address));
    if (parsed.host == "0.0.0.0" || parsed.host == "[::]") {
        return Error{
            .code = ErrorCode::missing_configuration,
            .message = "the coordinator listens on all its addresses, " + address,
            .at = {},
            .hint = "say by which workers reach it: --address HOST:" + std::to_string(parsed.port)};
    }
    constexpr std::size_t kNonce = 16;
    const system::SystemClock clock;
    identity::JoinToken token{.worker = command.worker,
                              .expires = clock.wall_now() + std::chrono::seconds(command.seconds),
                              .nonce = system::hex_of(system::random_bytes(kNonce)),
                              .address = address,
                              .cluster = authority->cluster,
                              .authority = authority->certificate,
                              .mac = {}};
    token.mac = coordinator::mac_of(token, *authority, system::hmac_sha256_hex);
    return to_string(token);
}

}  // namespace

int run_token_worker(const TokenCommand& command) {
    const auto token = token_for(command);
    if (!token) return fail(token.error());
    std::cout << *token << "\n";
    return 0;
}

}  // namespace baton::app
