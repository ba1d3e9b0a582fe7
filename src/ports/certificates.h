// CertificateMaker makes keys and certificates, and reads them. Others decide what
// they say.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace baton {

// PEM, both.
struct KeyAndCertificate {
    std::string key;
    std::string certificate;
};
struct KeyAndRequest {
    std::string key;
    std::string request;
};

struct CertificateWish {
    std::vector<std::string> uris;
    std::vector<std::string> hosts;
    WallTime from;
    WallTime until;
};

struct CertificateFacts {
    std::string serial;  // hexadecimal digits
    std::vector<std::string> uris;
    WallTime from;
    WallTime until;
};

// All fail with malformed_message for bytes that are no key, request or certificate.
class CertificateMaker {
public:
    virtual ~CertificateMaker() = default;

    // One that signs others.
    [[nodiscard]] virtual Result<KeyAndCertificate> make_authority(const std::string& name,
                                                                   WallTime from,
                                                                   WallTime until) = 0;
    // For a process that can be dialled and that dials.
    [[nodiscard]] virtual Result<KeyAndCertificate> make(const KeyAndCertificate& authority,
                                                         const CertificateWish& wish) = 0;
    // A request that shows that the asker has the key; without one, a new key.
    [[nodiscard]] virtual Result<KeyAndRequest> ask(const std::string& key = {}) = 0;
    // Of what is asked only the key counts; the rest is the wish.
    [[nodiscard]] virtual Result<std::string> sign(const KeyAndCertificate& authority,
                                                   const std::string& request,
                                                   const CertificateWish& wish) = 0;
    [[nodiscard]] virtual Result<CertificateFacts> look_at(const std::string& certificate) = 0;
};

}  // namespace baton
