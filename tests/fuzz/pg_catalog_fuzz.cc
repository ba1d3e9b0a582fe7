// Any text as a question about PostgreSQL's catalog: answer() answers, within its bounds.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "adapters/pg_catalog/pg_catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)baton::pg::answer({}, {reinterpret_cast<const char*>(data), size}, {});
    return 0;
}
