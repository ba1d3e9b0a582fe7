// RequestIds names requests, so that an answer to a client and the lines of the log can be brought
// together: by the X-Request-Id that the client sent, if that is one, or by a name made up here.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "doors/http/message.h"

namespace baton::http {

inline constexpr std::string_view kRequestIdHeader = "X-Request-Id";

// 1 to 128 letters, digits and any of -_.:+/=@
[[nodiscard]] bool is_request_id(std::string_view text);

class RequestIds {
public:
    // The beginning of generated ids, which no other process should have.
    explicit RequestIds(std::string prefix) : prefix_(std::move(prefix)) {}

    [[nodiscard]] std::string id_for(const Request& request);

private:
    const std::string prefix_;
    std::atomic<std::uint64_t> last_{0};
};

}  // namespace baton::http
