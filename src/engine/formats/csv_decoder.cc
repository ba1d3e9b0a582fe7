#include "engine/formats/csv_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "engine/formats/byte_index.h"
#include "engine/formats/options.h"
#include "engine/formats/utf8.h"

namespace baton::formats {

namespace {

constexpr char kQuote = '"';

bool has_quote(const std::string& text) {
    return text.find(kQuote) != std::string::npos;
}

}  // namespace

CsvDecoder::CsvDecoder(const DecoderSetup& setup)
    : field_(text_or(setup.format, "FIELD_DELIMITER", ",")),
      tuple_(text_or(setup.format, "TUPLE_DELIMITER", "\n")),
      quotes_hide_(flag_or(setup.format, "ALLOW_COMMAS_IN_STRINGS", true)),
      quotes_come_off_(!quotes_hide_),
      single_(field_.size() == 1 && tuple_.size() == 1),
      skip_header_(flag_or(setup.format, "HEADER", false)),
      columns_(setup.schema.columns.size()),
      blocks_(setup.block_bytes == 0 ? Blocks::kBytes : setup.block_bytes),
      records_(setup.schema, setup.wanted, setup.format) {
    CHECK(!field_.empty() && !tuple_.empty() && columns_ > 0);
    if (has_quote(field_) || has_quote(tuple_)) {
        quotes_hide_ = false;
        quotes_come_off_ = false;
    }
    open_.cells.resize(columns_);
}

void CsvDecoder::lost() {
    blocks_.decoded_to(blocks_.end());
    marks_count_ = 0;
    cursor_ = 0;
    scanned_ = blocks_.end();
    record_begin_ = blocks_.end();
    open_.active = false;
}

Result<Done> CsvDecoder::end() {
    ended_ = true;
    return Done{};
}

Result<bool> CsvDecoder::next(engine::Batch& into) {
    while (true) {
        if (records_.error()) return *records_.error();
        find_marks();
        batch_begin_ = blocks_.begin();
        split();
        if (records_.rows() == 0) {
            TRY_ASSIGN(goes_on, look_for_the_end());
            if (!goes_on) return false;
            if (records_.rows() == 0) continue;
        }
        check_text();
        const bool some = records_.deliver(into, blocks_.holder(),
                                           [this](std::size_t begin) { return place_of(begin); });
        lines_ += std::exchange(lines_taken_, 0);
        blocks_.decoded_to(record_begin_);
        if (some) return true;
    }
}

// There is no record as a whole. False: until more bytes come, if ever.
Result<bool> CsvDecoder::look_for_the_end() {
    lines_ += std::exchange(lines_taken_, 0);
    blocks_.decoded_to(record_begin_);
    if (!ended_ || record_begin_ == blocks_.end()) return false;
    if (std::exchange(closed_, true)) {
        close_last();
    } else {
        TRY(blocks_.append(tuple_));
    }
    return true;
}

// What is left at the end though it was given its delimiter: a quote that nobody closed.
void CsvDecoder::close_last() {
    records_.add(record_begin_);
    records_.fault(0, "a quote is not closed before the end");
    record_begin_ = blocks_.end();
    cursor_ = marks_count_;
    open_.active = false;
}

std::string CsvDecoder::place_of(std::size_t begin) {
    const std::string_view before(blocks_.data() + batch_begin_, begin - batch_begin_);
    std::uint64_t number = lines_ + 1;
    for (std::size_t at = before.find(tuple_); at != std::string_view::npos;
         at = before.find(tuple_, at + tuple_.size())) {
        number += 1;
    }
    return (tuple_.back() == '\n' ? "line " : "record ") + std::to_string(number);
}

// ---- marks ------------------------------------------------------------------------------------

void CsvDecoder::find_marks() {
    if (moves_ != blocks_.moves()) {
        moves_ = blocks_.moves();
        marks_count_ = 0;
        cursor_ = 0;
        scanned_ = blocks_.begin();
        record_begin_ = blocks_.begin();
        open_.active = false;
    }
    if (scanned_ == blocks_.end()) return;
    if (cursor_ > 0) {
        marks_count_ -= cursor_;
        std::memmove(marks_.get(), marks_.get() + cursor_, marks_count_ * sizeof(marks_[0]));
        cursor_ = 0;
    }
    const std::size_t needed = marks_count_ + (blocks_.end() - scanned_) + 8;
    if (needed > marks_room_) {
        auto larger = std::make_unique_for_overwrite<std::uint32_t[]>(needed + needed / 2);
        std::copy_n(marks_.get(), marks_count_, larger.get());
        marks_ = std::move(larger);
        marks_room_ = needed + needed / 2;
    }
    if (!single_) {
        const std::size_t longest = std::max(field_.size(), tuple_.size());
        const std::size_t unsure = ended_ ? 0 : longest - 1;
        const std::size_t limit = blocks_.end() - std::min(unsure, blocks_.end() - scanned_);
        find_long_marks(limit);
        return;
    }
    const Needles needles = {field_[0], tuple_[0], quotes_hide_ ? kQuote : field_[0]};
    marks_count_ +=
        index_bytes(blocks_.data(), scanned_, blocks_.end(), needles, marks_.get() + marks_count_);
    scanned_ = blocks_.end();
}

// Delimiters of several bytes, one byte after the other; a mark is where one begins.
void CsvDecoder::find_long_marks(std::size_t limit) {
    const std::string_view text(blocks_.data(), blocks_.end());
    while (scanned_ < limit) {
        const char c = text[scanned_];
        const bool is_tuple = c == tuple_[0] && text.substr(scanned_).starts_with(tuple_);
        const bool is_field = c == field_[0] && text.substr(scanned_).starts_with(field_);
        const bool is_quote = quotes_hide_ && c == kQuote;
        if (is_tuple || is_field || is_quote) {
            marks_[marks_count_++] = static_cast<std::uint32_t>(scanned_);
        }
        scanned_ += is_tuple ? tuple_.size() : is_field ? field_.size() : 1;
    }
}

CsvDecoder::Mark CsvDecoder::mark_at(std::size_t offset) {
    const std::string_view text(blocks_.data() + offset, blocks_.end() - offset);
    if (quotes_hide_ && text[0] == kQuote) return Mark::quote;
    return text.starts_with(tuple_) ? Mark::tuple : Mark::field;
}

// ---- records ----------------------------------------------------------------------------------

void CsvDecoder::split() {
    const bool may_be_regular = single_ && !quotes_come_off_;
    while (!records_.full()) {
        if (may_be_regular && !skip_header_ && !open_.active) take_regular();
        if (records_.full() || !take_irregular()) return;
    }
}

// Takes records without quotes, up to one that is not like that or not there as a whole.
void CsvDecoder::take_regular() {
    const char* const text = blocks_.data();
    const char field = field_[0];
    const char tuple = tuple_[0];
    const bool drop_return = tuple == '\n';
    const std::size_t last = columns_ - 1;
    const std::vector<std::size_t>& wanted = records_.wanted();
    const std::size_t first_row = records_.rows();
    while (!records_.full() && marks_count_ - cursor_ >= columns_) {
        const std::uint32_t* const marks = marks_.get() + cursor_;
        bool regular = text[marks[last]] == tuple;
        for (std::size_t i = 0; i < last; ++i) regular = regular && text[marks[i]] == field;
        if (!regular) break;
        Cell* const cells = records_.add_row(record_begin_);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const std::size_t column = wanted[i];
            const std::size_t begin = column == 0 ? record_begin_ : marks[column - 1] + 1;
            std::size_t end = marks[column];
            if (column == last && drop_return && end > begin && text[end - 1] == '\r') end -= 1;
            cells[i * engine::kBatchRows] = {.text = text + begin,
                                             .size = static_cast<std::uint32_t>(end - begin)};
        }
        record_begin_ = marks[last] + 1;
        cursor_ += columns_;
    }
    lines_taken_ += records_.rows() - first_row;
}

