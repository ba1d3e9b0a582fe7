// What a victim and the test that watches it have in common.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "catalog/requests.h"
#include "catalog/write_transaction.h"

namespace baton::testing {

inline constexpr Duration kVictimTtl = std::chrono::seconds(1);

// A change of the catalog, not committed.
inline Result<Done> make_source(catalog::WriteTransaction& transaction, const std::string& name) {
    TRY(transaction.begin_bundle(WallTime()));
    TRY(transaction.apply(catalog::request::CreateLogicalSource{
        .name = name, .schema = {.columns = {{.name = "X", .type = DataType::int64}}}}));
    TRY(transaction.keep_bundle());
    return Done{};
}

}  // namespace baton::testing
