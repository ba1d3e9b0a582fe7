#include "model/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "base/text.h"

namespace baton {

namespace {

using Kind = SqlType::Kind;

constexpr std::size_t kTextMax = 10'000;
constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kPartsMax = 1'000;
constexpr unsigned kPrecisionMax = 38;
constexpr unsigned kPrecisionUsual = 18;  // of DECIMAL alone, as DuckDB has it
constexpr unsigned kScaleUsual = 3;

struct TypeName {
    std::string_view name;
    Kind kind;
};
// The first name of a kind is the one that is printed.
constexpr std::array kTableTypes = {
    TypeName{"BOOLEAN", Kind::boolean},
    TypeName{"BOOL", Kind::boolean},
    TypeName{"TINYINT", Kind::tinyint},
    TypeName{"INT1", Kind::tinyint},
    TypeName{"SMALLINT", Kind::smallint},
    TypeName{"INT2", Kind::smallint},
    TypeName{"INTEGER", Kind::integer},
    TypeName{"INT", Kind::integer},
    TypeName{"INT4", Kind::integer},
    TypeName{"BIGINT", Kind::bigint},
    TypeName{"INT8", Kind::bigint},
    TypeName{"REAL", Kind::real},
    TypeName{"FLOAT4", Kind::real},
    TypeName{"DOUBLE", Kind::double_precision},
    TypeName{"DOUBLE PRECISION", Kind::double_precision},
    TypeName{"FLOAT8", Kind::double_precision},
    TypeName{"FLOAT", Kind::double_precision},
    TypeName{"DECIMAL", Kind::decimal},
    TypeName{"NUMERIC", Kind::decimal},
    TypeName{"DEC", Kind::decimal},
    TypeName{"VARCHAR", Kind::varchar},
    TypeName{"TEXT", Kind::varchar},
    TypeName{"STRING", Kind::varchar},
    TypeName{"CHAR", Kind::varchar},
    TypeName{"CHARACTER", Kind::varchar},
    TypeName{"CHARACTER VARYING", Kind::varchar},
    TypeName{"CHAR VARYING", Kind::varchar},
    TypeName{"BLOB", Kind::blob},
    TypeName{"BYTEA", Kind::blob},
    TypeName{"BINARY", Kind::blob},
    TypeName{"VARBINARY", Kind::blob},
    TypeName{"DATE", Kind::date},
    TypeName{"TIMESTAMP", Kind::timestamp},
    TypeName{"DATETIME", Kind::timestamp},
    TypeName{"TIMESTAMP WITHOUT TIME ZONE", Kind::timestamp},
    TypeName{"TIMESTAMPTZ", Kind::timestamptz},
    TypeName{"TIMESTAMP WITH TIME ZONE", Kind::timestamptz},
    TypeName{"STRUCT", Kind::structure},
    TypeName{"ROW", Kind::structure},
};
// Those that only answers have.
constexpr std::array kAnswerTypes = {
    TypeName{"UTINYINT", Kind::utinyint}, TypeName{"USMALLINT", Kind::usmallint},
    TypeName{"UINTEGER", Kind::uinteger}, TypeName{"UBIGINT", Kind::ubigint},
    TypeName{"HUGEINT", Kind::hugeint},   TypeName{"UHUGEINT", Kind::uhugeint},
    TypeName{"TIME", Kind::time},         TypeName{"INTERVAL", Kind::interval},
    TypeName{"UUID", Kind::uuid},         TypeName{"JSON", Kind::json},
    TypeName{"\"unknown\"", Kind::other},
};

// Words that mean something elsewhere, and the type of a table that takes such values.
struct Instead {
    std::string_view name;
    std::string_view type;
};
constexpr std::array kInstead = {
    Instead{"INT16", "SMALLINT"},        Instead{"INT32", "INTEGER"},
    Instead{"INT64", "BIGINT"},          Instead{"FLOAT32", "REAL"},
    Instead{"FLOAT64", "DOUBLE"},        Instead{"UINT8", "SMALLINT"},
    Instead{"UINT16", "INTEGER"},        Instead{"UINT32", "BIGINT"},
    Instead{"UINT64", "DECIMAL(20,0)"},  Instead{"UTINYINT", "SMALLINT"},
    Instead{"USMALLINT", "INTEGER"},     Instead{"UINTEGER", "BIGINT"},
    Instead{"UBIGINT", "DECIMAL(20,0)"}, Instead{"HUGEINT", "DECIMAL(38,0)"},
    Instead{"UHUGEINT", "VARCHAR"},      Instead{"VARSIZED", "VARCHAR"},
    Instead{"TIME", "VARCHAR"},          Instead{"INTERVAL", "BIGINT"},
    Instead{"UUID", "VARCHAR"},          Instead{"JSON", "VARCHAR"},
    Instead{"JSONB", "VARCHAR"},         Instead{"MONEY", "DECIMAL(19,2)"},
    Instead{"SERIAL", "INTEGER"},        Instead{"BIGSERIAL", "BIGINT"},
};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return is_letter(c) || is_digit(c); });
}

