// Shared by the tests of decoders: all rows of a text that arrives in parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "engine/formats/decoder.h"

namespace baton::testing {

struct Decoding {
    Config format = {};
    Schema schema = {};
    std::vector<std::size_t> wanted = {};  // none: all
    std::size_t block_bytes = 0;
    std::size_t part = SIZE_MAX;  // bytes given at once
    bool none_wanted = false;
};

struct Decoded {
    std::vector<std::vector<Value>> rows = {};
    std::optional<Error> error = std::nullopt;
    std::uint64_t skipped = 0;
};

inline void feed(formats::Decoder& decoder, std::string_view bytes) {
    while (!bytes.empty()) {
        auto room = decoder.room();
        CHECK(room.has_value());
        const std::size_t count = std::min(room->size(), bytes.size());
        std::copy_n(bytes.begin(), count, room->begin());
        decoder.filled(count);
        bytes.remove_prefix(count);
    }
}

// Takes all batches there are; false after an error.
inline bool take(formats::Decoder& decoder, Decoded& into) {
    engine::Batch batch;
    while (true) {
        const auto some = decoder.next(batch);
        if (!some) into.error = some.error();
        if (!some || !*some) return some.has_value();
        CHECK(batch.rows > 0 && batch.rows <= engine::kBatchRows);
        for (std::size_t row = 0; row < batch.rows; ++row) {
            std::vector<Value> values;
            for (const engine::ColumnVector& column : batch.columns)
                values.push_back(engine::value_at(column, row));
            into.rows.push_back(std::move(values));
        }
    }
}

inline Decoded decode(const Decoding& how, std::string_view bytes) {
    formats::DecoderSetup setup{.format = how.format,
                                .schema = how.schema,
                                .wanted = how.wanted,
                                .block_bytes = how.block_bytes};
    for (std::size_t i = 0; how.wanted.empty() && i < how.schema.columns.size(); ++i) {
        if (!how.none_wanted) setup.wanted.push_back(i);
    }
    auto decoder = make_decoder(setup);
    CHECK(decoder.has_value());
    Decoded decoded;
    while (!bytes.empty()) {
        auto room = (*decoder)->room();
        CHECK(room.has_value());
        const std::size_t count = std::min({room->size(), bytes.size(), how.part});
        std::copy_n(bytes.begin(), count, room->begin());
        (*decoder)->filled(count);
        bytes.remove_prefix(count);
        if (!take(**decoder, decoded)) break;
    }
    if (!decoded.error) {
        CHECK((*decoder)->end().has_value());
        (void)take(**decoder, decoded);
    }
    decoded.skipped = (*decoder)->skipped();
    return decoded;
}

}  // namespace baton::testing
