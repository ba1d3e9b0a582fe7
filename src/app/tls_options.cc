#include "app/tls_options.h"

#include <algorithm>
#include <array>

namespace baton::app {

Result<std::optional<system::TlsFiles>> all_or_none(const system::TlsFiles& files) {
    const std::array given = {!files.ca.empty(), !files.cert.empty(), !files.key.empty()};
    const auto count = std::count(given.begin(), given.end(), true);
    if (count == 0) return std::optional<system::TlsFiles>();
    if (count == static_cast<std::ptrdiff_t>(given.size())) return std::optional(files);
    return Error{.code = ErrorCode::missing_configuration,
                 .message = "cannot encrypt with only some of the files",
                 .at = {},
                 .hint = "give --tls-ca, --tls-cert and --tls-key, or none of them"};
}

Result<std::shared_ptr<rpc::Trust>> trust_of(const system::TlsFiles& files,
                                             rpc::UnmarkedCertificates unmarked) {
    TRY_ASSIGN(given, all_or_none(files));
    if (!given) return rpc::user_trust();
    return rpc::tls_trust(*given, unmarked);
}

}  // namespace baton::app