Error no_type(const std::string& why, std::string hint = {}) {
    return Error{.code = ErrorCode::type_mismatch, .message = why, .hint = std::move(hint)};
}

Error unknown_type(std::string_view name) {
    const std::string upper = to_upper(name);
    for (const Instead& instead : kInstead) {
        if (instead.name != upper) continue;
        return no_type(in_quotes(name) + " is not a type of tables",
                       "use " + std::string(instead.type));
    }
    std::vector<std::string> known;
    for (const TypeName& type : kTableTypes) known.emplace_back(type.name);
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) {
        hint =
            "tables have BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(p,s), "
            "VARCHAR, BLOB, DATE, TIMESTAMP, TIMESTAMPTZ, lists (INTEGER[]) and STRUCT(a INTEGER)";
    }
    return no_type("unknown type " + in_quotes(name), std::move(hint));
}

class TypeReader {
public:
    explicit TypeReader(std::string_view text) : text_(text) {}

    Result<SqlType> document() {
        TRY_ASSIGN(type, any(1));
        if (!at_end()) return no_type("nothing may follow the type " + in_quotes(to_string(type)));
        return type;
    }

private:
    void skip_space() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
            at_ += 1;
        }
    }
    bool at_end() {
        skip_space();
        return at_ == text_.size();
    }
    bool take(char sign) {
        skip_space();
        if (at_ == text_.size() || text_[at_] != sign) return false;
        at_ += 1;
        return true;
    }
    // The next word, without taking it; empty if none is next.
    std::string_view peek_word() {
        skip_space();
        if (at_ == text_.size() || !is_letter(text_[at_])) return {};
        std::size_t end = at_;
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) end += 1;
        return text_.substr(at_, end - at_);
    }
    bool take_word(std::string_view word) {
        if (!equal_ignoring_case(peek_word(), word)) return false;
        at_ += word.size();
        return true;
    }

    Result<SqlType> any(std::size_t depth) {
        if (depth > kDepthMax) return no_type("a type is nested too deep");
        const std::string_view word = peek_word();
        if (word.empty()) {
            return no_type(at_end() ? "a type is expected" : "a type begins with a word");
        }
        at_ += word.size();
        const std::string name = std::string(word) + more_words(word);
        const auto found = std::find_if(
            kTableTypes.begin(), kTableTypes.end(),
            [&](const TypeName& type) { return equal_ignoring_case(type.name, name); });
        if (found == kTableTypes.end()) return unknown_type(name);
        SqlType type{.kind = found->kind};
        if (type.kind == Kind::structure) {
            TRY(fields(type, depth));
        } else {
            TRY(lengths(type, name));
        }
        return lists(std::move(type), depth);
    }

    // The rest of a type whose name has several words.
    std::string more_words(std::string_view first) {
        if (equal_ignoring_case(first, "DOUBLE") && take_word("PRECISION")) return " PRECISION";
        const bool text =
            equal_ignoring_case(first, "CHARACTER") || equal_ignoring_case(first, "CHAR");
        if (text && take_word("VARYING")) return " VARYING";
        if (!equal_ignoring_case(first, "TIMESTAMP")) return {};
        const std::size_t start = at_;
        for (const std::string_view zone : {"WITH", "WITHOUT"}) {
            if (take_word(zone) && take_word("TIME") && take_word("ZONE")) {
                return " " + std::string(zone) + " TIME ZONE";
            }
            at_ = start;
        }
        return {};
    }

    Result<unsigned> number(std::string_view of) {
        skip_space();
        const std::string_view rest = text_.substr(at_);
        unsigned value = 0;
        const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (problem != std::errc()) {
            return no_type("a whole number is expected in the brackets of " + in_quotes(of));
        }
        at_ += static_cast<std::size_t>(end - rest.data());
        return value;
    }

    Result<Done> lengths(SqlType& type, std::string_view name) {
        if (type.kind == Kind::decimal) return digits(type, name);
        if (!take('(')) return Done{};
        TRY_ASSIGN(length, number(name));
        if (!take(')')) return no_type("the brackets of " + in_quotes(name) + " do not end");
        if (type.kind == Kind::timestamp || type.kind == Kind::timestamptz) {
            if (length == 6) return Done{};
            return no_type("timestamps of tables have microseconds", "use " + to_string(type));
        }
        if (equal_ignoring_case(name, "FLOAT")) {
            // As SQL has it: the bits of the mantissa.
            if (length < 1 || length > 53) return no_type("FLOAT has 1 to 53 bits");
            type.kind = length <= 24 ? Kind::real : Kind::double_precision;
            return Done{};
        }
        return no_type("tables keep no length of " + in_quotes(name), "use " + to_string(type));
    }

    Result<Done> digits(SqlType& type, std::string_view name) {
        unsigned precision = kPrecisionUsual;
        unsigned scale = kScaleUsual;
        if (take('(')) {
            TRY_ASSIGN(first, number(name));
            precision = first;
            scale = 0;
            if (take(',')) {
                TRY_ASSIGN(second, number(name));
                scale = second;
            }
            if (!take(')')) return no_type("the brackets of " + in_quotes(name) + " do not end");
        }
        if (precision < 1 || precision > kPrecisionMax) {
            return no_type("DECIMAL has 1 to 38 digits");
        }
        if (scale > precision) {
            return no_type("DECIMAL cannot have more digits behind the point than in all");
        }
        type.precision = static_cast<std::uint8_t>(precision);
        type.scale = static_cast<std::uint8_t>(scale);
        return Done{};
    }

    Result<std::string> field_name() {
        if (!take('"')) {
            const std::string_view word = peek_word();
            if (word.empty()) return no_type("a field of STRUCT needs a name");
            at_ += word.size();
            return std::string(word);
        }
        std::string name;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            at_ += 1;
            const bool doubled = c == '"' && at_ < text_.size() && text_[at_] == '"';
            if (doubled) at_ += 1;
            if (c == '"' && !doubled) {
                if (name.empty()) return no_type("a field of STRUCT needs a name");
                return name;
            }
            name += c;
        }
        return no_type("a quoted name in STRUCT does not end");
    }

    Result<Done> fields(SqlType& type, std::size_t depth) {
        if (!take('(')) {
            return no_type("STRUCT needs its fields", "such as STRUCT(a INTEGER, b VARCHAR)");
        }
        do {
            TRY_ASSIGN(name, field_name());
            const bool twice = std::any_of(
                type.parts.begin(), type.parts.end(),
                [&](const SqlField& field) { return equal_ignoring_case(field.name, name); });
            if (twice) return no_type("STRUCT has " + in_quotes(name) + " twice");
            if (type.parts.size() >= kPartsMax) return no_type("STRUCT has too many fields");
            TRY_ASSIGN(part, any(depth + 1));
            type.parts.push_back({.name = std::move(name), .type = std::move(part)});
        } while (take(','));
        if (!take(')')) return no_type("the fields of STRUCT do not end");
        return Done{};
    }

    Result<SqlType> lists(SqlType type, std::size_t depth) {
        while (take('[')) {
            depth += 1;
            if (depth > kDepthMax) return no_type("a type is nested too deep");
            if (!take(']')) {
                return no_type("lists of tables have any length", "use " + to_string(type) + "[]");
            }
            SqlType list{.kind = Kind::list};
            list.parts.push_back({.type = std::move(type)});
            type = std::move(list);
        }
        return type;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::string parts_text(const SqlType& type) {
    std::string text;
    for (const SqlField& part : type.parts) {
        if (!text.empty()) text += ", ";
        if (!part.name.empty()) {
            text += (is_plain_name(part.name) ? part.name : in_quotes(part.name)) + " ";
        }
        text += to_string(part.type);
    }
    return "(" + text + ")";
}

}  // namespace

