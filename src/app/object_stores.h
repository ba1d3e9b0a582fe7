// The object stores that URLs name, as this program opens them.
#pragma once

#include <memory>

#include "ports/clock.h"
#include "stores/url_stores.h"

namespace baton::app {

// The clock outlives it.
[[nodiscard]] std::unique_ptr<stores::UrlStores> make_object_stores(const Clock& clock);

// Unlike that of any other process, for stamps of writes and names of probes.
[[nodiscard]] std::uint64_t random_seed();

}  // namespace baton::app
