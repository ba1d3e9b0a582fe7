#include "doors/pg/server/copy_reader.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/tables/constants.h"
#include "doors/pg/server/rows.h"
#include "doors/pg/wire/values.h"

namespace baton::pgserver {

namespace {

constexpr std::size_t kLineBytesMax = std::size_t{16} << 20U;
constexpr std::string_view kSignature("PGCOPY\n\xff\r\n\0", 11);

int digit_of(char c, int base) {
    const int value = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : base;
    return value < base ? value : -1;
}

// Up to so many digits from `at` on, which moves behind them.
char code_in(std::string_view text, std::size_t& at, int base, std::size_t most) {
    int code = 0;
    for (std::size_t i = 0; i < most && at < text.size() && digit_of(text[at], base) >= 0; ++i) {
        code = code * base + digit_of(text[at++], base);
    }
    return static_cast<char>(code & 0xff);
}

std::string unescaped(std::string_view text) {
    constexpr std::string_view kLetters = "bfnrtv";
    constexpr std::string_view kMeant = "\b\f\n\r\t\v";
    std::string value;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i++];
        if (c != '\\' || i == text.size()) {
            value += c;
            continue;
        }
        const std::size_t letter = kLetters.find(text[i]);
        if (letter != std::string_view::npos) {
            value += kMeant[letter];
            i += 1;
        } else if (digit_of(text[i], 8) >= 0) {
            value += code_in(text, i, 8, 3);
        } else if (text[i] == 'x' && i + 1 < text.size() && digit_of(text[i + 1], 16) >= 0) {
            i += 1;
            value += code_in(text, i, 16, 2);
        } else {
            value += text[i++];
        }
    }
    return value;
}

std::int32_t whole_in(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
    return bytes.size() == 2 ? static_cast<std::int16_t>(value) : static_cast<std::int32_t>(value);
}

tables::Constant constant_of(const pgwire::Value& value) {
    return std::visit(
        Overload{
            [](std::uint64_t number) -> tables::Constant { return std::to_string(number); },
            [](const auto& other) -> tables::Constant { return other; },
        },
        value);
}

}  // namespace

CopyReader::CopyReader(CopyFormat format, SqlColumns columns)
    : format_(std::move(format)), columns_(std::move(columns)) {}

Error CopyReader::failed(std::string why) const {
    return placed({.code = ErrorCode::cannot_convert, .message = std::move(why)});
}

Error CopyReader::placed(Error error) const {
    const char* const unit = format_.binary ? "row " : "line ";
    error.message = unit + std::to_string(line_) + " of COPY: " + error.message;
    return error;
}

Result<Done> CopyReader::feed(std::string_view bytes) {
    if (ended_) return Done{};
    buffer_ += bytes;
    if (format_.binary) return read_binary();
    return read_lines(false);
}

Result<Done> CopyReader::finish() {
    if (ended_) return Done{};
    if (!format_.binary) return read_lines(true);
    return failed("the data ends before its trailer");
}

// ---- lines --------------------------------------------------------------------------------------

std::optional<std::size_t> CopyReader::line_end(std::size_t from) {
    if (!format_.csv) {
        const std::size_t end = buffer_.find('\n', from + scanned_);
        scanned_ = buffer_.size() - from;
        return end == std::string::npos ? std::nullopt : std::optional(end);
    }
    for (std::size_t i = from + scanned_; i < buffer_.size(); ++i) {
        const char c = buffer_[i];
        const bool escapes = in_quotes_ && c == format_.escape && format_.escape != format_.quote;
        if (escapes) {
            if (i + 1 == buffer_.size()) {
                scanned_ = i - from;
                return std::nullopt;
            }
            i += 1;
        } else if (c == format_.quote) {
            in_quotes_ = !in_quotes_;
        } else if (c == '\n' && !in_quotes_) {
            return i;
        }
    }
    scanned_ = buffer_.size() - from;
    return std::nullopt;
}

Result<Done> CopyReader::read_lines(bool last) {
    std::size_t from = 0;
    while (!ended_) {
        auto end = line_end(from);
        if (!end && last && from < buffer_.size()) {
            if (in_quotes_) return failed("a quote has no end");
            end = buffer_.size();
        }
        if (!end) break;
        scanned_ = 0;
        in_quotes_ = false;
        std::string_view line = std::string_view(buffer_).substr(from, *end - from);
        const auto within = std::count(line.begin(), line.end(), '\n');
        from = std::min(*end + 1, buffer_.size());
        if (line.ends_with('\r')) line.remove_suffix(1);
        TRY(read_line(line));
        line_ += 1 + static_cast<std::uint64_t>(within);
    }
    buffer_.erase(0, from);
    if (buffer_.size() > kLineBytesMax) {
        return placed(
            {.code = ErrorCode::too_large,
             .message = "it is longer than " + std::to_string(kLineBytesMax >> 20U) + " MB"});
    }
    return Done{};
}

Result<Done> CopyReader::read_line(std::string_view line) {
    const bool header = format_.header && !std::exchange(begun_, true);
    if (header) return Done{};
    if (line == "\\.") {
        ended_ = true;
        return Done{};
    }
    return format_.csv ? read_csv(line) : read_text(line);
}

