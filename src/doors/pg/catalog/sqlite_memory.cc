#include "doors/pg/catalog/sqlite_memory.h"

#include <limits>

#include <sqlite3.h>

namespace baton::pg {

namespace {

constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();

thread_local std::int64_t bytes_taken = 0;  // by this thread, less what it gave back
thread_local std::int64_t bytes_bound = kNoBound;

sqlite3_mem_methods own_methods;  // SQLite's own

bool has_room(std::int64_t bytes) {
    return bytes <= bytes_bound - bytes_taken;
}

void* counted_malloc(int bytes) {
    if (bytes_bound != kNoBound && !has_room(bytes)) return nullptr;
    void* const block = own_methods.xMalloc(bytes);
    if (block != nullptr) bytes_taken += own_methods.xSize(block);
    return block;
}

void counted_free(void* block) {
    if (block != nullptr) bytes_taken -= own_methods.xSize(block);
    own_methods.xFree(block);
}

void* counted_realloc(void* block, int bytes) {
    const int before = own_methods.xSize(block);
    if (bytes_bound != kNoBound && !has_room(bytes - before)) return nullptr;
    void* const moved = own_methods.xRealloc(block, bytes);
    if (moved != nullptr) bytes_taken += own_methods.xSize(moved) - before;
    return moved;
}

// Before anything uses SQLite, which then takes no other allocator. False: it was used, and nothing
// is bounded here but by the processor's time.
bool count_allocations() {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &own_methods) != SQLITE_OK) return false;
    sqlite3_mem_methods counted = own_methods;
    counted.xMalloc = counted_malloc;
    counted.xFree = counted_free;
    counted.xRealloc = counted_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted) == SQLITE_OK;
}

[[maybe_unused]] const bool kCounts = count_allocations();

}  // namespace

MemoryBound::MemoryBound(std::int64_t bytes) {
    bytes_bound = bytes_taken + bytes;
}

MemoryBound::~MemoryBound() {
    bytes_bound = kNoBound;
}

}  // namespace baton::pg
