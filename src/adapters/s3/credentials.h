// Credentials gives the keys to sign with, and fetches temporary ones where core/s3 says so:
// from STS by a web identity, from the endpoint of a container, or from the metadata service of the
// machine (version 2 only). When they are renewed, and by which caller, is decided by Renewal.
//
// Addresses of containers and machines are asked directly, never through a proxy.
// Calls block within their patience; any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <variant>

#include "adapters/s3/http_client.h"
#include "core/s3/credential_choice.h"
#include "core/s3/renewal.h"
#include "ports/clock.h"

namespace baton::s3 {

struct NumberedKeys {
    Keys keys;
    std::uint64_t number = 0;  // of the time that they were fetched
};

class Credentials {
public:
    // The client and the clock outlive it.
    Credentials(CredentialSource source, HttpClient& http, const Clock& clock);

    [[nodiscard]] std::variant<NumberedKeys, AttemptFailure> get(const AttemptCall& call);
    // The store says that these have ended. Whether a repeat would sign with others.
    bool rejected(std::uint64_t number);

private:
    // Keys and their end by our clock.
    struct Fetched {
        Keys keys;
        std::optional<Instant> ends;
    };
    [[nodiscard]] std::variant<Fetched, AttemptFailure> fetch(const AttemptCall& call);
    [[nodiscard]] std::variant<HttpAnswer, AttemptFailure> ask(HttpRequest request,
                                                               const AttemptCall& call);
    [[nodiscard]] std::variant<Fetched, AttemptFailure> fetch_role(const WebIdentity& web,
                                                                   const AttemptCall& call);
    [[nodiscard]] std::variant<Fetched, AttemptFailure> fetch_container(
        const ContainerEndpoint& container, const AttemptCall& call);
    [[nodiscard]] std::variant<Fetched, AttemptFailure> fetch_machine(
        const MachineMetadata& machine, const AttemptCall& call);
    [[nodiscard]] std::variant<Fetched, AttemptFailure> accept(const HttpAnswer& answer,
                                                               Result<TemporaryKeys> keys) const;
    [[nodiscard]] AttemptFailure failure(const std::string& why, AttemptTrouble trouble) const;

    const CredentialSource source_;
    HttpClient& http_;
    const Clock& clock_;

    std::mutex mutex_;
    std::condition_variable changed_;
    Renewal renewal_;
    NumberedKeys keys_;
    AttemptFailure last_failure_;
};

}  // namespace baton::s3
