// The object stores that URLs name, as this program opens them.
#pragma once

#include <memory>
#include <optional>

#include "ports/clock.h"
#include "stores/url_stores.h"
#include "worker/node/permits.h"

namespace baton::app {

// The clock outlives it. With permits, only places that they allow are opened: the check is made
// once, when a store is opened. Fails with invalid_configuration for permits that cannot be.
[[nodiscard]] Result<std::unique_ptr<stores::UrlStores>> make_object_stores(
    const Clock& clock, const std::optional<worker::Permits>& permits);
[[nodiscard]] std::unique_ptr<stores::UrlStores> make_object_stores(const Clock& clock);

// Unlike that of any other process, for stamps of writes and names of probes.
[[nodiscard]] std::uint64_t random_seed();

}  // namespace baton::app
