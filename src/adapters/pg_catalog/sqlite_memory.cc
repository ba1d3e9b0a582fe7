#include "adapters/pg_catalog/sqlite_memory.h"

#include <limits>

#include <sqlite3.h>

namespace baton::pg {

namespace {

constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();

thread_local std::int64_t taken = 0;  // by this thread, less what it gave back
thread_local std::int64_t bound = kNoBound;

sqlite3_mem_methods plain;  // SQLite's own

bool has_room(std::int64_t bytes) {
    return bytes <= bound - taken;
}

void* counted_malloc(int bytes) {
    if (bound != kNoBound && !has_room(bytes)) return nullptr;
    void* const block = plain.xMalloc(bytes);
    if (block != nullptr) taken += plain.xSize(block);
    return block;
}

void counted_free(void* block) {
    if (block != nullptr) taken -= plain.xSize(block);
    plain.xFree(block);
}

void* counted_realloc(void* block, int bytes) {
    const int before = plain.xSize(block);
    if (bound != kNoBound && !has_room(bytes - before)) return nullptr;
    void* const moved = plain.xRealloc(block, bytes);
    if (moved != nullptr) taken += plain.xSize(moved) - before;
    return moved;
}

// Before anything uses SQLite, which then takes no other allocator. False: it was used, and nothing
// is bounded here but by the processor's time.
bool count_allocations() {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK) return false;
    sqlite3_mem_methods counted = plain;
    counted.xMalloc = counted_malloc;
    counted.xFree = counted_free;
    counted.xRealloc = counted_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted) == SQLITE_OK;
}

[[maybe_unused]] const bool kCounts = count_allocations();

}  // namespace

MemoryBound::MemoryBound(std::int64_t bytes) {
    bound = taken + bytes;
}

MemoryBound::~MemoryBound() {
    bound = kNoBound;
}

}  // namespace baton::pg
