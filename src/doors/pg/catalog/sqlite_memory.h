// A bound on the memory that SQLite may take for one question. Internal to pg_catalog.
//
// SQLite counts what it allocates for the whole process. Here each allocation is counted for the
// thread that makes it, by a layer over SQLite's allocator that is put there before main(): a
// question is answered by one thread, from its first allocation to its last.
#pragma once

#include <cstdint>

namespace baton::pg {

// While it lives, this thread's allocations by SQLite fail beyond `bytes`, as if there were no more
// memory. One at a time on a thread.
class MemoryBound {
public:
    explicit MemoryBound(std::int64_t bytes);
    ~MemoryBound();
    MemoryBound(const MemoryBound&) = delete;
    MemoryBound& operator=(const MemoryBound&) = delete;
};

}  // namespace baton::pg
