// MqttBytes subscribes to and publishes at brokers, with libmosquitto.
//
// A source gives whole messages, each ended by its delimiter. Unread bytes are bounded: beyond the
// bound no message is confirmed, and the broker holds them if the quality of service is 1 or 2. A
// sink publishes a message per write and waits while too many are not confirmed.
#pragma once

#include "adapters/targets/allowed_targets.h"
#include "ports/byte_doors.h"

namespace baton::mqtt {

class MqttBytes final : public MqttDoor {
public:
    // The targets outlive it.
    explicit MqttBytes(const targets::AllowedTargets& targets) : targets_(targets) {}

    // Both look the broker up, once, and take the first of its addresses that accepts a connection.
    // They wait until it has answered, 10 s at most: cannot_connect.
    Result<std::unique_ptr<ByteSource>> subscribe(const MqttSubscription& subscription) override;
    Result<std::unique_ptr<ByteSink>> publish(const MqttPublication& publication) override;

private:
    const targets::AllowedTargets& targets_;
};

}  // namespace baton::mqtt
