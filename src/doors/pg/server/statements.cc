#include "doors/pg/server/statements.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "base/text.h"
#include "doors/pg/server/calculations.h"
#include "doors/pg/server/cursor_statements.h"
#include "sql/vocabulary.h"

namespace baton::pgserver {

using pg::Token;
using pg::TokenKind;

namespace {

using Tokens = std::span<const Token>;

constexpr std::size_t kTextBytesMax = std::size_t{1} << 20U;
constexpr std::ptrdiff_t kSemicolonsMax = 10'000;

pgwire::Report not_supported(std::string message, std::string hint = {}) {
    return {.sqlstate = "0A000", .message = std::move(message), .hint = std::move(hint)};
}

// Beyond its end there are tokens that are nothing.
const Token& at(Tokens tokens, std::size_t i) {
    static const Token kNothing;
    return i < tokens.size() ? tokens[i] : kNothing;
}

// Whether it is a word of our dialect, which is in upper case.
bool is_word(const Token& token, std::string_view word) {
    return token.is(pg::to_lower(word));
}

// ---- SET, SHOW and their like -------------------------------------------------------------------

// From the token on: a list of words, numbers and strings, as PostgreSQL would show it.
std::optional<std::string> value_from(Tokens tokens, std::size_t from) {
    std::string value;
    for (std::size_t i = from; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        if (token.is(",")) {
            value += ", ";
        } else {
            value += token.text;
        }
    }
    if (tokens.size() == from + 1 && tokens[from].is("default")) return std::nullopt;
    return value;
}

// The name of a parameter: one word, or two with a dot.
std::string name_from(Tokens tokens, std::size_t& i) {
    std::string name = pg::to_lower(at(tokens, i++).text);
    while (at(tokens, i).is(".")) {
        name += "." + pg::to_lower(at(tokens, i + 1).text);
        i += 2;
    }
    return name;
}

Answerer set_statement(Tokens tokens) {
    std::size_t i = 1;
    if (at(tokens, i).is("local") || (at(tokens, i).is("session") && at(tokens, i + 1).names() &&
                                      !at(tokens, i + 1).is("authorization"))) {
        i += 1;
    }
    if (at(tokens, i).is("time") && at(tokens, i + 1).is("zone")) {
        return SetParameter{.name = "timezone", .value = value_from(tokens, i + 2), .tag = "SET"};
    }
    // Ours are what they are; what else clients ask for would be weaker.
    if (at(tokens, i).is("transaction") || at(tokens, i).is("characteristics")) {
        return Forget{.tag = "SET"};
    }
    if (at(tokens, i).is_any({"role", "authorization"}) || at(tokens, i + 1).is("authorization")) {
        return Refuse{not_supported("another role cannot be taken on", "connect as that user")};
    }
    if (at(tokens, i).is("names")) {
        return SetParameter{
            .name = "client_encoding", .value = value_from(tokens, i + 1), .tag = "SET"};
    }
    const std::string name = name_from(tokens, i);
    if (!at(tokens, i).is_any({"=", "to"}) || i + 1 >= tokens.size()) {
        return Refuse{{.sqlstate = "42601",
                       .message = "SET needs a name and a value",
                       .hint = "write SET name = value"}};
    }
    return SetParameter{.name = name, .value = value_from(tokens, i + 1), .tag = "SET"};
}

// SOURCES alone is nothing, but the session says what to write instead.
bool is_shown_by_session(const Token& token) {
    return token.is("sources") ||
           std::any_of(sql::kShown.begin(), sql::kShown.end(), [&](const sql::Shown& shown) {
               return is_word(token, sql::first_word(shown.words));
           });
}

Answerer show_statement(Tokens tokens) {
    if (tokens.size() < 2 || is_shown_by_session(tokens[1])) return ForSession{};
    std::size_t i = 1;
    if (tokens[1].is("time") && at(tokens, 2).is("zone")) return ShowParameter{"timezone"};
    if (tokens[1].is("transaction") && at(tokens, 2).is("isolation")) {
        return ShowParameter{"transaction_isolation"};
    }
    const std::string name = name_from(tokens, i);
    if (i < tokens.size()) return ForSession{};  // which says what it knows
    return ShowParameter{name};
}

// ---- SELECT -------------------------------------------------------------------------------------

// Whether PostgreSQL's catalog is meant: by a name of it, or because nothing is selected from.
bool asks_catalog(Tokens tokens) {
    bool selects_from = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].is("into")) return false;
        if (tokens[i].names() && equal_ignoring_case(tokens[i].text, "baton") &&
            at(tokens, i + 1).is(".")) {
            return false;
        }
    }
    for (const Token& token : tokens) {
        if (token.is("from")) selects_from = true;
        const bool of_postgres = token.text == "information_schema" || token.text == "pg_catalog" ||
                                 token.text.starts_with("pg_");
        if (token.names() && of_postgres) return true;
    }
    return !selects_from;
}

