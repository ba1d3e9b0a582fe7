// A TextTable numbers different texts in the order in which they came; NULL is one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/columns/batch.h"
#include "engine/operators/hashing.h"

namespace baton::engine {

// Bytes that stay where they are.
class TextArena {
public:
    [[nodiscard]] std::string_view keep(std::string_view text) {
        if (text.size() > left_) {
            constexpr std::size_t kPiece = std::size_t{16} << 10U;
            left_ = std::max(text.size(), pieces_.empty() ? kPiece / 16 : kPiece);
            pieces_.emplace_back(new char[left_]);
            next_ = pieces_.back().get();
            held_ += left_;
        }
        if (text.empty()) return {};
        std::memcpy(next_, text.data(), text.size());
        const std::string_view kept(next_, text.size());
        next_ += text.size();
        left_ -= text.size();
        return kept;
    }
    [[nodiscard]] std::size_t memory() const { return held_; }

private:
    std::vector<std::unique_ptr<char[]>> pieces_;
    char* next_ = nullptr;
    std::size_t left_ = 0;
    std::size_t held_ = 0;
};

class TextTable {
public:
    [[nodiscard]] std::uint32_t number_of(std::string_view text) {
        const std::uint64_t hash = hash_of(text);
        const auto tag = static_cast<std::uint32_t>(hash >> 32U);
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.number == kNone) return add(text, at, tag);
            if (slot.tag == tag && texts_[slot.number] == text) return slot.number;
        }
    }
    [[nodiscard]] std::uint32_t number_of_null() {
        if (null_ == kNone) {
            null_ = static_cast<std::uint32_t>(texts_.size());
            texts_.emplace_back();
        }
        return null_;
    }
    [[nodiscard]] std::size_t size() const { return texts_.size(); }
    [[nodiscard]] std::string_view text(std::uint32_t number) const { return texts_[number]; }
    [[nodiscard]] bool is_null(std::uint32_t number) const { return number == null_; }
    // Keeps the bytes of the texts alive.
    [[nodiscard]] Holder holder() const { return arena_; }
    [[nodiscard]] std::size_t memory() const {
        return slots_.size() * sizeof(Slot) + texts_.size() * sizeof(std::string_view) +
               arena_->memory();
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t number = kNone;
    };

    std::uint32_t add(std::string_view text, std::size_t at, std::uint32_t tag) {
        const auto number = static_cast<std::uint32_t>(texts_.size());
        texts_.push_back(arena_->keep(text));
        slots_[at] = {.tag = tag, .number = number};
        if (texts_.size() * 2 > slots_.size()) grow();
        return number;
    }
    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.number == kNone) continue;
            std::size_t at = hash_of(texts_[slot.number]) & mask_;
            while (slots_[at].number != kNone) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(16);
    std::size_t mask_ = 15;
    std::vector<std::string_view> texts_;
    std::shared_ptr<TextArena> arena_ = std::make_shared<TextArena>();
    std::uint32_t null_ = kNone;
};

}  // namespace baton::engine