// Reads on in the record that begins at record_begin_. False: its end has not come yet.
bool CsvDecoder::take_irregular() {
    if (!open_.active) {
        open_.active = true;
        open_.in_quotes = open_.has_closed = open_.has_doubled = false;
        open_.field_begin = record_begin_;
        open_.fields = 0;
        open_.lines = 0;
        open_.doubled.clear();
        open_.fault.clear();
    }
    while (cursor_ < marks_count_) {
        const std::size_t at = marks_[cursor_];
        const Mark mark = mark_at(at);
        if (mark == Mark::quote) {
            if (!pass_quote(at)) return false;
            continue;
        }
        cursor_ += 1;
        if (mark == Mark::tuple) open_.lines += 1;
        if (open_.in_quotes) continue;
        end_field(at, mark == Mark::tuple);
        open_.field_begin = at + (mark == Mark::tuple ? tuple_.size() : field_.size());
        if (mark == Mark::field) continue;
        end_record(open_.field_begin);
        return true;
    }
    return false;
}

// False: what follows the quote decides, and has not come yet.
bool CsvDecoder::pass_quote(std::size_t at) {
    if (!open_.in_quotes) {
        if (at == open_.field_begin) {
            open_.in_quotes = true;
        } else if (open_.has_closed && open_.fault.empty()) {
            open_.fault =
                "field " + std::to_string(open_.fields + 1) + " goes on after its closing quote";
        }
        cursor_ += 1;
        return true;
    }
    if (at + 1 == blocks_.end()) return false;
    if (blocks_.data()[at + 1] == kQuote) {
        if (cursor_ + 1 == marks_count_) return false;
        open_.has_doubled = true;
        cursor_ += 2;
        return true;
    }
    open_.in_quotes = false;
    open_.has_closed = true;
    open_.closed_at = at;
    cursor_ += 1;
    return true;
}

