// The user whose process is at the other end of a connection within this machine.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace baton::system {

enum class PeerUser : std::uint8_t {
    same,     // as this process has, or root
    another,  // or its process is gone
    unknown,  // it comes from elsewhere, or the system does not tell
};

// `socket` is a connection of TCP that was accepted.
[[nodiscard]] PeerUser user_of_peer(int socket);

}  // namespace baton::system
