#include "adapters/grpc/trust.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include <grpcpp/client_context.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/server_context.h>

#include "adapters/system/digest.h"
#include "adapters/system/user_secret.h"
#include "base/text.h"

namespace baton::rpc {

namespace {

Error not_authenticated(const std::string& message, const std::string& hint = {}) {
    return {.code = ErrorCode::not_authenticated, .message = message, .at = {}, .hint = hint};
}

// ---- a secret -----------------------------------------------------------------------------------

const std::string kProofKey = "baton-proof";

WallTime wall_now() {
    return WallTime(
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

struct Proof {
    std::string worker;  // that is meant
    std::string made;    // microseconds since 1970
    std::string nonce;
    std::string mac;
};

std::string mac_of(const std::string& secret, std::string_view who, const Proof& proof) {
    return system::hmac_sha256_hex(secret, std::string(who) + "\n" + to_upper(proof.worker) + "\n" +
                                               proof.made + "\n" + proof.nonce);
}

std::string text_of(const Proof& proof) {
    return "1." + proof.made + "." + proof.nonce + "." + proof.mac + "." +
           system::hex_of(proof.worker);
}

std::optional<std::string> from_hex(std::string_view text) {
    std::string bytes;
    if (text.size() % 2 != 0) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        unsigned value = 0;
        const auto [end, problem] =
            std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
        if (problem != std::errc() || end != text.data() + i + 2) return std::nullopt;
        bytes += static_cast<char>(value);
    }
    return bytes;
}

std::optional<Proof> proof_in(std::string_view text) {
    constexpr std::size_t kBytesMax = 2048;
    std::vector<std::string> words;
    if (text.size() > kBytesMax) return std::nullopt;
    while (true) {
        const std::size_t dot = text.find('.');
        words.emplace_back(text.substr(0, dot));
        if (dot == std::string_view::npos) break;
        text.remove_prefix(dot + 1);
    }
    if (words.size() != 5 || words[0] != "1") return std::nullopt;
    const auto worker = from_hex(words[4]);
    if (!worker) return std::nullopt;
    return Proof{.worker = *worker, .made = words[1], .nonce = words[2], .mac = words[3]};
}

std::optional<WallTime> time_in(const std::string& text) {
    std::int64_t count = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return WallTime(Duration(count));
}

class UserTrust final : public Trust {
public:
    explicit UserTrust(std::string path) : path_(std::move(path)), started_(wall_now()) {}

    Admitted admits() const override { return Admitted::own_user; }

    Result<std::shared_ptr<grpc::ServerCredentials>> server() override {
        TRY(secret());
        return grpc::InsecureServerCredentials();
    }

    Result<Dialling> dial(const std::string& worker) override {
        TRY_ASSIGN(known, secret());
        constexpr std::size_t kNonce = 16;
        Proof proof{.worker = worker,
                    .made = std::to_string(wall_now().time_since_epoch().count()),
                    .nonce = system::hex_of(system::random_bytes(kNonce)),
                    .mac = {}};
        proof.mac = mac_of(known, kCaller, proof);
        Dialling dialling{.credentials = grpc::InsecureChannelCredentials(),
                          .server_name = {},
                          .metadata = {{kProofKey, text_of(proof)}},
                          .recognise = {}};
        dialling.recognise = [expected = mac_of(known, kAnswer, proof),
                              path = path_](const grpc::ClientContext& context) -> Result<Done> {
            const auto& metadata = context.GetServerInitialMetadata();
            const auto found = metadata.find(kProofKey);
            if (found != metadata.end() &&
                system::equal_in_constant_time({found->second.data(), found->second.size()},
                                               expected)) {
                return Done{};
            }
            return not_authenticated("the process there does not know the secret in " +
                                     in_quotes(path));
        };
        return dialling;
    }

    Result<identity::Peer> judge(grpc::CallbackServerContext& context,
                                 const std::string& here) override {
        TRY_ASSIGN(known, secret());
        const auto& metadata = context.client_metadata();
        const auto found = metadata.find(kProofKey);
        const Error stranger = not_authenticated(
            "the caller does not prove that it belongs to the user of this worker",
            "the worker asks for the secret in a file of its user (BATON_USER_SECRET names "
            "another); workers for other users and machines need certificates: `baton token`");
        if (metadata.count(kProofKey) != 1) return stranger;
        const auto proof = proof_in({found->second.data(), found->second.size()});
        if (!proof || !system::equal_in_constant_time(proof->mac, mac_of(known, kCaller, *proof))) {
            return stranger;
        }
        const auto made = time_in(proof->made);
        if (!made || !is_first(*proof, *made)) {
            return not_authenticated("the proof of the caller was made for another call",
                                     "are the clocks of the two processes the same?");
        }
        if (!equal_ignoring_case(proof->worker, here)) {
            return Error{.code = ErrorCode::unknown_worker,
                         .message = "this is worker " + in_quotes(here) + ", not " +
                                    in_quotes(proof->worker)};
        }
        context.AddInitialMetadata(kProofKey, mac_of(known, kAnswer, *proof));
        return identity::Peer(identity::SameUser{});
    }

private:
    static constexpr std::string_view kCaller = "baton caller";
    static constexpr std::string_view kAnswer = "baton worker";

    Result<std::string> secret() {
        const std::lock_guard lock(mutex_);
        if (!secret_) {
            TRY_ASSIGN(known, system::user_secret(path_));
            secret_ = std::move(known);
        }
        return *secret_;
    }

    // Not shown before, and made for this process; only of those that know the secret.
    bool is_first(const Proof& proof, WallTime made) {
        const WallTime now = wall_now();
        if (!identity::is_fresh(made, now, started_)) return false;
        const std::lock_guard lock(mutex_);
        std::erase_if(seen_, [&](const auto& one) {
            return !identity::is_fresh(one.second, now, WallTime::min());
        });
        return seen_.emplace(proof.nonce, made).second;
    }

    const std::string path_;
    const WallTime started_;
    std::mutex mutex_;
    std::optional<std::string> secret_;
    std::map<std::string, WallTime> seen_;  // nonces of proofs that are still fresh
};

// ---- certificates -------------------------------------------------------------------------------

Result<std::string> read_pem(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || text.str().empty()) {
        return Error{.code = ErrorCode::unreadable_configuration,
                     .message = "cannot read the certificate or key " + in_quotes(path),
                     .at = {},
                     .hint = "it is a PEM file"};
    }
    return text.str();
}

Result<system::TlsTexts> read_files(const system::TlsFiles& files) {
    TRY_ASSIGN(ca, read_pem(files.ca));
    TRY_ASSIGN(cert, read_pem(files.cert));
    TRY_ASSIGN(key, read_pem(files.key));
    return system::TlsTexts{.ca = std::move(ca), .cert = std::move(cert), .key = std::move(key)};
}

std::shared_ptr<grpc::ChannelCredentials> credentials_of(const system::TlsTexts& texts) {
    return grpc::SslCredentials(
        {.pem_root_certs = texts.ca, .pem_private_key = texts.key, .pem_cert_chain = texts.cert});
}

// Where certificates come from, for both ends.
class Certificates {
public:
    explicit Certificates(const system::TlsTexts& texts) : credentials_(credentials_of(texts)) {}
    Certificates(const system::TlsFiles& files, const system::TlsTexts& texts)
        : files_(files), changed_(change_of(files)), credentials_(credentials_of(texts)) {}

