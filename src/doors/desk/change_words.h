// The kinds of changes as clients read them.
#pragma once

#include <string_view>

#include "base/check.h"
#include "catalog/change.h"

namespace baton::desk {

[[nodiscard]] inline std::string_view word_of(ChangeOp op) {
    switch (op) {
        case ChangeOp::create:
            return "create";
        case ChangeOp::update:
            return "update";
        case ChangeOp::drop:
            return "drop";
    }
    CHECK(false && "an unknown change");
}

}  // namespace baton::desk
