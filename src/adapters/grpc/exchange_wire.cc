#include "adapters/grpc/exchange_wire.h"

#include <string_view>

namespace baton {

std::uint64_t fingerprint(const Schema& schema) {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    const auto add = [&](std::string_view text) {
        for (const char c : text) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        }
        hash *= 0x100000001b3U;  // as after a zero byte: where a name ends matters
    };
    for (const Column& column : schema.columns) {
        add(column.name);
        add(to_string(column.type));
    }
    return hash;
}

}  // namespace baton
