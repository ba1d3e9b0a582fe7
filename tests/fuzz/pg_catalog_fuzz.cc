// Any text as a question about PostgreSQL's catalog: answer() answers, within its bounds, and a
// write to the catalog of Baton, which is in the same SQLite, succeeds after it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "doors/pg/catalog/pg_catalog.h"
#include "fuzz/canary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)baton::pg::answer({}, {reinterpret_cast<const char*>(data), size}, {});
    baton::fuzz::Canary::shared().write();
    return 0;
}
