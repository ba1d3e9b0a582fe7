#include "sql/lexer.h"

#include <vector>

#include <gtest/gtest.h>

namespace baton::sql {
namespace {

std::vector<Token> tokens_of(std::string_view text) {
    Lexer lexer(text);
    std::vector<Token> tokens;
    do {
        tokens.push_back(lexer.next());
    } while (tokens.back().kind != TokenKind::end && tokens.back().kind != TokenKind::invalid);
    return tokens;
}

Token only_token(std::string_view text) {
    const std::vector<Token> tokens = tokens_of(text);
    EXPECT_EQ(tokens.size(), 2U) << text;
    EXPECT_EQ(tokens.back().kind, TokenKind::end) << text;
    return tokens.front();
}

std::string text_of(std::string_view text, TokenKind kind) {
    const Token token = only_token(text);
    EXPECT_EQ(token.kind, kind) << text;
    return token.text;
}

Error error_of(std::string_view text) {
    Lexer lexer(text);
    while (true) {
        const Token token = lexer.next();
        EXPECT_NE(token.kind, TokenKind::end) << text;
        if (token.kind == TokenKind::end || token.kind == TokenKind::invalid) break;
    }
    EXPECT_EQ(lexer.next().kind, TokenKind::invalid) << "an invalid token is the last one";
    return lexer.error();
}

TEST(Lexer, FoldsUnquotedWordsToUpperCase) {
    EXPECT_EQ(text_of("heArt_Rate2", TokenKind::word), "HEART_RATE2");
    EXPECT_EQ(text_of("_x", TokenKind::word), "_X");
}

TEST(Lexer, KeepsQuotedNamesExactly) {
    EXPECT_EQ(text_of("\"heArt Rate\"", TokenKind::quoted_name), "heArt Rate");
    EXPECT_EQ(text_of("`heArt Rate`", TokenKind::quoted_name), "heArt Rate");
    EXPECT_EQ(text_of("\"a\"\"b`c\"", TokenKind::quoted_name), "a\"b`c");
    EXPECT_EQ(text_of("`a``b\"c`", TokenKind::quoted_name), "a`b\"c");
    EXPECT_EQ(text_of("\"\u00fc\n\"", TokenKind::quoted_name), "\u00fc\n");
}

TEST(Lexer, DecodesOnlyQuotesAndBackslashesInStrings) {
    EXPECT_EQ(text_of("''", TokenKind::string), "");
    EXPECT_EQ(text_of("'it''s'", TokenKind::string), "it's");
    EXPECT_EQ(text_of(R"('it\'s')", TokenKind::string), "it's");
    EXPECT_EQ(text_of(R"('a\\b')", TokenKind::string), R"(a\b)");
    EXPECT_EQ(text_of(R"('a\nb\t\x')", TokenKind::string), R"(a\nb\t\x)");
    EXPECT_EQ(text_of(R"('\\n')", TokenKind::string), R"(\n)");
    EXPECT_EQ(text_of("'\\\u00fc'", TokenKind::string), "\\\u00fc");
    EXPECT_EQ(text_of("'a\"b`c--d/*e'", TokenKind::string), "a\"b`c--d/*e");
}

TEST(Lexer, ReadsIntegersUpToTheLargestUnsigned) {
    EXPECT_EQ(only_token("0").integer, 0U);
    EXPECT_EQ(only_token("0042").integer, 42U);
    EXPECT_EQ(only_token("18446744073709551615").integer, 18446744073709551615U);
    EXPECT_EQ(error_of("18446744073709551616").code, ErrorCode::syntax);
}

TEST(Lexer, ReadsDecimals) {
    const std::vector<std::pair<std::string_view, double>> cases = {
        {"1.5", 1.5}, {".5", 0.5},        {"1.", 1.0},      {"1E3", 1000.0},
        {"1e3", 1e3}, {"1.5e-3", 1.5e-3}, {"2.E+2", 200.0}, {"1e308", 1e308}};
    for (const auto& [text, value] : cases) {
        const Token token = only_token(text);
        EXPECT_EQ(token.kind, TokenKind::decimal) << text;
        EXPECT_EQ(token.decimal, value) << text;
    }
    EXPECT_EQ(error_of("1e309").message, "the number is out of range");
}

TEST(Lexer, RefusesLettersDirectlyAfterANumber) {
    EXPECT_EQ(error_of("12ab").message, "\"12ab\" is neither a number nor a name");
    EXPECT_EQ(error_of("1e+").message, "\"1e\" is neither a number nor a name");
}

TEST(Lexer, TakesTheLongestOperator) {
    std::vector<Symbol> symbols;
    for (const Token& token : tokens_of("= == != <> < <= > >= + - * / % ( ) , . ;")) {
        if (token.kind == TokenKind::symbol) symbols.push_back(token.symbol);
    }
    using enum Symbol;
    EXPECT_EQ(symbols, (std::vector<Symbol>{eq, eq, ne, ne, lt, le, gt, ge, plus, minus, star,
                                            slash, percent, open, close, comma, dot, semicolon}));
}

TEST(Lexer, SkipsCommentsWhichNest) {
    EXPECT_EQ(text_of("/* a /* b */ ' */ x -- y", TokenKind::word), "X");
    EXPECT_EQ(text_of("--\n--'\n/**/x", TokenKind::word), "X");
    EXPECT_EQ(tokens_of("a--b").size(), 2U);
    EXPECT_EQ(tokens_of("").size(), 1U);
}

TEST(Lexer, CountsLinesAndColumnsFromOneInBytes) {
    const std::vector<Token> tokens = tokens_of("a '\u00fc\n' b\n  c");
    ASSERT_EQ(tokens.size(), 5U);
    EXPECT_EQ(tokens[0].at.line, 1U);
    EXPECT_EQ(tokens[0].at.column, 1U);
    EXPECT_EQ(tokens[1].at.column, 3U);
    EXPECT_EQ(tokens[2].at.line, 2U);
    EXPECT_EQ(tokens[2].at.column, 3U);
    EXPECT_EQ(tokens[3].at.line, 3U);
    EXPECT_EQ(tokens[3].at.column, 3U);
    EXPECT_EQ(tokens[3].at.offset, 12U);
    EXPECT_EQ(tokens[3].length, 1U);
}

TEST(Lexer, SaysWhereWhatHasNoEndBegan) {
    EXPECT_EQ(to_string(error_of("a\n 'b")), "error 2000 at 2:2: the string has no end");
    EXPECT_EQ(to_string(error_of("a \"b")), "error 2000 at 1:3: the quoted name has no end");
    EXPECT_EQ(error_of("a /* /* */").message, "the comment has no end");
    EXPECT_EQ(error_of("a /* /* */").at->column, 3U);
}

TEST(Lexer, RefusesTextThatIsNotUtf8) {
    for (const std::string_view bad :
         {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
        const std::string text(bad);
        EXPECT_EQ(error_of("'a" + text + "'").message, "invalid UTF-8");
        EXPECT_EQ(error_of("\"a" + text + "\"").message, "invalid UTF-8");
        EXPECT_EQ(error_of("--a" + text + "\n").message, "invalid UTF-8");
        EXPECT_EQ(error_of("/*a" + text + "*/").message, "invalid UTF-8");
        EXPECT_EQ(error_of("a " + text).message, "invalid UTF-8");
    }
    EXPECT_EQ(text_of("'\xf4\x8f\xbf\xbf\xed\x9f\xbf'", TokenKind::string).size(), 7U);
}

TEST(Lexer, AnEBeforeAStringSaysThatBackslashesAreDoubled) {
    EXPECT_EQ(text_of(R"(E'a\\b')", TokenKind::string), R"(a\b)");
    EXPECT_EQ(text_of(R"(e'it''s')", TokenKind::string), "it's");
    EXPECT_EQ(text_of(R"(E'')", TokenKind::string), "");
    EXPECT_EQ(tokens_of(R"(E'a\nb')").front().kind, TokenKind::word) << "another escape";
    EXPECT_EQ(tokens_of("E 'a'").front().kind, TokenKind::word);
    EXPECT_EQ(tokens_of("E'a").front().kind, TokenKind::word);
    EXPECT_EQ(tokens_of(R"(x = E'\'' y)").size(), 5U);
}

TEST(Lexer, RefusesZeroBytesAndControlCharacters) {
    using std::string_literals::operator""s;
    EXPECT_EQ(error_of("'a\0'"s).message, "unexpected zero byte");
    EXPECT_EQ(error_of("a \0"s).message, "unexpected control character 0");
    EXPECT_EQ(error_of("a \x7f").message, "unexpected control character 127");
}

TEST(Lexer, NamesOperatorsOfOtherDialects) {
    EXPECT_EQ(error_of("a || b").code, ErrorCode::not_supported);
    EXPECT_EQ(error_of("a | b").code, ErrorCode::syntax);
}

}  // namespace
}  // namespace baton::sql