    // Files that changed are read again; those that cannot be read leave it at what was.
    std::shared_ptr<grpc::ChannelCredentials> client() {
        const std::lock_guard lock(mutex_);
        if (!files_) return credentials_;
        const auto change = change_of(*files_);
        if (change == changed_) return credentials_;
        if (const auto texts = read_files(*files_)) {
            credentials_ = credentials_of(*texts);
            changed_ = change;
        }
        return credentials_;
    }
    std::shared_ptr<grpc::ServerCredentials> server() {
        constexpr unsigned kLookEverySeconds = 1;
        CHECK(files_);  // coordinators are not dialled
        grpc::experimental::TlsServerCredentialsOptions options(
            std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
                files_->key, files_->cert, files_->ca, kLookEverySeconds));
        options.watch_root_certs();
        options.watch_identity_key_cert_pairs();
        options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
        return grpc::experimental::TlsServerCredentials(options);
    }

private:
    using Change = std::vector<std::filesystem::file_time_type>;
    static Change change_of(const system::TlsFiles& files) {
        Change change;
        for (const std::string& path : {files.ca, files.cert, files.key}) {
            std::error_code problem;
            change.push_back(std::filesystem::last_write_time(path, problem));
        }
        return change;
    }

    const std::optional<system::TlsFiles> files_;
    std::mutex mutex_;
    Change changed_;
    std::shared_ptr<grpc::ChannelCredentials> credentials_;
};

// The mark of the certificate at the other end; none: it has none.
Result<std::optional<identity::Identity>> identity_of(const grpc::AuthContext& context) {
    std::vector<std::string> uris;
    for (const grpc::string_ref& uri : context.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
        uris.emplace_back(uri.data(), uri.size());
    }
    return identity::identity_among(uris);
}

class TlsTrust final : public Trust, public std::enable_shared_from_this<TlsTrust> {
public:
    TlsTrust(std::unique_ptr<Certificates> certificates, UnmarkedCertificates unmarked,
             std::optional<std::string> cluster)
        : certificates_(std::move(certificates)),
          unmarked_(unmarked),
          cluster_(std::move(cluster)) {}

    Result<std::shared_ptr<grpc::ServerCredentials>> server() override {
        return certificates_->server();
    }

