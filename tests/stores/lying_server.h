// s3rver, a store for development that ignores conditions, as a server on loopback with a directory
// of its own. It ends with the test program.
#pragma once

#include <string>

#include <sys/types.h>

#include "adapters/s3/s3_settings.h"
#include "testing/temporary_directory.h"

namespace baton::testing {

class LyingServer {
public:
    LyingServer();
    ~LyingServer();
    LyingServer(const LyingServer&) = delete;
    LyingServer& operator=(const LyingServer&) = delete;

    [[nodiscard]] s3::S3Settings settings() const;

private:
    const TemporaryDirectory directory_;
    int port_ = 0;
    pid_t pid_ = -1;
};

}  // namespace baton::testing
