// Sockets that listen for connections.
#pragma once

#include <cstdint>
#include <vector>

#include "adapters/system/open_file.h"
#include "base/result.h"
#include "model/entities.h"

namespace baton::system {

struct ListeningSockets {
    std::vector<OpenFile> sockets;  // they do not wait
    std::uint16_t port = 0;
};

// At every address that the host has: "localhost" has two where there is IPv6. Port 0 is any that
// is free. Fails with invalid_configuration where an address cannot be had.
[[nodiscard]] Result<ListeningSockets> listen_at(const Address& address);

}  // namespace baton::system
