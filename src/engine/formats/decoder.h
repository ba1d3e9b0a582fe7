// A Decoder makes batches of bytes that arrive in parts.
//
// The caller puts bytes where room() says, reports how many, and takes batches until there are
// none: the bytes of a record whose end is missing are kept. The rows do not depend on where the
// parts end.
//
// A record that cannot be read is an error (cannot_format, which names the line or record, the
// field, and the fault), after the rows before it were given; or, if the format's ON_MALFORMED is
// SKIP, it is counted and left out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/columns/batch.h"
#include "model/config.h"
#include "model/schema.h"

namespace baton::formats {

class Decoder {
public:
    virtual ~Decoder() = default;

    // Where the next bytes go; never empty. Only after next() gave false.
    virtual Result<std::span<char>> room() = 0;
    virtual void filled(std::size_t bytes) = 0;
    // A record that was begun is dropped: the bytes that follow begin a new one.
    virtual void lost() = 0;
    // No more bytes follow: a record that was begun is the last one.
    virtual Result<Done> end() = 0;

    // Replaces `into` with at most kBatchRows rows, at least one. False: there are none until more
    // bytes come. An error is final.
    virtual Result<bool> next(engine::Batch& into) = 0;

    [[nodiscard]] virtual std::uint64_t skipped() const = 0;
};

struct DecoderSetup {
    Config format;                    // as its descriptor completed it; "TYPE" is CSV or JSON
    Schema schema;                    // of the records
    std::vector<std::size_t> wanted;  // columns of the batches, rising
    std::size_t block_bytes = 0;      // 0: the usual; small ones are for tests
};

// Fails with invalid_configuration if there is no decoder for the format.
[[nodiscard]] Result<std::unique_ptr<Decoder>> make_decoder(const DecoderSetup& setup);

}  // namespace baton::formats
