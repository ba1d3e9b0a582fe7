#include "sql/tokens.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sql/reserved_words.h"
#include "sql/utf8.h"

namespace baton::sql {

namespace {

constexpr std::size_t kShownMax = 40;  // bytes of a token in a message

// The beginning of the text, cut between characters.
std::string shortened(std::string_view text) {
    if (text.size() <= kShownMax) return std::string(text);
    std::size_t end = 0;
    while (end < kShownMax) {
        const std::size_t length = character_length(text, end);
        if (length == 0) break;
        end += length;
    }
    return std::string(text.substr(0, end)) + "...";
}

}  // namespace

void Tokens::restart(Position known, std::size_t offset) {
    lexer_.restart(known, offset);
    ahead_.clear();
    wanted_.clear();
}

const Token& Tokens::peek(std::size_t ahead) {
    while (ahead_.size() <= ahead) ahead_.push_back(lexer_.next());
    return ahead_[ahead];
}

Token Tokens::take() {
    (void)peek();
    Token token = std::move(ahead_.front());
    ahead_.pop_front();
    wanted_.clear();
    return token;
}

bool Tokens::sees(std::string_view word, std::size_t ahead) {
    const Token& token = peek(ahead);
    return token.kind == TokenKind::word && token.text == word;
}

bool Tokens::sees(Symbol symbol, std::size_t ahead) {
    const Token& token = peek(ahead);
    return token.kind == TokenKind::symbol && token.symbol == symbol;
}

bool Tokens::sees_name(std::size_t ahead) {
    const Token& token = peek(ahead);
    if (token.kind == TokenKind::quoted_name) return true;
    return token.kind == TokenKind::word && !is_reserved(token.text);
}

void Tokens::want(Wanted wanted) {
    const auto same = [&](const Wanted& other) { return other.text == wanted.text; };
    if (std::none_of(wanted_.begin(), wanted_.end(), same)) wanted_.push_back(wanted);
}

bool Tokens::at(std::string_view word) {
    if (sees(word)) return true;
    want({word, Wanted::Kind::word});
    return false;
}

bool Tokens::at(Symbol symbol) {
    if (sees(symbol)) return true;
    want({to_string(symbol), Wanted::Kind::symbol});
    return false;
}

bool Tokens::accept(std::string_view word) {
    if (!at(word)) return false;
    take();
    return true;
}

bool Tokens::accept(Symbol symbol) {
    if (!at(symbol)) return false;
    take();
    return true;
}

bool Tokens::accept_unlisted(std::string_view word) {
    if (!sees(word)) {
        want({word, Wanted::Kind::unlisted_word});
        return false;
    }
    take();
    return true;
}

bool Tokens::accept_unlisted(Symbol symbol) {
    if (!sees(symbol)) return false;
    take();
    return true;
}

Result<Done> Tokens::expect(std::string_view word) {
    if (!accept(word)) return unexpected();
    return Done{};
}

Result<Done> Tokens::expect(Symbol symbol) {
    if (!accept(symbol)) return unexpected();
    return Done{};
}

void Tokens::note(std::string_view what) {
    want({what, Wanted::Kind::description});
}

Result<std::string> Tokens::name(std::string_view what) {
    if (sees_name()) return take().text;
    note(what);
    Error error = unexpected();
    if (!error.hint.empty()) return error;
    const Token& token = peek();
    if (token.kind == TokenKind::word && is_reserved(token.text)) {
        error.hint = "as a name it is written in double quotes, " + in_quotes(token.text);
    } else if (token.kind == TokenKind::string) {
        error.hint = "names are plain or in double quotes";
    }
    return error;
}

Result<std::string> Tokens::name_or_string(std::string_view what) {
    if (peek().kind != TokenKind::string) return name(what);
    if (peek().text.empty()) return refused("a name cannot be empty");
    if (peek().text.size() > kNameBytesMax) return name_too_long(peek().text.size());
    return take().text;
}

std::string Tokens::found() {
    const Token& token = peek();
    switch (token.kind) {
        case TokenKind::end:
            return "the end of the text";
        case TokenKind::string:
            return "a string";  // which may be a secret
        case TokenKind::quoted_name:
            return in_quotes(shortened(token.text));
        case TokenKind::word:
        case TokenKind::integer:
        case TokenKind::decimal:
        case TokenKind::parameter:
        case TokenKind::symbol:
        case TokenKind::invalid:
            break;
    }
    return in_quotes(shortened(text_.substr(token.at.offset, token.length)));
}

std::string Tokens::wanted_list() const {
    std::vector<std::string> items;
    for (const Wanted& wanted : wanted_) {
        if (wanted.kind == Wanted::Kind::unlisted_word) continue;
        const bool symbol = wanted.kind == Wanted::Kind::symbol;
        items.push_back(symbol ? in_quotes(wanted.text) : std::string(wanted.text));
    }
    std::string list;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) list += i + 1 < items.size() ? ", " : " or ";
        list += items[i];
    }
    return list;
}

// What to do about a word that does not belong here.
std::string Tokens::advice() {
    const Token& token = peek();
    std::vector<std::string> words;
    for (const Wanted& wanted : wanted_) {
        const bool word =
            wanted.kind == Wanted::Kind::word || wanted.kind == Wanted::Kind::unlisted_word;
        if (word) words.emplace_back(wanted.text);
    }
    if (token.kind == TokenKind::word) {
        if (std::string hint = did_you_mean(token.text, words); !hint.empty()) return hint;
    }
    const bool as_possible = std::find(words.begin(), words.end(), "AS") != words.end();
    if (as_possible && sees_name()) return "a name given here needs AS before it";
    return {};
}

Error Tokens::fails(ErrorCode code, std::string message, std::string hint) {
    if (peek().kind == TokenKind::invalid) return lexer_.error();
    return {.code = code, .message = std::move(message), .at = peek().at, .hint = std::move(hint)};
}

Error Tokens::unexpected() {
    const Token& token = peek();
    if (token.kind == TokenKind::word) {
        if (const Unsupported* clause = unsupported_clause(token.text)) {
            return not_supported(clause->name, clause->instead);
        }
    }
    return fails(ErrorCode::syntax, "expected " + wanted_list() + ", found " + found(), advice());
}

Error Tokens::unexpected_word(std::string_view what, std::span<const std::string> known) {
    note(what);
    Error error = unexpected();
    const Token& token = peek();
    if (error.hint.empty() && token.kind == TokenKind::word) {
        error.hint = did_you_mean(token.text, known);
    }
    return error;
}

Error Tokens::name_too_long(std::size_t bytes) {
    return fails(ErrorCode::too_large,
                 "the name has " + std::to_string(bytes) + " bytes; at most " +
                     std::to_string(kNameBytesMax) + " are allowed",
                 "choose a shorter name");
}

Error Tokens::refused(std::string message, std::string hint) {
    return fails(ErrorCode::syntax, std::move(message), std::move(hint));
}

Error Tokens::not_supported(std::string_view what, std::string_view instead) {
    return fails(ErrorCode::not_supported, std::string(what) + " is not supported",
                 std::string(instead));
}

}  // namespace baton::sql