// ---- which answers ------------------------------------------------------------------------------

// Whether it is one of PostgreSQL's about transactions, by all of its words: START QUERY is none.
bool is_about_transaction(Tokens tokens) {
    const Token& first = at(tokens, 0);
    const Token& second = at(tokens, 1);
    if (first.is("start")) return second.is("transaction");
    if (first.is("begin")) {
        return tokens.size() == 1 ||
               second.is_any({"work", "transaction", "isolation", "read", "deferrable", "not"});
    }
    if (first.is_any({"savepoint", "release"})) return second.names() && !second.is("lock");
    if (!first.is_any({"commit", "end", "rollback", "abort"})) return false;
    const Tokens rest = tokens.subspan(second.is_any({"work", "transaction"}) ? 2 : 1);
    if (rest.empty() || rest[0].is_any({"to", "prepared"})) return true;
    const std::size_t no = at(rest, 1).is("no") ? 1 : 0;
    return rest[0].is("and") && at(rest, 1 + no).is("chain") && rest.size() == 2 + no;
}

Answerer transaction_statement(Tokens tokens, std::string& text) {
    const Token& first = tokens[0];
    const auto has = [&](std::string_view word) {
        return std::any_of(tokens.begin(), tokens.end(),
                           [&](const Token& t) { return t.is(word); });
    };
    if (first.is_any({"begin", "start"})) {
        // How it is to be isolated: ours are isolated as well as can be.
        text = "BEGIN" + std::string(text.size() > 5 ? text.size() - 5 : 0, ' ');
        return ForSession{};
    }
    if (has("to") || has("savepoint") || first.is("release")) {
        return Refuse{
            not_supported("savepoints are not supported", "ROLLBACK ends the whole transaction")};
    }
    if (has("prepared") || first.is("prepare")) {
        return Refuse{not_supported("transactions in two phases are not supported")};
    }
    if (has("chain") && !has("no")) return Refuse{not_supported("AND CHAIN is not supported")};
    const bool commit = first.is_any({"commit", "end"});
    text = commit ? "COMMIT" : "ROLLBACK";
    return EndTransaction{.commit = commit};
}

Answerer answerer_of(Tokens tokens, std::string& text) {
    const Token& first = tokens[0];
    const Token& second = at(tokens, 1);
    if (first.is_any({"select", "values", "with", "table", "("})) {
        if (asks_catalog(tokens)) return ForCatalog{.calculates = calculates(tokens)};
        return ForSession{};
    }
    if (first.is("watch")) return ForSession{.watches = true};
    if (first.is("set")) return set_statement(tokens);
    if (first.is("show")) return show_statement(tokens);
    if (first.is("reset")) {
        if (second.is("all")) return Forget{.tag = "RESET", .parameters = true};
        std::size_t i = 1;
        if (second.is("time")) return SetParameter{.name = "timezone", .value = {}, .tag = "RESET"};
        return SetParameter{.name = name_from(tokens, i), .value = {}, .tag = "RESET"};
    }
    if (first.is("discard")) {
        return Forget{.tag = "DISCARD " + to_upper(second.text), .parameters = second.is("all")};
    }
    if (is_about_transaction(tokens)) return transaction_statement(tokens, text);
    if (first.is("deallocate")) return Forget{.tag = "DEALLOCATE"};
    if (first.is("unlisten")) return Forget{.tag = "UNLISTEN"};
    if (first.is_any({"listen", "notify"})) {
        return Refuse{
            not_supported("LISTEN and NOTIFY are not supported", "WATCH tells of every change")};
    }
    if (first.is_any({"prepare", "execute"})) {
        return Refuse{not_supported("PREPARE and EXECUTE are not supported as statements",
                                    "drivers prepare with the extended protocol")};
    }
    if (first.is_any({"fetch", "move", "close"})) return cursor_statement(tokens);
    return ForSession{};
}

// ---- COPY ---------------------------------------------------------------------------------------

std::size_t closing(Tokens tokens, std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t i = open; i < tokens.size(); ++i) {
        if (tokens[i].is("(")) depth += 1;
        if (tokens[i].is(")") && --depth == 0) return i;
    }
    return tokens.size();
}

