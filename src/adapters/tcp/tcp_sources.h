// TcpSources connects to servers that send rows.
//
// The server's orderly close is the end. A connection that is reset or times out is made again,
// after 0.1 s at first and 5 s at most, until it is interrupted; so is one that is refused after
// the first. The first one has to succeed within its timeout.
#pragma once

#include "adapters/targets/allowed_targets.h"
#include "ports/byte_doors.h"

namespace baton::tcp {

class TcpSources final : public TcpDoor {
public:
    // The targets outlive it.
    explicit TcpSources(const targets::AllowedTargets& targets) : targets_(targets) {}

    // Looks the host up, once, which may wait for a name server.
    Result<std::unique_ptr<ByteSource>> connect(const TcpServer& server) override;

private:
    const targets::AllowedTargets& targets_;
};

}  // namespace baton::tcp
