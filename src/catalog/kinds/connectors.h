// What the kinds that read and write outside data share.
#pragma once

#include <string>

#include "catalog/kinds/encode.h"
#include "core/descriptors/descriptors.h"
#include "model/entities.h"

namespace baton {

// The options as they are shown: secrets are masked.
[[nodiscard]] inline std::string masked_json(DescriptorKind kind, const std::string& type,
                                             const Config& config) {
    const auto descriptor = descriptor_of(kind, type);
    return to_json(descriptor ? masked(**descriptor, config) : config);
}

// Equal for two sources of one type that read the same in the same way.
[[nodiscard]] std::string configuration_print(const PhysicalSource& source);

}  // namespace baton
