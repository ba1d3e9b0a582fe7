// The options of a command line by which a process recognises the others of its cluster.
#pragma once

#include <memory>
#include <optional>

#include "adapters/grpc/trust.h"
#include "base/result.h"

namespace baton::app {

// None if no file is given; fails with missing_configuration if only some are.
[[nodiscard]] Result<std::optional<system::TlsFiles>> all_or_none(const system::TlsFiles& files);

// By those files; without any, by the secret of the user.
[[nodiscard]] Result<std::shared_ptr<rpc::Trust>> trust_of(const system::TlsFiles& files,
                                                           rpc::UnmarkedCertificates unmarked);

}  // namespace baton::app
