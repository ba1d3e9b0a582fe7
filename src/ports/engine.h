// Engine runs the fragments of one worker.
//
// Calls do not block. Their results go to the listener, from any thread, possibly before the call
// returns: it must not call back into the engine, nor block.
//   - prepare ends in Prepared or PrepareFailed, unless abort came first.
//   - A started fragment reports BeganToRun when data can flow, and then Ended or Broke by itself.
//   - drain and abort end in Halted, or in whatever end came before they could act. A fragment is
//     drained when its senders have ended: the rows that have arrived by then are all that it gets.
// After its end a fragment's key is unknown to the engine; orders for unknown keys do nothing,
// except abort, which is answered by Halted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/control.h"
#include "model/fragment_events.h"

namespace baton {

class Engine {
public:
    using Listener = std::function<void(fragments::Event)>;

    virtual ~Engine() = default;

    // Before the first order; an empty one ends it: no call is under way when it returns.
    virtual void listen(Listener listener) = 0;

    virtual void prepare(const FragmentKey& key, const std::string& plan) = 0;
    virtual void start(const FragmentKey& key) = 0;
    virtual void drain(const FragmentKey& key) = 0;
    virtual void abort(const FragmentKey& key) = 0;

    // The counts so far of the fragments that run.
    [[nodiscard]] virtual std::vector<control::FragmentCounts> counts() const = 0;
};

}  // namespace baton
