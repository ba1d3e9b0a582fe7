// A Config is the options of a source, sink, format or query, by key. Keys are in upper case.
//
// The descriptor of the type (core/descriptors/descriptors.h) lists the keys, and marks those that
// are secrets; a Config in the catalog has passed it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace baton {

using ConfigValue = std::variant<bool, std::int64_t, double, std::string>;
using Config = std::map<std::string, ConfigValue>;

}  // namespace baton
