// GrpcResultStreams fetch rows from workers: one call, on a connection of its own, for each query.
//
// At most one batch is ahead of who polls, beside what HTTP/2 has in flight.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "adapters/grpc/tls.h"
#include "base/result.h"
#include "ports/result_streams.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace baton {

class GrpcResultStreams final : public ResultStreams {
public:
    // Fails with unreadable_configuration where files of TLS cannot be read.
    [[nodiscard]] static Result<std::unique_ptr<GrpcResultStreams>> make(
        const std::optional<TlsFiles>& tls = std::nullopt);
    // After every stream; waits until their calls have ended.
    ~GrpcResultStreams() override;

    // Without an address the stream fails.
    std::unique_ptr<ResultStream> open(const std::string& worker,
                                       const std::optional<Address>& address,
                                       const std::string& token, const Schema& schema,
                                       Wake wake) override;

private:
    struct Open;  // how many calls have not ended
    class Call;
    class Stream;
    explicit GrpcResultStreams(std::shared_ptr<grpc::ChannelCredentials> credentials);

    const std::shared_ptr<grpc::ChannelCredentials> credentials_;
    const std::shared_ptr<Open> open_;
};

}  // namespace baton
