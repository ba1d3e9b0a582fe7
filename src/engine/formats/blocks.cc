#include "engine/formats/blocks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace baton::formats {

namespace {

constexpr std::size_t kEarlierMax = 8;

}  // namespace

Blocks::Blocks(std::size_t bytes) : bytes_(bytes), capacity_(bytes), block_(block_of(bytes)) {
    CHECK(bytes > 0);
}

Result<std::span<char>> Blocks::room() {
    if (end_ == capacity_) {
        if (end_ - begin_ >= kRecordBytesMax) {
            return Error{
                .code = ErrorCode::cannot_format,
                .message = "a record has more than " + std::to_string(kRecordBytesMax) + " bytes",
                .hint =
                    "see whether the delimiter between rows is right, and whether a "
                    "quote is not closed"};
        }
        move_on();
    }
    return std::span<char>(block_.get() + end_, capacity_ - end_);
}

void Blocks::filled(std::size_t bytes) {
    CHECK(bytes <= capacity_ - end_);
    end_ += bytes;
}

Result<Done> Blocks::append(std::string_view bytes) {
    while (!bytes.empty()) {
        TRY_ASSIGN(free, room());
        const std::size_t count = std::min(free.size(), bytes.size());
        std::memcpy(free.data(), bytes.data(), count);
        filled(count);
        bytes.remove_prefix(count);
    }
    return Done{};
}

void Blocks::decoded_to(std::size_t offset) {
    CHECK(begin_ <= offset && offset <= end_);
    begin_ = offset;
}

void Blocks::move_on() {
    const std::size_t left = end_ - begin_;
    // A record that fills more than half of the block would have to move again soon.
    const std::size_t capacity = left > capacity_ / 2 ? 2 * capacity_ : bytes_;
    const std::size_t fits = std::max(capacity, bytes_);
    Block next = block_of(std::max(fits, left + 1));
    std::memcpy(next.get(), block_.get() + begin_, left);
    if (capacity_ == bytes_ && earlier_.size() < kEarlierMax) earlier_.push_back(std::move(block_));
    block_ = std::move(next);
    capacity_ = std::max(fits, left + 1);
    begin_ = 0;
    end_ = left;
    moves_ += 1;
}

Blocks::Block Blocks::block_of(std::size_t bytes) {
    if (bytes == bytes_) {
        const auto unused = std::find_if(earlier_.begin(), earlier_.end(),
                                         [](const Block& b) { return b.use_count() == 1; });
        if (unused != earlier_.end()) {
            Block block = std::move(*unused);
            earlier_.erase(unused);
            // use_count() reads without order. Holding it once more and letting go, as its holders
            // did, comes after what they did before.
            { const Block again = block; }
            return block;
        }
    }
    auto block = std::make_shared_for_overwrite<char[]>(bytes + kSlack);
    std::memset(block.get() + bytes, 0, kSlack);
    return block;
}

}  // namespace baton::formats
