// A WordTable numbers different tuples of 64-bit words in the order in which they came.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/operators/hashing.h"

namespace baton::engine {

class WordTable {
public:
    explicit WordTable(std::size_t words) : words_(words) {}

    // Of tuples of one word.
    [[nodiscard]] std::uint32_t number_of(std::uint64_t word) {
        if (word < small_.size() && small_[word] != kNone) return small_[word];
        const std::uint32_t number = looked_up(word);
        if (word < kSmallMost && size_ >= kSmallFrom) remember(word, number);
        return number;
    }
    [[nodiscard]] std::uint32_t number_of(const std::uint64_t* tuple) {
        const std::uint64_t hash = hash_of_tuple(tuple);
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.number == kNone) return add(tuple, at, hash);
            if (slot.tag == hash && std::equal(tuple, tuple + words_, this->tuple(slot.number))) {
                return slot.number;
            }
        }
    }
    // Of one more that is equal to none.
    [[nodiscard]] std::uint32_t number_of_null() {
        if (null_ == kNone) {
            null_ = static_cast<std::uint32_t>(size_);
            tuples_.resize(tuples_.size() + words_);
            size_ += 1;
        }
        return null_;
    }
    [[nodiscard]] bool is_null(std::size_t number) const { return number == null_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const std::uint64_t* tuple(std::size_t number) const {
        return tuples_.data() + number * words_;
    }
    [[nodiscard]] std::size_t memory() const {
        return slots_.size() * sizeof(Slot) + tuples_.size() * sizeof(std::uint64_t) +
               small_.size() * sizeof(std::uint32_t);
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    // Small words of tables that are not small are found without a hash.
    static constexpr std::uint64_t kSmallMost = 65536;
    static constexpr std::size_t kSmallFrom = 64;
    struct Slot {
        std::uint64_t tag = 0;  // the word itself, or the hash of a longer tuple
        std::uint32_t number = kNone;
    };

    [[nodiscard]] std::uint32_t looked_up(std::uint64_t word) {
        for (std::size_t at = hash_of(word) & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.number == kNone) return add(&word, at, word);
            if (slot.tag == word) return slot.number;
        }
    }
    void remember(std::uint64_t word, std::uint32_t number) {
        if (word >= small_.size()) small_.resize(std::bit_ceil(word + 1), kNone);
        small_[word] = number;
    }
    [[nodiscard]] std::uint64_t hash_of_tuple(const std::uint64_t* tuple) const {
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < words_; ++i) hash = hash_of(tuple[i] ^ hash);
        return hash;
    }
    std::uint32_t add(const std::uint64_t* tuple, std::size_t at, std::uint64_t tag) {
        const auto number = static_cast<std::uint32_t>(size_);
        tuples_.insert(tuples_.end(), tuple, tuple + words_);
        slots_[at] = {.tag = tag, .number = number};
        size_ += 1;
        if (size_ * 2 > slots_.size()) grow();
        return number;
    }
    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.number == kNone) continue;
            std::size_t at = (words_ == 1 ? hash_of(slot.tag) : slot.tag) & mask_;
            while (slots_[at].number != kNone) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }

    std::size_t words_;
    std::vector<Slot> slots_ = std::vector<Slot>(16);
    std::size_t mask_ = 15;
    std::vector<std::uint64_t> tuples_;
    std::vector<std::uint32_t> small_;  // numbers of small words; none: not known here
    std::size_t size_ = 0;
    std::uint32_t null_ = kNone;
};

}  // namespace baton::engine
