// Transport carries what a coordinator and its workers say to each other.
//
// Calls do not block. Their results go to the listener, from any thread, possibly before the call
// returns: it must not call back into the transport, nor block.
//   - A dial ends in Dialled or DialFailed, once; unless hang_up came first, then in anything or
//     nothing. Then come the stream's messages in their order, then at most one Broken.
//   - A message that is sent may be lost only together with its stream. (A simulated transport may
//     be worse than that.)
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/control.h"
#include "model/entities.h"
#include "model/transport_events.h"

namespace baton {

class Transport {
public:
    using Listener = std::function<void(transport::Event)>;

    virtual ~Transport() = default;

    // Before the first dial; an empty one ends it: no call is under way when it returns.
    virtual void listen(Listener listener) = 0;

    // `address` is absent for the embedded worker.
    virtual void dial(const std::string& worker, const std::optional<Address>& address,
                      transport::Attempt attempt, const control::Hello& hello) = 0;
    // Nothing happens if the stream is no longer there.
    virtual void send(const std::string& worker, transport::Attempt attempt,
                      const control::Down& message) = 0;
    virtual void hang_up(const std::string& worker, transport::Attempt attempt) = 0;
};

}  // namespace baton
