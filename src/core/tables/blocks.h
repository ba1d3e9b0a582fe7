// Block holds some of a table's objects in little memory: keys and texts in one piece of bytes,
// statistics in columns of numbers. Blocks are shared by snapshots, so none changes once it is in
// one: a new snapshot copies those that differ.
//
// An object that was removed stays, with the time of its removal, until it is forgotten.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tables/actions.h"

namespace baton::tables {

[[nodiscard]] std::uint64_t hash_of(std::string_view key);

class Block {
public:
    // Numbers of a column: of its range, or of its partition, where `min` is the value.
    struct Numbers {
        static constexpr std::uint8_t kMin = 1;
        static constexpr std::uint8_t kMax = 2;
        static constexpr std::uint8_t kNulls = 4;
        std::vector<std::uint8_t> known;  // by object, or empty: nothing is known of any
        std::vector<std::uint64_t> min;   // a whole number, a double, or a text in the bytes
        std::vector<std::uint64_t> max;
        std::vector<std::uint32_t> nulls;
    };

    Block() = default;
    explicit Block(std::size_t columns) : numbers_(columns) {}

    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    [[nodiscard]] std::uint64_t hash(std::size_t at) const { return hashes_[at]; }
    [[nodiscard]] std::optional<std::size_t> find(std::string_view key, std::uint64_t hash) const;

    [[nodiscard]] std::string_view key(std::size_t at) const;
    [[nodiscard]] std::uint64_t bytes(std::size_t at) const { return rows_[at].bytes; }
    [[nodiscard]] std::optional<std::uint64_t> rows(std::size_t at) const;
    [[nodiscard]] WallTime modified(std::size_t at) const { return rows_[at].modified; }
    [[nodiscard]] bool is_live(std::size_t at) const { return rows_[at].removed == kLive; }
    [[nodiscard]] WallTime removed(std::size_t at) const;
    [[nodiscard]] AddObject object(std::size_t at, const Layout& layout) const;

    [[nodiscard]] const Numbers& numbers(std::size_t column) const { return numbers_[column]; }
    [[nodiscard]] std::string_view text(std::uint64_t place) const;

    void add(const AddObject& add, const Layout& layout);  // its key is not here
    void remove(std::size_t at, WallTime when) { rows_[at].removed = when; }
    // A removal of an object that was never here.
    void add_removed(const RemoveObject& remove);
    void copy(const Block& from, std::size_t at, const Layout& layout);
    void shrink();
    [[nodiscard]] std::size_t memory() const;  // bytes

private:
    static constexpr WallTime kLive = WallTime::max();
    static constexpr std::uint64_t kUnknown = UINT64_MAX;

    struct Row {
        std::uint32_t text = 0;  // key, checksum and tags, one behind the other
        std::uint16_t key = 0;   // their sizes
        std::uint16_t checksum = 0;
        std::uint32_t tags = 0;
        std::uint64_t bytes = 0;
        std::uint64_t rows = kUnknown;
        WallTime modified;
        WallTime removed = kLive;
    };

    std::uint64_t keep(std::string_view text);
    std::uint64_t encode(const SqlType& type, bool partition, const std::string& text);
    [[nodiscard]] std::string decode(const SqlType& type, bool partition,
                                     std::uint64_t value) const;
    void add_numbers(const TableObject& object, const Layout& layout);
    void pad(Numbers& numbers) const;

    std::vector<std::uint64_t> hashes_;
    std::vector<Row> rows_;
    std::vector<Numbers> numbers_;  // by column
    std::string text_;
};

}  // namespace baton::tables
