// The table of the test that kills processes which look after tables.
#pragma once

#include "base/time.h"
#include "model/entities.h"

namespace baton {

inline constexpr int kClients = 3;
inline constexpr Duration kRoundLength = std::chrono::hours(3);

[[nodiscard]] inline Table kept_table() {
    return {.name = "T",
            .location = "t",
            .managed = true,
            .columns = {{.name = "n", .type = *table_type_of("BIGINT")}}};
}

}  // namespace baton