Result<Done> CopyReader::read_text(std::string_view line) {
    Row row;
    for (std::size_t from = 0; from <= line.size();) {
        std::size_t end = from;
        while (end < line.size() && line[end] != format_.delimiter) {
            end += line[end] == '\\' ? 2 : 1;
        }
        end = std::min(end, line.size());
        const std::string_view field = line.substr(from, end - from);
        if (field == format_.null) {
            row.emplace_back(sql::Null{});
        } else {
            TRY(add_text(row, unescaped(field)));
        }
        from = end + 1;
    }
    return add_row(std::move(row));
}

Result<Done> CopyReader::read_csv(std::string_view line) {
    Row row;
    std::string field;
    bool quoted = false;
    bool within = false;
    for (std::size_t i = 0; i <= line.size(); ++i) {
        const bool over = i == line.size();
        const char c = over ? '\0' : line[i];
        if (over || (!within && c == format_.delimiter)) {
            if (!quoted && field == format_.null) {
                row.emplace_back(sql::Null{});
            } else {
                TRY(add_text(row, field));
            }
            field.clear();
            quoted = false;
            continue;
        }
        const bool next_is_special =
            i + 1 < line.size() && (line[i + 1] == format_.quote || line[i + 1] == format_.escape);
        if (within && c == format_.escape && next_is_special) {
            field += line[++i];
        } else if (c == format_.quote) {
            within = !within;
            quoted = true;
        } else {
            field += c;
        }
    }
    return add_row(std::move(row));
}

Result<Done> CopyReader::add_text(Row& row, std::string text) {
    if (!is_valid_utf8(text) || text.find('\0') != std::string::npos) {
        return failed("a text is not UTF-8, or has the character NUL");
    }
    if (row.size() < columns_.size()) {
        if (auto fits = tables::fit(columns_[row.size()], text); !fits) {
            return placed(fits.error());
        }
    }
    row.emplace_back(std::move(text));
    return Done{};
}

Result<Done> CopyReader::add_row(Row row) {
    if (row.size() > columns_.size()) return failed("extra data after the last expected column");
    if (row.size() < columns_.size()) {
        return failed("missing data for column " + in_quotes(columns_[row.size()].name));
    }
    memory_ += sizeof(Row);
    for (std::size_t i = 0; i < row.size(); ++i) {
        memory_ += sizeof(sql::Literal);
        if (const auto* text = std::get_if<std::string>(&row[i])) memory_ += text->capacity();
        if (!std::holds_alternative<sql::Null>(row[i]) || columns_[i].nullable) continue;
        return placed(tables::fit(columns_[i], std::monostate()).error());
    }
    if (memory_ > kCopiedMemoryMax) {
        return placed({.code = ErrorCode::too_large,
                       .message = "a COPY holds at most " +
                                  std::to_string(kCopiedMemoryMax >> 20U) + " MB of rows",
                       .hint = "copy the rows in portions; none of these was added"});
    }
    rows_.push_back(std::move(row));
    return Done{};
}

// ---- binary -------------------------------------------------------------------------------------

Result<Done> CopyReader::read_binary() {
    std::size_t from = 0;
    while (!ended_) {
        TRY_ASSIGN(size, read_tuple(std::string_view(buffer_).substr(from)));
        if (size == 0) break;
        from += size;
    }
    buffer_.erase(0, from);
    if (buffer_.size() <= kLineBytesMax) return Done{};
    return placed({.code = ErrorCode::too_large, .message = "the row is too long"});
}

Result<std::size_t> CopyReader::read_tuple(std::string_view bytes) {
    constexpr std::size_t kHeaderSize = 19;
    if (!begun_) {
        if (bytes.size() < kHeaderSize) return std::size_t{0};
        if (!bytes.starts_with(kSignature)) return failed("this is not the binary form of COPY");
        const std::int32_t flags = whole_in(bytes.substr(11, 4));
        const std::int32_t more = whole_in(bytes.substr(15, 4));
        if (flags != 0 || more != 0) return failed("the header has flags that are not known");
        begun_ = true;
        return kHeaderSize;
    }
    if (bytes.size() < 2) return std::size_t{0};
    const std::int32_t count = whole_in(bytes.substr(0, 2));
    if (count == -1) {
        ended_ = true;
        return std::size_t{2};
    }
    if (count < 0 || static_cast<std::size_t>(count) != columns_.size()) {
        return failed("it has " + std::to_string(count) + " values for " +
                      std::to_string(columns_.size()) + " columns");
    }
    Row row;
    std::size_t at = 2;
    for (const SqlField& column : columns_) {
        if (bytes.size() < at + 4) return std::size_t{0};
        const std::int32_t size = whole_in(bytes.substr(at, 4));
        at += 4;
        if (size == -1) {
            row.emplace_back(sql::Null{});
            continue;
        }
        if (size < 0) return failed("a value has a negative size");
        if (bytes.size() < at + static_cast<std::size_t>(size)) return std::size_t{0};
        const auto value = pgwire::parameter_of(pgwire::type_id_of(column_of({}, column.type)),
                                                pgwire::Format::binary,
                                                bytes.substr(at, static_cast<std::size_t>(size)));
        if (const auto* refused = std::get_if<pgwire::Report>(&value)) {
            return failed("column " + in_quotes(column.name) + ": " + refused->message);
        }
        const auto& known = std::get<pgwire::Value>(value);
        if (auto fits = tables::fit(column, constant_of(known)); !fits) {
            return placed(fits.error());
        }
        row.push_back(literal_of(known));
        at += static_cast<std::size_t>(size);
    }
    TRY(add_row(std::move(row)));
    line_ += 1;
    return at;
}

}  // namespace baton::pgserver
