// Keys and certificates by OpenSSL: ECDSA on P-256, signed with SHA-256.
#pragma once

#include "ports/certificates.h"

namespace baton::certificates {

class OpensslCertificates final : public CertificateMaker {
public:
    Result<KeyAndCertificate> make_authority(const std::string& name, WallTime from,
                                             WallTime until) override;
    Result<KeyAndCertificate> make(const KeyAndCertificate& authority,
                                   const CertificateWish& wish) override;
    Result<KeyAndRequest> ask(const std::string& given) override;
    Result<std::string> sign(const KeyAndCertificate& authority, const std::string& request,
                             const CertificateWish& wish) override;
    Result<CertificateFacts> look_at(const std::string& pem) override;
};

}  // namespace baton::certificates