std::optional<pgwire::Report> read_copy_options(Tokens options, CopyFormat& format) {
    const auto refused = [](const Token& token) {
        return not_supported("unknown option " + in_quotes(token.text) + " of COPY",
                             "there are FORMAT csv, text or binary, HEADER, DELIMITER, NULL, "
                             "QUOTE and ESCAPE");
    };
    bool own_delimiter = false;
    bool own_null = false;
    bool own_escape = false;
    for (std::size_t i = 0; i < options.size(); ++i) {
        const Token& token = options[i];
        const Token& next = at(options, i + 1);
        if (token.is_any({"(", ")", ",", "with", "format", "as"})) continue;
        const bool sets_one = (token.is("quote") || token.is("escape")) && next.text.size() == 1 &&
                              next.kind == TokenKind::string;
        if (sets_one) {
            (token.is("quote") ? format.quote : format.escape) = next.text[0];
            own_escape = own_escape || token.is("escape");
            i += 1;
            continue;
        }
        if (token.is("binary") || (token.kind == TokenKind::string && token.text == "binary")) {
            format.binary = true;
            continue;
        }
        if (token.is("csv") || (token.kind == TokenKind::string && token.text == "csv")) {
            format.csv = true;
        } else if (token.is("text")) {
            format.csv = false;
        } else if (token.is("header")) {
            format.header = !next.is_any({"false", "off", "0"});
            if (next.is_any({"false", "off", "0", "true", "on", "1"})) i += 1;
        } else if (token.is("delimiter") && next.text.size() == 1) {
            format.delimiter = next.text[0];
            own_delimiter = true;
            i += next.is("as") ? 2 : 1;
        } else if (token.is("null") && next.kind == TokenKind::string) {
            format.null = next.text;
            own_null = true;
            i += 1;
        } else if (token.is("encoding")) {
            i += 1;
        } else {
            return refused(token);
        }
    }
    const bool clashes = format.delimiter == '\n' || format.delimiter == '\r' ||
                         (format.csv ? format.delimiter == format.quote : format.delimiter == '\\');
    if (own_delimiter && clashes) {
        return pgwire::Report{
            .sqlstate = "22023",
            .message = "this DELIMITER of COPY cannot be distinguished from the data",
            .hint = "use a comma, a semicolon or a tab"};
    }
    if (format.csv && !own_delimiter) format.delimiter = ',';
    if (format.csv && !own_null) format.null = "";
    if (!own_escape) format.escape = format.quote;
    return std::nullopt;
}

// COPY t [(a, b)] FROM STDIN ..: everything before FROM, and what comes behind STDIN.
Statement copy_in_statement(std::string_view all, Tokens tokens, std::size_t from) {
    const std::size_t begin = tokens.front().at;
    Statement copy{.text = {}, .at = begin, .answerer = {}, .copy = {}};
    CopyFormat format;
    if (at(tokens, 1).is("baton") && at(tokens, 2).is(".")) {
        copy.answerer = Refuse{not_supported("the views of BATON cannot be written")};
        return copy;
    }
    if (auto objection = read_copy_options(tokens.subspan(from + 2), format)) {
        copy.answerer = Refuse{*std::move(objection)};
        return copy;
    }
    const std::size_t name = at(tokens, 1).at;
    const auto commas =
        std::count_if(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(from),
                      [](const Token& token) { return token.is(","); });
    copy.text = "INSERT INTO " + std::string(all.substr(name, tokens[from - 1].end() - name)) +
                " VALUES (NULL";
    for (std::ptrdiff_t i = 0; i < commas; ++i) copy.text += ", NULL";
    copy.text += ")";
    copy.answerer = CopyIn{std::move(format)};
    return copy;
}

