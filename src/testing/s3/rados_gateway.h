// A real store for tests that speaks S3: radosgw, with the monitor and the one disk in memory that
// it needs, on loopback in a directory of its own. It ends with the test program.
//
//     RadosGateway& gateway = RadosGateway::shared();
//     .. gateway.endpoint(), gateway.new_bucket(), RadosGateway::kKeys ..
//
// Starting one takes about three seconds, so a program has one, and tests have buckets of it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "adapters/s3/s3_settings.h"

namespace baton::testing {

class RadosGateway {
public:
    RadosGateway();
    ~RadosGateway();
    RadosGateway(const RadosGateway&) = delete;
    RadosGateway& operator=(const RadosGateway&) = delete;

    [[nodiscard]] static RadosGateway& shared();

    [[nodiscard]] std::string endpoint() const;
    // Of the user that new_bucket() makes buckets for, and of one without any.
    [[nodiscard]] static s3::Keys keys();
    [[nodiscard]] static s3::Keys keys_of_stranger();

    // An empty bucket; its settings, with keys, endpoint and region.
    [[nodiscard]] s3::S3Settings new_bucket();
    // One that takes no more than so many bytes.
    [[nodiscard]] s3::S3Settings new_bucket(std::uint64_t quota_bytes);

    // radosgw stands still, and goes on.
    void pause() const;
    void resume() const;

private:
    void write_configuration(int monitor_port) const;
    void start(int monitor_port);
    void run(const std::vector<std::string>& words) const;
    [[nodiscard]] bool try_run(const std::vector<std::string>& words) const;
    [[nodiscard]] pid_t spawn(const std::vector<std::string>& words) const;
    void show_log() const;

    const std::string fsid_;
    std::string directory_;
    int port_ = 0;
    pid_t monitor_ = -1;
    pid_t disk_ = -1;
    pid_t gateway_ = -1;
    int buckets_ = 0;
};

}  // namespace baton::testing
