// The files of TLS on a command line.
#pragma once

#include <optional>

#include "adapters/grpc/tls.h"
#include "base/result.h"

namespace baton {

// None if no file is given; fails with missing_configuration if only some are.
[[nodiscard]] Result<std::optional<TlsFiles>> all_or_none(const TlsFiles& files);

}  // namespace baton
