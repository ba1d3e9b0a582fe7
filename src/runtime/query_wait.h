// Waiting for what becomes of a query, as a part of the request that began it.
#pragma once

#include "base/result.h"
#include "catalog/requests.h"
#include "model/wait.h"
#include "runtime/coordinator_runtime.h"
#include "runtime/interrupt.h"

namespace baton {

// Waits until the query is as wanted. Fails with unknown_query if it is not there at the beginning
// (unless its end is waited for), and with wait_timed_out if time is over, if it can no longer come
// into that state, or if it is dropped meanwhile; the message says how it is and whom it waits for.
// Fails with cancelled when it is interrupted.
[[nodiscard]] Result<Done> wait_for(CoordinatorRuntime& coordinator, const request::QueryRef& query,
                                    const Wait& wait, Interrupt& interrupt);

}  // namespace baton