void CsvDecoder::end_field(std::size_t at, bool last) {
    const char* const text = blocks_.data();
    const std::size_t number = open_.fields++;
    const std::size_t begin = open_.field_begin;
    if (last && tuple_ == "\n" && at > begin && text[at - 1] == '\r') at -= 1;
    const bool was_quoted = std::exchange(open_.has_closed, false);
    const bool has_doubled = std::exchange(open_.has_doubled, false);
    if (number >= columns_) return;
    Cell& cell = open_.cells[number];
    cell = {.text = text + begin, .size = static_cast<std::uint32_t>(at - begin)};
    if (was_quoted) {
        if (open_.closed_at + 1 != at && open_.fault.empty()) {
            open_.fault =
                "field " + std::to_string(number + 1) + " goes on after its closing quote";
        }
        cell = {.text = text + begin + 1,
                .size = static_cast<std::uint32_t>(open_.closed_at - begin - 1),
                .kind = Cell::Kind::quoted};
        if (has_doubled) open_.doubled.push_back(number);
        return;
    }
    const bool between_quotes =
        cell.size >= 2 && cell.text[0] == kQuote && cell.text[cell.size - 1] == kQuote;
    if (quotes_come_off_ && between_quotes) {
        cell = {.text = cell.text + 1, .size = cell.size - 2, .kind = Cell::Kind::quoted};
        open_.doubled.push_back(number);
    }
}

void CsvDecoder::end_record(std::size_t next) {
    const std::size_t begin = std::exchange(record_begin_, next);
    open_.active = false;
    lines_taken_ += open_.lines;
    if (std::exchange(skip_header_, false)) return;
    const bool empty =
        open_.fields == 1 && open_.cells[0].size == 0 && open_.cells[0].kind == Cell::Kind::plain;
    if (empty && columns_ > 1) return;
    records_.add(begin);
    if (open_.fault.empty() && open_.fields != columns_) {
        open_.fault = "it has " + std::to_string(open_.fields) +
                      (open_.fields == 1 ? " field" : " fields") + " instead of " +
                      std::to_string(columns_);
    }
    if (!open_.fault.empty()) {
        records_.fault(records_.rows() - 1, std::exchange(open_.fault, {}));
        return;
    }
    for (const std::size_t field : open_.doubled) undo_doubled(open_.cells[field]);
    const std::vector<std::size_t>& wanted = records_.wanted();
    for (std::size_t i = 0; i < wanted.size(); ++i) records_.set(i, open_.cells[wanted[i]]);
}

// In place: what is shorter has room where it was. The gap becomes blank, so that nothing in it
// counts.
void CsvDecoder::undo_doubled(Cell& cell) {
    char* const begin = blocks_.data() + (cell.text - blocks_.data());
    char* const end = begin + cell.size;
    char* to = begin;
    for (const char* from = begin; from < end; ++from) {
        if (*from == kQuote && from + 1 < end && from[1] == kQuote) ++from;
        *to++ = *from;
    }
    std::fill(to, end, ' ');
    cell.size = static_cast<std::uint32_t>(to - begin);
}

// Marks the records that are not UTF-8. Most often none is, which is seen at once.
void CsvDecoder::check_text() {
    const char* const text = blocks_.data();
    if (is_utf8({text + batch_begin_, record_begin_ - batch_begin_})) return;
    for (std::size_t row = 0; row < records_.rows(); ++row) {
        const std::size_t begin = records_.begin_of(row);
        const std::size_t end =
            row + 1 < records_.rows() ? records_.begin_of(row + 1) : record_begin_;
        if (!is_utf8({text + begin, end - begin})) records_.fault(row, "it is not UTF-8");
    }
}

}  // namespace baton::formats
