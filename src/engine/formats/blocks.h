// Blocks holds bytes that arrive in parts until they were decoded.
//
// Bytes are put into a block where the last ones end; the bytes not yet decoded are [begin(),
// end()). When a block is full, they move to the start of the next one: only the record that was
// begun is ever copied. Text of decoded rows points into the block, which lives for as long as a
// column holds it. A block that is no longer held is used again.
//
// Rules:
//   - A byte that was decoded never changes and never moves.
//   - kSlack bytes past end() are readable.
//   - A record may have up to kRecordBytesMax bytes; a block grows to hold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/columns/batch.h"

namespace baton::formats {

class Blocks {
public:
    static constexpr std::size_t kBytes = std::size_t{256} << 10U;
    static constexpr std::size_t kSlack = 64;
    static constexpr std::size_t kRecordBytesMax = std::size_t{64} << 20U;

    // `bytes` is the size of a block; small ones are for tests.
    explicit Blocks(std::size_t bytes = kBytes);

    // Where the next bytes go; never empty. Bytes not yet decoded may move. Fails with
    // cannot_format if it is a record of more than kRecordBytesMax bytes.
    [[nodiscard]] Result<std::span<char>> room();
    void filled(std::size_t bytes);
    // As if these bytes had been read.
    [[nodiscard]] Result<Done> append(std::string_view bytes);

    [[nodiscard]] char* data() { return block_.get(); }
    [[nodiscard]] std::size_t begin() const { return begin_; }
    [[nodiscard]] std::size_t end() const { return end_; }
    void decoded_to(std::size_t offset);

    // Counts the moves: an offset is of use only as long as it is the same.
    [[nodiscard]] std::uint64_t moves() const { return moves_; }
    // Keeps the bytes of the present block.
    [[nodiscard]] engine::Holder holder() const { return block_; }

private:
    using Block = std::shared_ptr<char[]>;

    void move_on();
    Block block_of(std::size_t bytes);

    std::size_t bytes_;
    std::size_t capacity_ = 0;    // of block_, without the slack
    std::vector<Block> earlier_;  // of the plain size, perhaps still held by columns
    Block block_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t moves_ = 0;
};

}  // namespace baton::formats
