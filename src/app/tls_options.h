// The options of a command line by which a process recognises the others of its cluster.
#pragma once

#include <memory>
#include <optional>

#include "adapters/grpc/trust.h"
#include "base/result.h"

namespace baton {

// None if no file is given; fails with missing_configuration if only some are.
[[nodiscard]] Result<std::optional<TlsFiles>> all_or_none(const TlsFiles& files);

// By those files; without any, by the secret of the user.
[[nodiscard]] Result<std::shared_ptr<Trust>> trust_of(const TlsFiles& files,
                                                      UnmarkedCertificates unmarked);

}  // namespace baton
