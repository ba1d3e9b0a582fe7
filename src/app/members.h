// The members of a coordinator's cluster: the certificates that it gives to workers, the door at
// which they ask for them, and the way in which it recognises them.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "adapters/certificates/openssl_certificates.h"
#include "adapters/grpc/trust.h"
#include "base/result.h"
#include "base/time.h"
#include "coordinator/joining/registrar.h"
#include "doors/joining/join_door.h"
#include "ports/clock.h"
#include "ports/sql.h"

namespace baton::app {

struct MembersOptions {
    std::string listen;  // host:port for workers that join; empty: none can
    Duration life = std::chrono::hours(24 * 30);
    // Called with events for people, from any thread.
    std::function<void(const std::string&)> log;
};

class Members {
public:
    // Both outlive it. Makes the issuer of certificates if the catalog has none.
    [[nodiscard]] static Result<std::unique_ptr<Members>> open(SqlDatabase& database,
                                                               const Clock& clock,
                                                               const MembersOptions& options);
    ~Members();
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;

    // May outlive it.
    [[nodiscard]] std::shared_ptr<rpc::Trust> trust() const { return trust_; }
    // Workers can join from now on, if they are to; those that join elsewhere are known. Nothing
    // uses the database between open() and this.
    [[nodiscard]] Result<Done> open_door();

private:
    Members() = default;
    void look_again(const std::stop_token& stop);  // until the end

    MembersOptions options_;
    SqlDatabase* database_ = nullptr;
    certificates::OpensslCertificates maker_;
    system::TlsTexts tls_;
    std::shared_ptr<coordinator::Registrar> registrar_;
    std::shared_ptr<rpc::Trust> trust_;
    std::unique_ptr<joining::JoinDoor> door_;
    std::mutex mutex_;
    std::condition_variable_any woken_;
    std::jthread looking_;  // the catalog may be that of several coordinators
};

// Prints a token for a worker. The catalog is that of `data` or, unless empty, at `catalog`; the
// exit status.
struct TokenCommand {
    std::string worker;
    std::string data = "./baton-data";
    std::string catalog;
    std::string address;  // of the coordinator; empty: where it says that it listens
    std::uint64_t seconds = 900;
};
[[nodiscard]] int run_token_worker(const TokenCommand& command);

}  // namespace baton::app
