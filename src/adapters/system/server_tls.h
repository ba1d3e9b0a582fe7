// The TLS of doors, and of processes that join a cluster: TLS 1.3, or 1.2 with ephemeral keys
// (ECDHE) and ciphers that authenticate the data that they encrypt (AES-GCM, ChaCha20-Poly1305);
// nothing older.
#pragma once

#include <memory>
#include <string>

#include <openssl/types.h>

#include "base/result.h"

namespace baton::system {

struct FreeTls {
    void operator()(SSL_CTX* context) const;
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;

// For either end, without a certificate yet. Fails with invalid_configuration: the library does not
// encrypt as it has to.
[[nodiscard]] Result<TlsContext> current_tls();

// `certificate` is a file with the chain to its root, `key` one with its key, both PEM. Fails with
// invalid_configuration: one of them cannot be used, they do not belong together, or every user can
// read the key.
[[nodiscard]] Result<TlsContext> server_tls(const std::string& certificate, const std::string& key);

}  // namespace baton::system
