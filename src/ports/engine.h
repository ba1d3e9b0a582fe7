// Engine runs the fragments of one worker.
//
// Calls do not block. Their results go to the listener, from any thread, possibly before the call
// returns: it must not call back into the engine, nor block.
//   - prepare ends in Prepared or PrepareFailed, unless abort came first.
//   - A started fragment reports Ran when data can flow, and then Ended or Broke by itself.
//   - drain and abort end in Halted, or in whatever end came before they could act. A fragment is
//     drained when its senders have ended: the rows that have arrived by then are all that it gets.
// After its end a fragment's key is unknown to the engine; orders for unknown keys do nothing,
// except abort, which is answered by Halted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "model/control.h"

namespace baton {

namespace engine {

struct Prepared {};
struct PrepareFailed {
    control::Fault fault = control::Fault::transient;
    std::string why;
    std::uint32_t error = 0;  // its number; 0: it has none
};
struct Ran {};
struct Ended {};   // by itself: everything flushed, sinks complete
struct Halted {};  // as it was asked to
struct Broke {
    control::Fault fault = control::Fault::transient;
    std::string why;
    std::uint32_t error = 0;  // its number; 0: it has none
};

struct Report {
    FragmentKey key;
    std::variant<Prepared, PrepareFailed, Ran, Ended, Halted, Broke> what;
    Counts counts;  // of Ended, Halted and Broke: all that it counted
};

}  // namespace engine

class Engine {
public:
    using Listener = std::function<void(engine::Report)>;

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
