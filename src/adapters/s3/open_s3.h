// open_s3() makes the attempts against a bucket, with credentials and region as the environment and
// the files of AWS' tools say. Nothing is asked of the network yet.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "adapters/s3/s3_settings.h"
#include "ports/clock.h"
#include "ports/store_attempts.h"

namespace baton::s3 {

// Those of this process' variables that are looked at.
[[nodiscard]] std::map<std::string, std::string> environment_of_process();

// Fails with invalid_configuration, missing_configuration or unreadable_configuration. The clock
// outlives it.
[[nodiscard]] Result<std::unique_ptr<StoreAttempts>> open_s3(
    S3Settings settings, const std::map<std::string, std::string>& environment, const Clock& clock);

}  // namespace baton::s3
