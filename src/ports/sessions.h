// Sessions are the worker's end of control connections: coordinators that call, and the messages in
// both directions. The other end is transport.h.
//
// Calls do not block. Events go to the listener, from any thread, possibly before a call returns:
// it must not call back into the sessions, nor block.
//   - A session begins with Greeted, has a number that no other has and that grows, then come its
//     messages in their order, then one HungUp.
//   - It is answered by welcome, once, before anything else is sent. A refusal ends it.
#pragma once

#include <functional>

#include "model/control.h"
#include "model/control_sessions.h"

namespace baton {

class Sessions {
public:
    using Listener = std::function<void(sessions::Event)>;

    virtual ~Sessions() = default;

    // An empty one ends it: no call is under way when it returns. A greeting without a listener is
    // refused.
    virtual void listen(Listener listener) = 0;

    // Nothing happens if the session is no longer there.
    virtual void welcome(sessions::Session session, const sessions::GreetingAnswer& answer) = 0;
    virtual void send(sessions::Session session, const control::Up& message) = 0;
    virtual void hang_up(sessions::Session session) = 0;
};

}  // namespace baton
