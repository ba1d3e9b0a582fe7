// Texts made from the options of a connector, for the kinds that have one: physical sources and
// sinks.
#pragma once

#include <string>

#include "catalog/kinds/encode.h"
#include "core/descriptors/descriptors.h"
#include "model/entities.h"

namespace baton::kinds {

// The options as JSON for views: secrets are masked.
[[nodiscard]] inline std::string masked_json(descriptors::DescriptorKind kind,
                                             const std::string& type, const Config& config) {
    const auto descriptor = descriptors::descriptor_of(kind, type);
    return to_json(descriptor ? descriptors::masked(**descriptor, config) : config);
}

// A text that is equal for two sources of one type that read the same data in the same way.
[[nodiscard]] std::string configuration_print(const PhysicalSource& source);

}  // namespace baton::kinds
