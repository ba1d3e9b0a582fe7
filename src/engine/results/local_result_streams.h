// LocalResultStreams read from the hub of this process, for its embedded worker. Those with an
// address go to other streams, if there are any.
#pragma once

#include "engine/results/result_hub.h"
#include "ports/result_streams.h"

namespace baton::engine {

class LocalResultStreams final : public ResultStreams {
public:
    // Both outlive it. No remote ones: only the embedded worker can be reached.
    explicit LocalResultStreams(ResultHub& hub, ResultStreams* remote = nullptr)
        : hub_(hub), remote_(remote) {}

    std::unique_ptr<ResultStream> open(const std::string& worker,
                                       const std::optional<Address>& address,
                                       const std::string& token, const Schema& schema,
                                       Wake wake) override;

private:
    ResultHub& hub_;
    ResultStreams* const remote_;
};

}  // namespace baton::engine