// COPY (statement) TO STDOUT .., COPY baton.view TO STDOUT ..
Statement copy_statement(std::string_view all, Tokens tokens, std::size_t begin) {
    Statement copy{.text = {}, .at = begin, .answerer = {}, .copy = CopyFormat{}};
    const auto refuse = [&](pgwire::Report report) {
        copy.answerer = Refuse{std::move(report)};
        copy.copy.reset();
        return copy;
    };
    std::size_t to = 1;
    Tokens inner;
    if (at(tokens, 1).is("(")) {
        to = closing(tokens, 1);
        if (to > 2) inner = tokens.subspan(2, to - 2);
        to += 1;
    } else {
        while (to < tokens.size() && !tokens[to].is_any({"to", "from"})) to += 1;
    }
    if (inner.empty() && to > 1 && at(tokens, to).is("from") && at(tokens, to + 1).is("stdin")) {
        return copy_in_statement(all, tokens, to);
    }
    const bool out = at(tokens, to).is("to") && at(tokens, to + 1).is("stdout");
    if (!out) {
        return refuse(not_supported("only COPY .. TO STDOUT and COPY .. FROM STDIN are supported",
                                    "psql's \\copy reads and writes files of yours"));
    }
    if (auto objection = read_copy_options(tokens.subspan(to + 2), *copy.copy)) {
        return refuse(*std::move(objection));
    }
    if (copy.copy->binary) {
        return refuse(not_supported("COPY .. TO STDOUT has no binary format",
                                    "take FORMAT csv or text, or FETCH with binary results"));
    }
    if (inner.empty()) {
        const std::size_t name = at(tokens, 1).at;
        const std::size_t end = tokens[to - 1].end();
        copy.text = "SELECT * FROM " + std::string(all.substr(name, end - name));
        const Tokens named = tokens.subspan(1, to - 1);
        copy.answerer = asks_catalog(named) && !named[0].is("baton") && named.size() > 1
                            ? Answerer(ForCatalog{})
                            : Answerer(ForSession{});
        return copy;
    }
    copy.at = inner.front().at;
    copy.text = all.substr(copy.at, inner.back().end() - copy.at);
    copy.answerer = answerer_of(inner, copy.text);
    const auto* session = std::get_if<ForSession>(&copy.answerer);
    const bool into = std::any_of(inner.begin(), inner.end(),
                                  [](const Token& token) { return token.is("into"); });
    const bool looks =
        !into && std::any_of(sql::kForms.begin(), sql::kForms.end(), [&](const sql::Form& form) {
            return form.effect == sql::Effect::rows && is_word(inner.front(), form.opening.verb);
        });
    const bool gives_rows = std::holds_alternative<ForCatalog>(copy.answerer) ||
                            std::holds_alternative<ShowParameter>(copy.answerer) ||
                            (session != nullptr && (looks || session->watches));
    if (!gives_rows) return refuse(not_supported("only SELECT, SHOW and WATCH can be copied"));
    return copy;
}

// The statement's text is the cursor's.
Statement declare_statement(std::string_view all, Tokens tokens) {
    Statement declared{.text = {}, .at = tokens.front().at, .answerer = {}, .copy = {}};
    auto head = declare_head(tokens);
    if (auto* refused = std::get_if<Refuse>(&head)) {
        declared.answerer = std::move(*refused);
        return declared;
    }
    auto& [cursor, from] = std::get<DeclaredHead>(head);
    const Tokens inner = tokens.subspan(from);
    declared.at = inner.front().at;
    declared.text = all.substr(declared.at, inner.back().end() - declared.at);
    const Answerer answerer = answerer_of(inner, declared.text);
    if (const auto* catalog = std::get_if<ForCatalog>(&answerer)) cursor.catalog = *catalog;
    declared.answerer = std::move(cursor);
    return declared;
}

}  // namespace

std::vector<Statement> statements_of(std::string_view text) {
    if (text.size() > kTextBytesMax || std::count(text.begin(), text.end(), ';') > kSemicolonsMax) {
        return {{.text = {},
                 .answerer = Refuse{{.sqlstate = "54000",
                                     .message = "a message has at most 1 MB of statements, and "
                                                "10,000 of them",
                                     .hint = "send them in several messages"}},
                 .copy = {}}};
    }
    const std::vector<Token> all = pg::tokens_of(text);
    std::vector<Statement> statements;
    for (std::size_t from = 0; from < all.size();) {
        std::size_t to = from;
        while (to < all.size() && !all[to].is(";")) to += 1;
        const Tokens tokens = Tokens(all).subspan(from, to - from);
        from = to + 1;
        if (tokens.empty()) continue;
        const std::size_t begin = tokens.front().at;
        if (tokens.front().is("copy")) {
            statements.push_back(copy_statement(text, tokens, begin));
            continue;
        }
        if (tokens.front().is("declare")) {
            statements.push_back(declare_statement(text, tokens));
            continue;
        }
        Statement statement{.text = std::string(text.substr(begin, tokens.back().end() - begin)),
                            .at = begin,
                            .answerer = {},
                            .copy = {}};
        statement.answerer = answerer_of(tokens, statement.text);
        statements.push_back(std::move(statement));
    }
    return statements;
}

std::size_t parameter_count(std::string_view text) {
    std::size_t count = 0;
    for (const Token& token : pg::tokens_of(text)) {
        if (token.kind != TokenKind::parameter) continue;
        std::size_t number = 0;
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
        count = std::max(count, std::min<std::size_t>(number, 65'535));
    }
    return count;
}

}  // namespace baton::pgserver
