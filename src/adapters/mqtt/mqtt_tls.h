// MqttTls is the TLS of a client: trusted issuers, its own certificate, and the name that the
// broker has to prove. The library is given an address, so the name is kept here.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "ports/byte_doors.h"

struct ssl_ctx_st;

namespace baton::mqtt {

class MqttTls {
public:
    // Fails with invalid_configuration for texts that are no PEM, or a key of another certificate.
    [[nodiscard]] static Result<std::unique_ptr<MqttTls>> make(const MqttBroker& broker,
                                                               const std::string& host);
    ~MqttTls();
    MqttTls(const MqttTls&) = delete;
    MqttTls& operator=(const MqttTls&) = delete;

    [[nodiscard]] ssl_ctx_st* context() const { return context_; }
    // Why the broker's certificate was refused last; empty if it was not.
    [[nodiscard]] std::string refusal() const;

private:
    MqttTls() = default;
    struct Callbacks;

    ssl_ctx_st* context_ = nullptr;
    std::string name_;
    bool is_address_ = false;
    mutable std::mutex mutex_;
    std::string refusal_;
};

}  // namespace baton::mqtt
