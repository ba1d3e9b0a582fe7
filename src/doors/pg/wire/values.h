// Values as PostgreSQL writes and reads them, in its text and its binary form.
//
// Input:   a value of ours and the type of its column; or the bytes of a parameter and its type.
// Output:  the bytes of a cell; or a value.
//
// Rules:
//   - A cell is what a PostgreSQL server with DateStyle ISO, TimeZone UTC and extra_float_digits 1
//     would send, byte for byte: drivers parse these forms, people compare them.
//   - Numbers and times survive the way there and back unchanged in both forms.
//   - A parameter that cannot be read is an error of its own (22P02 text, 22P03 binary), never a
//     value that is nearly right.
// Pure: no I/O, no locale, no time zone but UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "doors/pg/wire/messages.h"
#include "doors/pg/wire/replies.h"

namespace baton::pgwire {

// PostgreSQL's numbers of the types that we write or read.
enum class KnownType : TypeId {
    boolean = 16,
    bytea = 17,
    name = 19,
    int8 = 20,
    int2 = 21,
    int4 = 23,
    text = 25,
    oid = 26,
    json = 114,
    float4 = 700,
    float8 = 701,
    unknown = 705,
    bpchar = 1042,
    varchar = 1043,
    date = 1082,
    time = 1083,
    timestamp = 1114,
    timestamptz = 1184,
    interval = 1186,
    numeric = 1700,
    uuid = 2950,
    jsonb = 3802,
};

// The types of columns that we have. A time is text such as "2026-11-15T09:46:16.123456Z", with up
// to six digits after the second, or none. Those from decimal on are text in PostgreSQL's form.
enum class ColumnType : std::uint8_t {
    text,
    int16,
    int32,  // an integer that drivers give as a number: not every language has 64 bits for one
    integer,
    unsigned_integer,
    float32,
    float64,
    boolean,
    time,
    json,
    decimal,
    bytes,
    date,
    timestamp,
    timestamptz,
    time_of_day,
    interval,
    uuid,
};

struct Column {
    std::string name;
    ColumnType type = ColumnType::text;
    std::int32_t modifier = -1;  // of a decimal: its precision and scale, as PostgreSQL has them
    bool is_array = false;       // of values of this type, as text: "{1,2,NULL}"
    friend bool operator==(const Column&, const Column&) = default;
};

[[nodiscard]] TypeId type_id_of(ColumnType type);
[[nodiscard]] TypeId type_id_of(const Column& column);
[[nodiscard]] std::int16_t size_of(ColumnType type);  // of the binary form; -1: it varies
[[nodiscard]] std::int16_t size_of(const Column& column);
// NUMERIC(precision, scale)
[[nodiscard]] std::int32_t modifier_of(std::uint8_t precision, std::uint8_t scale);

// monostate is NULL.
using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

// Appends the value, which is not NULL, in that form. Fails with cannot_format if it is not of the
// type: a number may be written as any type of number that can hold it, and everything as text.
[[nodiscard]] Result<Done> append_cell(std::string& out, ColumnType type, Format format,
                                       const Value& value);
[[nodiscard]] Result<Done> append_cell(std::string& out, const Column& column, Format format,
                                       const Value& value);

// ---- rows ---------------------------------------------------------------------------------------

// DataRow messages, whole ones, and how many.
class EncodedRows {
public:
    EncodedRows() = default;
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }
    [[nodiscard]] std::string release() && { return std::move(bytes_); }

private:
    friend class RowWriter;
    std::size_t count_ = 0;
    std::string bytes_;
};

// Writes rows where they are made, which may be another thread than the connection's.
class RowWriter {
public:
    // `formats` has one for each column, or is empty: all text.
    explicit RowWriter(std::span<const Column> columns, std::vector<Format> formats = {});

    // Fails with cannot_format; the rows before are kept, nothing of this one is.
    [[nodiscard]] Result<Done> append(std::span<const Value> row);
    [[nodiscard]] std::size_t bytes() const { return rows_.bytes_.size(); }
    [[nodiscard]] EncodedRows take();  // and begins anew

private:
    std::vector<Column> columns_;  // without names
    std::vector<Format> formats_;
    EncodedRows rows_;
};

// ---- parameters ---------------------------------------------------------------------------------

// Timestamps become text of ours; numeric numbers integers if they are whole, double if that has
// all of their digits, or else text; dates, times of the day, intervals, bytes and UUIDs text in
// PostgreSQL's form. A value of an unknown type is text, if it was given so.
[[nodiscard]] std::variant<Value, Report> parameter_of(TypeId type, Format format,
                                                       std::string_view bytes);

}  // namespace baton::pgwire
