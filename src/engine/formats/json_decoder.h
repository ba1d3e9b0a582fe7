// JsonDecoder reads a JSON object per record.
//
// Rules:
//   - A column is the field of its name; `a/b` is the field b of the object in field a, or a field
//     of that whole name. A name that is not there as it is written is looked for in any case of
//     its letters. Of a field that is there twice the last one counts. Fields that are no columns
//     are passed over.
//   - A field that is not there or null is NULL, a fault if the column is NOT NULL. The text of a
//     string or the word of a number or truth value is then read as cells.h says, as a quoted and a
//     plain field. Objects and arrays are no values.
//   - A record ends with TUPLE_DELIMITER, the last one also with the end of the bytes; an empty one
//     is none. It is UTF-8. Fields that are not wanted are only parsed as far as needed to skip
//     them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/blocks.h"
#include "engine/formats/decoder.h"
#include "engine/formats/records.h"

namespace baton::formats {

// Reads one object. Apart, so that only one file knows the library.
class JsonObjectReader;

class JsonDecoder final : public Decoder {
public:
    explicit JsonDecoder(const DecoderSetup& setup);
    ~JsonDecoder() override;

    Result<std::span<char>> room() override { return blocks_.room(); }
    void filled(std::size_t bytes) override { blocks_.filled(bytes); }
    void lost() override;
    Result<Done> end() override;
    Result<bool> next(engine::Batch& into) override;
    [[nodiscard]] std::uint64_t skipped() const override { return records_.skipped(); }

private:
    void split();
    void take(std::size_t begin, std::size_t end);
    [[nodiscard]] std::string place_of(std::size_t begin) const;

    std::string tuple_;
    Blocks blocks_;
    Records records_;
    std::unique_ptr<JsonObjectReader> reader_;
    std::vector<Cell> cells_;  // of one record

    std::size_t record_begin_ = 0;
    std::size_t scanned_ = 0;  // no delimiter begins before it
    std::uint64_t moves_ = 0;
    std::uint64_t lines_ = 0;                                     // that have ended
    std::vector<std::pair<std::size_t, std::uint64_t>> line_of_;  // by beginning, in this batch
    bool ended_ = false;
};

}  // namespace baton::formats
