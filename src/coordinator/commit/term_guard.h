// TermGuard stands between a term and its actions: each guarded action asks first whether this
// process may still act, with the time read just then. A term that is over does nothing more, even
// before it was ended.
#pragma once

#include <functional>

#include "base/id.h"

namespace baton::coordinator {

struct TermGuard {
    // None: this process leads for ever. From any thread; must not wait.
    std::function<bool()> may_act;
    // A worker has obeyed an epoch above that of the term. From any thread; must not wait.
    std::function<void(Epoch)> heard_of;
};

}  // namespace baton::coordinator
