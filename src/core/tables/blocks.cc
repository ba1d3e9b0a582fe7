#include "core/tables/blocks.h"

#include <algorithm>
#include <bit>

#include "core/tables/values.h"

namespace baton::tables {

namespace {

constexpr unsigned kSizeBits = 24;  // of a place: where in the text, and how many bytes
constexpr std::uint64_t kSizeMask = (1ULL << kSizeBits) - 1;
constexpr std::uint32_t kNullsMax = UINT32_MAX;

// Values of a partition are compared only where a text has one order for all engines.
Order order_in(const SqlType& type, bool partition) {
    const Order order = order_of(type);
    return partition && order != Order::whole ? Order::text : order;
}

}  // namespace

std::uint64_t hash_of(std::string_view key) {
    // FNV-1a, and a mixing of its bits: keys differ in few places.
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    hash ^= hash >> 33U;
    hash *= 0xFF51AFD7ED558CCDU;
    return hash ^ (hash >> 33U);
}

std::optional<std::size_t> Block::find(std::string_view key, std::uint64_t hash) const {
    for (std::size_t at = 0; at < hashes_.size(); ++at) {
        if (hashes_[at] == hash && this->key(at) == key) return at;
    }
    return std::nullopt;
}

std::string_view Block::key(std::size_t at) const {
    return std::string_view(text_).substr(rows_[at].text, rows_[at].key);
}

std::optional<std::uint64_t> Block::rows(std::size_t at) const {
    return rows_[at].rows == kUnknown ? std::nullopt : std::optional(rows_[at].rows);
}

WallTime Block::removed(std::size_t at) const {
    CHECK(!is_live(at));
    return rows_[at].removed;
}

std::string_view Block::text(std::uint64_t place) const {
    return std::string_view(text_).substr(place >> kSizeBits, place & kSizeMask);
}

std::uint64_t Block::keep(std::string_view text) {
    CHECK(text.size() <= kSizeMask && text_.size() <= UINT32_MAX);
    const std::uint64_t place = (std::uint64_t{text_.size()} << kSizeBits) | text.size();
    text_ += text;
    return place;
}

std::uint64_t Block::encode(const SqlType& type, bool partition, const std::string& text) {
    switch (order_in(type, partition)) {
        case Order::whole: {
            const auto value = whole_of(type, text);
            CHECK(value);
            return std::bit_cast<std::uint64_t>(*value);
        }
        case Order::floating: {
            const auto value = floating_of(type, text);
            CHECK(value);
            return std::bit_cast<std::uint64_t>(*value);
        }
        case Order::text:
        case Order::none:
            break;
    }
    return keep(text);
}

std::string Block::decode(const SqlType& type, bool partition, std::uint64_t value) const {
    switch (order_in(type, partition)) {
        case Order::whole:
            return whole_text(type, std::bit_cast<std::int64_t>(value));
        case Order::floating:
            return floating_text(type, std::bit_cast<double>(value));
        case Order::text:
        case Order::none:
            break;
    }
    return std::string(text(value));
}

void Block::pad(Numbers& numbers) const {
    numbers.known.resize(rows_.size());
    numbers.min.resize(rows_.size());
    numbers.max.resize(rows_.size());
    numbers.nulls.resize(rows_.size());
}

void Block::add_numbers(const TableObject& object, const Layout& layout) {
    for (std::size_t column = 0; column < layout.columns.size(); ++column) {
        const SqlField& field = layout.columns[column];
        Numbers& numbers = numbers_[column];
        if (const auto value = object.partition.find(field.name); value != object.partition.end()) {
            numbers.known.resize(rows_.size());
            numbers.min.resize(rows_.size());
            if (!value->second) continue;
            numbers.known.back() = Numbers::kMin;
            numbers.min.back() = encode(field.type, true, *value->second);
            continue;
        }
        const auto found = object.ranges.find(field.name);
        if (found == object.ranges.end()) {
            if (!numbers.known.empty()) pad(numbers);
            continue;
        }
        pad(numbers);
        const TableObject::Range& range = found->second;
        std::uint8_t known = 0;
        if (range.min) {
            known |= Numbers::kMin;
            numbers.min.back() = encode(field.type, false, *range.min);
        }
        if (range.max) {
            known |= Numbers::kMax;
            numbers.max.back() = encode(field.type, false, *range.max);
        }
        if (range.nulls && *range.nulls < kNullsMax) {
            known |= Numbers::kNulls;
            numbers.nulls.back() = static_cast<std::uint32_t>(*range.nulls);
        }
        numbers.known.back() = known;
    }
}

void Block::add(const AddObject& add, const Layout& layout) {
    const TableObject& object = add.object;
    CHECK(object.key.size() <= UINT16_MAX && object.checksum.size() <= UINT16_MAX);
    hashes_.push_back(hash_of(object.key));
    rows_.push_back({.text = static_cast<std::uint32_t>(text_.size()),
                     .key = static_cast<std::uint16_t>(object.key.size()),
                     .checksum = static_cast<std::uint16_t>(object.checksum.size()),
                     .tags = static_cast<std::uint32_t>(add.other_tags.size()),
                     .bytes = object.bytes,
                     .rows = object.rows.value_or(kUnknown),
                     .modified = object.modified});
    text_ += object.key;
    text_ += object.checksum;
    text_ += add.other_tags;
    CHECK(text_.size() <= UINT32_MAX);
    add_numbers(object, layout);
}

void Block::add_removed(const RemoveObject& remove) {
    add({.object = {.key = remove.key}}, Layout{});
    rows_.back().removed = remove.removed;
    for (Numbers& numbers : numbers_) {
        if (!numbers.max.empty()) {
            pad(numbers);
        } else if (!numbers.known.empty()) {
            numbers.known.resize(rows_.size());
            numbers.min.resize(rows_.size());
        }
    }
}

AddObject Block::object(std::size_t at, const Layout& layout) const {
    const Row& row = rows_[at];
    const std::string_view all(text_);
    AddObject add;
    TableObject& object = add.object;
    object.key = key(at);
    object.checksum = all.substr(row.text + row.key, row.checksum);
    add.other_tags = all.substr(row.text + row.key + row.checksum, row.tags);
    object.bytes = row.bytes;
    object.rows = rows(at);
    object.modified = row.modified;
    for (std::size_t column = 0; column < layout.columns.size(); ++column) {
        const SqlField& field = layout.columns[column];
        const Numbers& numbers = numbers_[column];
        const std::uint8_t known = at < numbers.known.size() ? numbers.known[at] : std::uint8_t{0};
        if (layout.is_partition(field.name)) {
            std::optional<std::string>& value = object.partition[field.name];
            if ((known & Numbers::kMin) != 0) value = decode(field.type, true, numbers.min[at]);
            continue;
        }
        if (known == 0) continue;
        TableObject::Range& range = object.ranges[field.name];
        if ((known & Numbers::kMin) != 0) range.min = decode(field.type, false, numbers.min[at]);
        if ((known & Numbers::kMax) != 0) range.max = decode(field.type, false, numbers.max[at]);
        if ((known & Numbers::kNulls) != 0) range.nulls = numbers.nulls[at];
    }
    return add;
}

void Block::copy(const Block& from, std::size_t at, const Layout& layout) {
    add(from.object(at, layout), layout);
    rows_.back().removed = from.rows_[at].removed;
}

void Block::shrink() {
    const auto is_loose = [](const auto& of) { return of.capacity() > of.size() + of.size() / 8; };
    if (is_loose(hashes_)) hashes_.shrink_to_fit();
    if (is_loose(rows_)) rows_.shrink_to_fit();
    if (is_loose(text_)) text_.shrink_to_fit();
    for (Numbers& numbers : numbers_) {
        numbers.known.shrink_to_fit();
        numbers.min.shrink_to_fit();
        numbers.max.shrink_to_fit();
        numbers.nulls.shrink_to_fit();
    }
}

std::size_t Block::memory() const {
    std::size_t bytes = hashes_.capacity() * sizeof(std::uint64_t) +
                        rows_.capacity() * sizeof(Row) + numbers_.capacity() * sizeof(Numbers) +
                        text_.capacity();
    for (const Numbers& numbers : numbers_) {
        bytes += numbers.known.capacity() + numbers.nulls.capacity() * sizeof(std::uint32_t) +
                 (numbers.min.capacity() + numbers.max.capacity()) * sizeof(std::uint64_t);
    }
    return bytes;
}

}  // namespace baton::tables
