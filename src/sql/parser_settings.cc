// Settings, schemas, types and literals.
#include <array>
#include <limits>

#include "base/text.h"
#include "sql/grammar.h"

namespace baton::sql {

namespace {

constexpr std::uint64_t kNegativeMax = std::uint64_t{1} << 63U;  // without its sign

struct IntegerWord {
    std::string_view word;
    DataType with_sign;
    DataType without_sign;
};

constexpr std::array kIntegerWords = {
    IntegerWord{"TINYINT", DataType::int8, DataType::uint8},
    IntegerWord{"SMALLINT", DataType::int16, DataType::uint16},
    IntegerWord{"INT", DataType::int32, DataType::uint32},
    IntegerWord{"INTEGER", DataType::int32, DataType::uint32},
    IntegerWord{"BIGINT", DataType::int64, DataType::uint64},
};

const IntegerWord* integer_word(const Token& token) {
    if (token.kind != TokenKind::word) return nullptr;
    for (const IntegerWord& known : kIntegerWords) {
        if (token.text == known.word) return &known;
    }
    return nullptr;
}

// What other dialects call our types.
constexpr std::array kForeignTypes = {
    std::pair<std::string_view, std::string_view>{"TEXT", "VARSIZED"},
    std::pair<std::string_view, std::string_view>{"VARCHAR", "VARSIZED"},
    std::pair<std::string_view, std::string_view>{"STRING", "VARSIZED"},
    std::pair<std::string_view, std::string_view>{"CHARACTER", "CHAR"},
    std::pair<std::string_view, std::string_view>{"DOUBLE", "FLOAT64"},
    std::pair<std::string_view, std::string_view>{"FLOAT", "FLOAT32"},
    std::pair<std::string_view, std::string_view>{"REAL", "FLOAT32"},
    std::pair<std::string_view, std::string_view>{"BOOL", "BOOLEAN"},
    std::pair<std::string_view, std::string_view>{"TIMESTAMP", "UINT64"},
};

std::vector<std::string> type_words() {
    std::vector<std::string> words;
    words.reserve(all_data_types().size() + kIntegerWords.size());
    for (const DataType type : all_data_types()) words.emplace_back(to_string(type));
    for (const IntegerWord& known : kIntegerWords) words.emplace_back(known.word);
    return words;
}

}  // namespace

Result<std::vector<Setting>> Grammar::settings_clause() {
    if (!tokens_.accept("SET")) return std::vector<Setting>();
    TRY(tokens_.expect(Symbol::open));
    std::vector<Setting> settings;
    do {
        TRY(read_setting(settings.emplace_back()));
    } while (tokens_.accept(Symbol::comma));
    TRY(tokens_.expect(Symbol::close));
    return settings;
}

// The rest of an inline source or sink, behind its opening parenthesis; it may be empty.
Result<std::vector<Setting>> Grammar::settings_until_close() {
    std::vector<Setting> settings;
    if (tokens_.accept(Symbol::close)) return settings;
    do {
        TRY(read_setting(settings.emplace_back()));
    } while (tokens_.accept(Symbol::comma));
    TRY(tokens_.expect(Symbol::close));
    return settings;
}

Result<Done> Grammar::read_setting(Setting& setting) {
    setting.at = tokens_.peek().at;
    TRY(one_more_part());
    if (tokens_.sees("SCHEMA") && tokens_.sees(Symbol::open, 1)) {
        tokens_.take();
        TRY_ASSIGN(columns, schema(Qualified::no));
        setting.value = std::move(columns);
    } else {
        TRY_ASSIGN(value, literal());
        setting.value = std::move(value);
    }
    TRY(tokens_.expect("AS"));
    do {
        TRY(one_more_part());
        TRY_ASSIGN(part, tokens_.name("the key of a setting"));
        setting.key.push_back(std::move(part));
    } while (tokens_.accept_unlisted(Symbol::dot));
    return Done{};
}

Result<Schema> Grammar::schema(Qualified qualified) {
    TRY(tokens_.expect(Symbol::open));
    Schema schema;
    do {
        TRY(one_more_column(schema.columns.size() + 1));
        TRY_ASSIGN(next, column(qualified));
        schema.columns.push_back(std::move(next));
    } while (tokens_.accept(Symbol::comma));
    TRY(tokens_.expect(Symbol::close));
    return schema;
}

// NAME, or RELATION.NAME where a sink says which of two columns it means.
Result<Column> Grammar::column(Qualified qualified) {
    TRY_ASSIGN(name, tokens_.name("the name of a column"));
    if (tokens_.sees(Symbol::dot)) {
        if (qualified == Qualified::no) {
            return tokens_.not_supported("a qualified column in the schema of a source",
                                         "write its name alone");
        }
        tokens_.take();
        TRY_ASSIGN(last, tokens_.name("the name of a column"));
        name += "." + last;
        if (name.size() > kNameBytesMax) return tokens_.name_too_long(name.size());
    }
    TRY_ASSIGN(type, data_type());
    bool nullable = true;
    if (tokens_.accept("NOT")) {
        TRY(tokens_.expect("NULL"));
        nullable = false;
    } else if (tokens_.sees("NULL")) {
        return tokens_.refused("a column is nullable unless it is NOT NULL", "leave out NULL");
    }
    return Column{.name = std::move(name), .type = type, .nullable = nullable};
}

std::optional<std::pair<DataType, std::size_t>> Grammar::data_type_ahead() {
    const Token& first = tokens_.peek();
    if (first.kind != TokenKind::word) return std::nullopt;
    if (const IntegerWord* known = integer_word(first)) {
        if (tokens_.sees("UNSIGNED", 1)) return std::pair{known->without_sign, std::size_t{2}};
        return std::pair{known->with_sign, std::size_t{1}};
    }
    if (first.text == "UNSIGNED") {
        const IntegerWord* known = integer_word(tokens_.peek(1));
        if (known == nullptr) return std::nullopt;
        return std::pair{known->without_sign, std::size_t{2}};
    }
    const std::optional<DataType> type = data_type_of(first.text);
    if (!type) return std::nullopt;
    return std::pair{*type, std::size_t{1}};
}

Result<DataType> Grammar::data_type() {
    const auto found = data_type_ahead();
    if (!found) return unknown_data_type();
    for (std::size_t i = 0; i < found->second; ++i) tokens_.take();
    if (tokens_.sees("UNSIGNED")) {
        return tokens_.refused("UNSIGNED stands with TINYINT, SMALLINT, INT and BIGINT only",
                               "write UINT8, UINT16, UINT32 or UINT64");
    }
    if (tokens_.sees(Symbol::open)) {
        return tokens_.not_supported("the length of a type", "text of any length is VARSIZED");
    }
    return found->first;
}

Error Grammar::unknown_data_type() {
    if (tokens_.sees("UNSIGNED")) {
        tokens_.take();
        tokens_.note("TINYINT, SMALLINT, INT or BIGINT");
        return tokens_.unexpected();
    }
    const std::vector<std::string> words = type_words();
    Error error = tokens_.unexpected_word("a type", words);
    const Token& token = tokens_.peek();
    if (token.kind != TokenKind::word || error.code != ErrorCode::syntax) return error;
    for (const auto& [foreign, ours] : kForeignTypes) {
        if (token.text == foreign) error.hint = "write " + std::string(ours);
    }
    if (error.hint.empty()) error.hint = "the types are " + baton::join(words, ", ");
    return error;
}

bool Grammar::sees_literal() {
    const Token& token = tokens_.peek();
    const TokenKind kind = token.kind;
    if (kind == TokenKind::string || kind == TokenKind::integer || kind == TokenKind::decimal ||
        kind == TokenKind::parameter) {
        return true;
    }
    if (tokens_.sees("NULL") || tokens_.sees("TRUE") || tokens_.sees("FALSE")) return true;
    if (!tokens_.sees(Symbol::minus)) return false;
    const TokenKind after = tokens_.peek(1).kind;
    return after == TokenKind::integer || after == TokenKind::decimal;
}

Result<Literal> Grammar::literal() {
    if (!sees_literal()) {
        tokens_.note("a constant");
        Error error = tokens_.unexpected();
        if (tokens_.peek().kind == TokenKind::quoted_name && error.hint.empty()) {
            error.hint = "a string is written in single quotes";
        }
        return error;
    }
    if (tokens_.sees(Symbol::minus)) return number_literal();
    if (tokens_.peek().kind == TokenKind::string) return Literal(tokens_.take().text);
    if (tokens_.peek().kind == TokenKind::parameter) {
        const std::uint64_t number = tokens_.peek().integer;
        if (number > parameters_.size()) {
            return tokens_.refused("parameter $" + std::to_string(number) + " has no value");
        }
        const Literal& parameter = parameters_[number - 1];
        if (const auto* text = std::get_if<std::string>(&parameter)) {
            parameter_bytes_ += text->size();
        }
        if (parameter_bytes_ > limits_.parameter_bytes_max) {
            return tokens_.fails(ErrorCode::too_large,
                                 "the parameters have more than " +
                                     std::to_string(limits_.parameter_bytes_max >> 20U) +
                                     " MB, each counted where it is used",
                                 "send the statements in several requests");
        }
        tokens_.take();
        return parameter;
    }
    if (tokens_.peek().kind != TokenKind::word) return number_literal();
    const std::string word = tokens_.take().text;
    if (word == "NULL") return Literal(Null{});
    return Literal(word == "TRUE");
}

// A minus before the number is part of it.
Result<Literal> Grammar::number_literal() {
    const bool negative = tokens_.sees(Symbol::minus);
    const Token& number = tokens_.peek(negative ? 1 : 0);
    if (negative && number.kind == TokenKind::integer && number.integer > kNegativeMax) {
        return tokens_.refused("the number is too small", "the smallest is -9223372036854775808");
    }
    if (negative) tokens_.take();
    const Token token = tokens_.take();
    if (token.kind == TokenKind::decimal) return Literal(negative ? -token.decimal : token.decimal);
    return Literal(Integer{.negative = negative && token.integer != 0, .magnitude = token.integer});
}

}  // namespace baton::sql