std::string to_string(const SqlType& type) {
    if (type.kind == Kind::list) {
        return (type.parts.empty() ? "\"unknown\"" : to_string(type.parts.front().type)) + "[]";
    }
    if (type.kind == Kind::map) return "MAP" + parts_text(type);
    const auto name_in = [&](const auto& names) -> std::string {
        const auto found = std::find_if(names.begin(), names.end(), [&](const TypeName& name) {
            return name.kind == type.kind;
        });
        return found == names.end() ? std::string() : std::string(found->name);
    };
    std::string text = name_in(kTableTypes);
    if (text.empty()) text = name_in(kAnswerTypes);
    if (type.kind == Kind::decimal) {
        text += "(" + std::to_string(type.precision) + "," + std::to_string(type.scale) + ")";
    }
    if (type.kind == Kind::structure) text += parts_text(type);
    return text;
}

Result<SqlType> table_type_of(std::string_view text) {
    if (text.size() > kTextMax) return no_type("the type is too long");
    return TypeReader(text).document();
}

Result<Done> validate(const SqlColumns& columns, std::string_view of_what) {
    constexpr std::size_t kColumnsMax = 1'600;  // and of what is parsed: sql::Limits
    constexpr std::size_t kNameMax = 255;
    const auto refuse = [&](const std::string& why) {
        return Error{.code = ErrorCode::schema,
                     .message = "invalid columns of " + std::string(of_what) + ": " + why};
    };
    if (columns.size() > kColumnsMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = std::string(of_what) + " has " + std::to_string(columns.size()) +
                                " columns; at most " + std::to_string(kColumnsMax) + " are allowed",
                     .hint = "spread them over several"};
    }
    std::set<std::string> seen;
    for (const SqlField& column : columns) {
        const std::string& name = column.name;
        if (name.empty()) return refuse("one has an empty name");
        if (name.size() > kNameMax) {
            return refuse("a name has " + std::to_string(name.size()) + " bytes; at most " +
                          std::to_string(kNameMax) + " are allowed");
        }
        const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
            return static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
        });
        if (!plain) return refuse("the name " + in_quotes(name) + " has a control character");
        if (!seen.insert(to_lower(name)).second) {
            return refuse("the name " + in_quotes(name) + " appears twice, in any case");
        }
    }
    return Done{};
}

SqlType table_type_of(DataType type) {
    switch (type) {
        case DataType::int8:
            return {.kind = Kind::tinyint};
        case DataType::int16:
        case DataType::uint8:
            return {.kind = Kind::smallint};
        case DataType::int32:
        case DataType::uint16:
            return {.kind = Kind::integer};
        case DataType::int64:
        case DataType::uint32:
            return {.kind = Kind::bigint};
        case DataType::uint64:
            return {.kind = Kind::decimal, .precision = 20, .scale = 0};
        case DataType::float32:
            return {.kind = Kind::real};
        case DataType::float64:
            return {.kind = Kind::double_precision};
        case DataType::boolean:
            return {.kind = Kind::boolean};
        case DataType::character:
        case DataType::varsized:
            return {.kind = Kind::varchar};
    }
    return {};
}

}  // namespace baton
