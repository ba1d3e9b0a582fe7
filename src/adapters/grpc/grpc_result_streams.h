// GrpcResultStreams fetch rows from workers: one call, on a connection of its own, for each query.
//
// At most one batch is ahead of the reader, beside the bytes that HTTP/2 has in flight.
#pragma once

#include <memory>
#include <string>

#include "adapters/grpc/trust.h"
#include "base/result.h"
#include "ports/result_streams.h"

namespace baton::rpc {

class GrpcResultStreams final : public ResultStreams {
public:
    explicit GrpcResultStreams(std::shared_ptr<Trust> trust = user_trust());
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

    const std::shared_ptr<Trust> trust_;
    const std::shared_ptr<Open> open_;
};

}  // namespace baton::rpc
