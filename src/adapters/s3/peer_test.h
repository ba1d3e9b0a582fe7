// For tests of S3Attempts against a peer that the test scripts: settings, and short looks at
// answers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "adapters/s3/open_s3.h"
#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "testing/s3/http_peer.h"

namespace baton::s3::testing {

using baton::testing::HttpPeer;
using baton::testing::PeerAnswer;
using baton::testing::PeerRequest;

inline const Clock& clock_of_tests() {
    static const system::SystemClock clock;
    return clock;
}

inline S3Settings settings_at(const std::string& endpoint) {
    return {.bucket = "bucket",
            .prefix = "",
            .endpoint = endpoint,
            .region = "us-east-1",
            .keys = Keys{.id = "AKID", .secret = "SECRET-OF-TEST", .token = "TOKEN-OF-TEST"},
            .url = "s3://bucket"};
}

inline std::unique_ptr<StoreAttempts> open_at(const S3Settings& settings,
                                              std::map<std::string, std::string> environment = {}) {
    environment.emplace("AWS_EC2_METADATA_DISABLED", "true");
    auto opened = open_s3(settings, environment, clock_of_tests());
    CHECK(opened);
    return *std::move(opened);
}

template <class T>
AttemptFailure failure_in(const Attempted<T>& attempted) {
    const auto* failed = std::get_if<AttemptFailure>(&attempted.outcome);
    if (failed == nullptr) ADD_FAILURE() << "it did not fail";
    return failed == nullptr ? AttemptFailure{} : *failed;
}

// Short, so that tests of silence are.
inline AttemptCall brief() {
    AttemptCall call;
    call.silence_max = std::chrono::milliseconds(250);
    return call;
}

}  // namespace baton::s3::testing
