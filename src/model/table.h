// The facts about tables: their SQL types and columns, and the objects that hold their rows.
//
// A table's rows are Parquet objects in an object store, and its log says which. Names of columns
// keep the case in which they were declared, and are found in any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/data_type.h"

namespace baton {

struct SqlField;

// The type of a column of a table or of an answer. Tables have those up to `structure`; the others
// come out of questions only.
struct SqlType {
    enum class Kind : std::uint8_t {
        boolean,
        tinyint,
        smallint,
        integer,
        bigint,
        real,
        double_precision,
        decimal,
        varchar,
        blob,
        date,
        timestamp,
        timestamptz,
        list,       // of its one part, which has no name
        structure,  // of its parts
        utinyint,
        usmallint,
        uinteger,
        ubigint,
        hugeint,
        uhugeint,
        time,
        interval,
        uuid,
        json,
        map,    // of two parts, the key and the value
        other,  // shown as text
    };
    Kind kind = Kind::varchar;
    std::uint8_t precision = 0;  // decimal
    std::uint8_t scale = 0;      // decimal
    std::vector<SqlField> parts;

    friend bool operator==(const SqlType&, const SqlType&);
};

struct SqlField {
    std::string name;
    SqlType type;
    bool nullable = true;

    friend bool operator==(const SqlField&, const SqlField&) = default;
};

inline bool operator==(const SqlType& a, const SqlType& b) {
    return a.kind == b.kind && a.precision == b.precision && a.scale == b.scale &&
           a.parts == b.parts;
}

// "BIGINT", "DECIMAL(10,2)", "VARCHAR[]", "STRUCT(a INTEGER, \"B c\" DATE)": as SQL writes it.
[[nodiscard]] std::string to_string(const SqlType& type);
// The type that a user wrote, in any case and by any of its usual names (INT8, TEXT, NUMERIC(5)).
// Names mean what they mean in PostgreSQL: INT8 has eight bytes, FLOAT is DOUBLE. In definitions of
// streams INT8 has eight bits (model/data_type.h). A length that a table would not keep, as in
// VARCHAR(10), is refused.
// Fails with type_mismatch for what is no type of a table, naming the nearest.
[[nodiscard]] Result<SqlType> table_type_of(std::string_view text);
// The smallest type of a table that takes every value of a stream's column.
[[nodiscard]] SqlType table_type_of(DataType type);

// The columns of a table, or of an answer.
using SqlColumns = std::vector<SqlField>;

// Fails with `schema` if a name is empty, has a line end or the like, or appears twice in any case.
// No column at all is well: the files of the table may say.
[[nodiscard]] Result<Done> validate(const SqlColumns& columns, std::string_view of_what);

// An object that holds rows of a table, as its log says.
struct TableObject {
    // Statistics of a column; texts in the form of the log, shortened where they are long.
    struct Range {
        std::optional<std::string> min;
        std::optional<std::string> max;  // at least as large as every value
        std::optional<std::uint64_t> nulls;

        friend bool operator==(const Range&, const Range&) = default;
    };

    std::string key;  // below the table's location
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> rows;                            // none: the log does not say
    std::map<std::string, std::optional<std::string>> partition;  // by column; none: NULL
    std::map<std::string, Range> ranges;                          // by column
    std::string checksum;                                         // XXH3 in hexadecimal, or empty
    WallTime modified;

    friend bool operator==(const TableObject&, const TableObject&) = default;
};

}  // namespace baton
