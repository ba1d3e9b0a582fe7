// Tokens is what the grammar reads: the tokens of a text with a little view ahead, and the memory
// of what would have been right at the present one, from which the error messages are made.
//
// at(), accept() and note() remember what was asked for at the present token until it is passed;
// sees() looks without remembering. An error therefore names exactly what the grammar tried.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/lexer.h"

namespace baton::sql {

class Tokens {
public:
    explicit Tokens(std::string_view text) : text_(text), lexer_(text) {}

    [[nodiscard]] std::string_view text() const { return text_; }
    // The token at or behind `offset` becomes present; `known` is a place before it.
    void restart(Position known, std::size_t offset);

    [[nodiscard]] const Token& peek(std::size_t ahead = 0);
    Token take();  // the present token; the next one becomes present

    [[nodiscard]] bool sees(std::string_view word, std::size_t ahead = 0);
    [[nodiscard]] bool sees(Symbol symbol, std::size_t ahead = 0);
    [[nodiscard]] bool sees_name(std::size_t ahead = 0);  // quoted, or a word not reserved

    // `word` is in upper case and outlives the Tokens: a literal.
    [[nodiscard]] bool at(std::string_view word);
    [[nodiscard]] bool at(Symbol symbol);
    bool accept(std::string_view word);
    bool accept(Symbol symbol);
    // The same for what goes without saying: an error does not list it.
    bool accept_unlisted(std::string_view word);
    bool accept_unlisted(Symbol symbol);
    Result<Done> expect(std::string_view word);
    Result<Done> expect(Symbol symbol);
    // Something else that would be right here, in words: "a name". A literal.
    void note(std::string_view what);

    // A name of `what`: a word that is not reserved, or quoted.
    Result<std::string> name(std::string_view what);
    // The same, or a 'string'.
    Result<std::string> name_or_string(std::string_view what);

    // The present token is none of those that were asked for.
    [[nodiscard]] Error unexpected();
    // The same where one of many known words was expected, together called `what`.
    [[nodiscard]] Error unexpected_word(std::string_view what, std::span<const std::string> known);
    // A name that is a string, or is made of several.
    [[nodiscard]] Error name_too_long(std::size_t bytes);
    // The present token, or what begins with it, is refused for a reason of its own.
    [[nodiscard]] Error refused(std::string message, std::string hint = {});
    [[nodiscard]] Error not_supported(std::string_view what, std::string_view instead);
    [[nodiscard]] Error fails(ErrorCode code, std::string message, std::string hint);

private:
    struct Wanted {
        std::string_view text;
        enum class Kind : std::uint8_t { word, unlisted_word, symbol, description } kind;
    };

    void want(Wanted wanted);
    [[nodiscard]] std::string found();
    [[nodiscard]] std::string wanted_list() const;
    [[nodiscard]] std::string advice();

    std::string_view text_;
    Lexer lexer_;
    std::deque<Token> ahead_;     // the present token first
    std::vector<Wanted> wanted_;  // at the present token, in the order asked
};

}  // namespace baton::sql