    Result<Dialling> dial(const std::string& worker) override {
        Dialling dialling{.credentials = certificates_->client(),
                          .server_name = {},
                          .metadata = {},
                          .recognise = {}};
        if (cluster_) {
            dialling.server_name = identity::host_name_of(
                {.role = identity::ProcessRole::worker, .cluster = *cluster_, .name = worker});
        }
        dialling.recognise = [self = shared_from_this(),
                              worker](const grpc::ClientContext& context) -> Result<Done> {
            const auto shown = context.auth_context();
            if (!shown) return not_authenticated("the process there shows no certificate");
            TRY_ASSIGN(identity, identity_of(*shown));
            if (!identity && !self->cluster_) return Done{};  // it has the name of its host
            TRY_ASSIGN(peer, self->peer_of(identity));
            return identity::check_is_worker(peer, worker);
        };
        return dialling;
    }

    Result<identity::Peer> judge(grpc::CallbackServerContext& context,
                                 const std::string& /*here*/) override {
        const auto shown = context.auth_context();
        if (!shown || !shown->IsPeerAuthenticated()) {
            return not_authenticated("the caller shows no certificate");
        }
        TRY_ASSIGN(identity, identity_of(*shown));
        return peer_of(identity);
    }

private:
    Result<identity::Peer> peer_of(const std::optional<identity::Identity>& identity) const {
        if (identity && (!cluster_ || identity->cluster == *cluster_))
            return identity::Peer(*identity);
        if (identity) {
            return Error{.code = ErrorCode::not_permitted,
                         .message = "the certificate is that of " + to_string(*identity) +
                                    " of another cluster"};
        }
        if (unmarked_ == UnmarkedCertificates::accepted)
            return identity::Peer(identity::Unmarked{});
        return Error{.code = ErrorCode::not_permitted,
                     .message = "the certificate of the caller does not say what it may do",
                     .at = {},
                     .hint =
                         "give it the alternative name URI:baton://CLUSTER/coordinator/NAME or "
                         "URI:baton://CLUSTER/worker/NAME, or start the worker with "
                         "--tls-any-role until all have one"};
    }

    const std::unique_ptr<Certificates> certificates_;
    const UnmarkedCertificates unmarked_;
    const std::optional<std::string> cluster_;  // none: any
};

class MembersTrust final : public Trust {
public:
    MembersTrust(std::shared_ptr<Trust> members, std::shared_ptr<Trust> others,
                 std::function<bool(const std::string&)> has_joined)
        : members_(std::move(members)),
          others_(std::move(others)),
          has_joined_(std::move(has_joined)) {}

    Result<std::shared_ptr<grpc::ServerCredentials>> server() override {
        CHECK(false && "coordinators are not dialled");
    }
    Result<Dialling> dial(const std::string& worker) override {
        return (has_joined_(worker) ? members_ : others_)->dial(worker);
    }
    Result<identity::Peer> judge(grpc::CallbackServerContext& /*context*/,
                                 const std::string& /*here*/) override {
        CHECK(false && "coordinators are not dialled");
    }

private:
    const std::shared_ptr<Trust> members_;
    const std::shared_ptr<Trust> others_;
    const std::function<bool(const std::string&)> has_joined_;
};

}  // namespace

std::shared_ptr<Trust> members_trust(std::shared_ptr<Trust> members, std::shared_ptr<Trust> others,
                                     std::function<bool(const std::string& worker)> has_joined) {
    return std::make_shared<MembersTrust>(std::move(members), std::move(others),
                                          std::move(has_joined));
}

std::shared_ptr<Trust> user_trust() {
    static const auto kTrust = std::make_shared<UserTrust>(system::user_secret_path());
    return kTrust;
}

std::shared_ptr<Trust> user_trust(const std::string& path) {
    return std::make_shared<UserTrust>(path);
}

Result<std::shared_ptr<Trust>> tls_trust(const system::TlsFiles& files,
                                         UnmarkedCertificates unmarked) {
    TRY_ASSIGN(texts, read_files(files));
    return std::shared_ptr<Trust>(std::make_shared<TlsTrust>(
        std::make_unique<Certificates>(files, texts), unmarked, std::nullopt));
}

Result<std::shared_ptr<Trust>> cluster_trust(const system::TlsFiles& files,
                                             const std::string& cluster) {
    TRY_ASSIGN(texts, read_files(files));
    return std::shared_ptr<Trust>(std::make_shared<TlsTrust>(
        std::make_unique<Certificates>(files, texts), UnmarkedCertificates::refused, cluster));
}

std::shared_ptr<Trust> cluster_trust(const system::TlsTexts& texts, const std::string& cluster) {
    return std::make_shared<TlsTrust>(std::make_unique<Certificates>(texts),
                                      UnmarkedCertificates::refused, cluster);
}

}  // namespace baton::rpc
