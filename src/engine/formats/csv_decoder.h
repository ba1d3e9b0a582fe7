// CsvDecoder reads rows of delimited fields.
//
// Rules:
//   - A record ends with TUPLE_DELIMITER, the last one also with the end of the bytes; a carriage
//     return before a line feed does not count. It has exactly the fields of the schema. An empty
//     line is no record, unless the schema has one column only.
//   - A field that begins with a double quote ends with one, and two of them inside stand for one;
//     delimiters within it are text. A quote elsewhere in a field is text. Where
//     ALLOW_COMMAS_IN_STRINGS is false a delimiter always counts, and quotes are only taken off
//     around a field. A delimiter that has a quote in it turns quotes into text.
//   - With HEADER the first record is passed over.
//   - All bytes are UTF-8, also those of fields that are not wanted.
//
// How: the positions of delimiters and quotes are found with vectors, for all bytes of a block. A
// record without quotes is then so many positions of the right kind; any other is read one position
// after the other, and can be continued when its end has not come yet. Fields become columns one
// column after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/formats/blocks.h"
#include "engine/formats/decoder.h"
#include "engine/formats/records.h"

namespace baton::formats {

class CsvDecoder final : public Decoder {
public:
    explicit CsvDecoder(const DecoderSetup& setup);

    Result<std::span<char>> room() override { return blocks_.room(); }
    void filled(std::size_t bytes) override { blocks_.filled(bytes); }
    void lost() override;
    Result<Done> end() override;
    Result<bool> next(engine::Batch& into) override;
    [[nodiscard]] std::uint64_t skipped() const override { return records_.skipped(); }

private:
    enum class Mark : std::uint8_t { quote, field, tuple };

    // The record that is being read one position after the other.
    struct Open {
        bool active = false;
        bool in_quotes = false;
        bool has_closed = false;    // the present field was quoted
        bool has_doubled = false;   // and has two quotes for one in it
        std::size_t closed_at = 0;  // the quote that closed it
        std::size_t field_begin = 0;
        std::size_t fields = 0;            // that have ended
        std::uint64_t lines = 0;           // that have ended in it
        std::vector<Cell> cells;           // of them, as many as the schema has
        std::vector<std::size_t> doubled;  // fields with quotes to be undone
        std::string fault;
    };

    void find_marks();
    void find_long_marks(std::size_t limit);
    [[nodiscard]] Mark mark_at(std::size_t offset);
    void split();
    void take_regular();
    bool take_irregular();
    bool pass_quote(std::size_t at);
    void end_field(std::size_t at, bool last);
    void end_record(std::size_t next);
    void undo_doubled(Cell& cell);
    Result<bool> look_for_the_end();
    void close_last();
    void check_text();
    [[nodiscard]] std::string place_of(std::size_t begin);

    std::string field_;
    std::string tuple_;
    bool quotes_hide_;      // delimiters within quotes are text
    bool quotes_come_off_;  // around a field, though delimiters within them count
    bool single_;           // both delimiters are one byte
    bool skip_header_;
    std::size_t columns_;

    Blocks blocks_;
    Records records_;

    std::unique_ptr<std::uint32_t[]> marks_;  // offsets in the block
    std::size_t marks_room_ = 0;
    std::size_t marks_count_ = 0;
    std::size_t cursor_ = 0;        // the next mark to look at
    std::size_t scanned_ = 0;       // how far marks were found
    std::size_t record_begin_ = 0;  // of the record at the cursor
    std::uint64_t moves_ = 0;       // of the blocks, when the offsets were taken
    Open open_;

    std::size_t batch_begin_ = 0;
    std::uint64_t lines_ = 0;        // ended before batch_begin_
    std::uint64_t lines_taken_ = 0;  // ended since
    bool ended_ = false;
    bool closed_ = false;  // the last record was given the delimiter it lacked
};

}  // namespace baton::formats
