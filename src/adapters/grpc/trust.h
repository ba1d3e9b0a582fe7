// Trust is how a process proves itself to the others of its cluster, and how it knows them.
//
// Rules:
//   - Both ends prove themselves on every connection. A server identifies its caller before it
//     reads anything of the call; a client identifies the server before it sends more than its
//     first message, which is of no use to a stranger.
//   - core/identity decides the rights of a process that has proved its identity.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/system/certificate_files.h"
#include "base/result.h"
#include "core/identity/identity.h"

namespace grpc {
class CallbackServerContext;
class ChannelCredentials;
class ClientContext;
class ServerCredentials;
}  // namespace grpc

namespace baton::rpc {

// For one call to one worker.
struct Dialling {
    std::shared_ptr<grpc::ChannelCredentials> credentials;
    std::string server_name;  // that the certificate there must have; empty: that of the host
    std::vector<std::pair<std::string, std::string>> metadata;  // to be sent with the call
    // Whether the worker is there; after the first answer has come. Fails with not_authenticated
    // and not_permitted.
    std::function<Result<Done>(const grpc::ClientContext&)> recognise;
};

// Whose connections a server takes before anything is proved.
enum class Admitted : std::uint8_t { everybody, own_user };

class Trust {
public:
    Trust() = default;
    virtual ~Trust() = default;
    Trust(const Trust&) = delete;
    Trust& operator=(const Trust&) = delete;

    [[nodiscard]] virtual Admitted admits() const { return Admitted::everybody; }
    // Fail with unreadable_configuration.
    [[nodiscard]] virtual Result<std::shared_ptr<grpc::ServerCredentials>> server() = 0;
    [[nodiscard]] virtual Result<Dialling> dial(const std::string& worker) = 0;
    // Identifies the caller of the worker `here`, and proves to the caller that this is it. Fails
    // with not_authenticated, not_permitted, and unknown_worker if another worker was meant.
    [[nodiscard]] virtual Result<identity::Peer> judge(grpc::CallbackServerContext& context,
                                                       const std::string& here) = 0;
};

// By the secret that the processes of one user share (adapters/system/user_secret.h). It is never
// sent: each side shows that it knows it, for this call and this worker. Nothing is encrypted, so
// it is for one machine. The first has the usual file and is the same for the whole process.
[[nodiscard]] std::shared_ptr<Trust> user_trust();
[[nodiscard]] std::shared_ptr<Trust> user_trust(const std::string& path);

enum class UnmarkedCertificates : std::uint8_t {
    refused,   // as callers; one that is dialled needs the name of its host
    accepted,  // they may do everything
};

// By certificates that were made elsewhere. One that is dialled must have the name of its host. The
// mark of core/identity gives the rights of a process, whatever cluster it names. Fails with
// unreadable_configuration.
[[nodiscard]] Result<std::shared_ptr<Trust>> tls_trust(const system::TlsFiles& files,
                                                       UnmarkedCertificates unmarked);

// By certificates of the cluster's own issuer. Each must have a mark of the cluster; a process that
// is dialled is known by its mark, not by its host. Fails with unreadable_configuration.
[[nodiscard]] Result<std::shared_ptr<Trust>> cluster_trust(const system::TlsFiles& files,
                                                           const std::string& cluster);
[[nodiscard]] std::shared_ptr<Trust> cluster_trust(const system::TlsTexts& texts,
                                                   const std::string& cluster);

// A coordinator's, which is not dialled: workers that have joined are known by the first, others by
// the second. `has_joined` is asked from any thread.
[[nodiscard]] std::shared_ptr<Trust> members_trust(
    std::shared_ptr<Trust> members, std::shared_ptr<Trust> others,
    std::function<bool(const std::string& worker)> has_joined);

}  // namespace baton::rpc
