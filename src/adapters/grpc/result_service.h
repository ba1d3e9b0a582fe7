// ResultService lets coordinators fetch the rows that wait in the hub of this process.
//
// The next batch is taken when the one before it has been written, so that gRPC's own flow control
// holds a sink back. The worker learns from a cancelled call that its client no longer reads.
// gRPC's threads never wait.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/grpc/trust.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace baton::engine {
class ResultHub;
}  // namespace baton::engine

namespace baton::rpc {

class ResultService {
public:
    // `hub` outlives it; calls must name `worker`, in any case of letters. `log` is called for
    // refused callers, from any thread.
    ResultService(engine::ResultHub& hub, const std::string& worker,
                  std::shared_ptr<Trust> trust = user_trust(),
                  std::function<void(const std::string&)> log = {});
    ~ResultService();  // after the server that has its service
    ResultService(const ResultService&) = delete;
    ResultService& operator=(const ResultService&) = delete;

    [[nodiscard]] grpc::Service& service();

private:
    class Service;
    std::unique_ptr<Service> service_;
};

}  // namespace baton::rpc
