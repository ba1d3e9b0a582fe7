// Bytes from and to the outside, for sources and sinks: files, sockets, brokers. Their meaning is
// the engine's business.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace baton {

struct BytesRead {
    enum class What : std::uint8_t { bytes, nothing, end };
    What what = What::nothing;
    std::size_t count = 0;  // of bytes
    // The connection was lost and made again since the last read: a record that was begun is not
    // continued.
    bool reconnected = false;
};

class ByteSource {
public:
    virtual ~ByteSource() = default;

    // Waits for bytes, but no longer than `patience`; gives what is there. One thread.
    virtual Result<BytesRead> read(std::span<char> into, Duration patience) = 0;
    // From any thread: a read that waits returns, and none waits from now on.
    virtual void interrupt() = 0;
};

class ByteSink {
public:
    virtual ~ByteSink() = default;

    // All of it, or an error, which is final. One thread at a time.
    virtual Result<Done> write(std::string_view bytes) = 0;
    virtual Result<Done> flush() = 0;   // others can see it
    virtual Result<Done> finish() = 0;  // complete and durable; the last call
    // From any thread: a call that waits fails with cancelled.
    virtual void interrupt() = 0;
};

}  // namespace baton
