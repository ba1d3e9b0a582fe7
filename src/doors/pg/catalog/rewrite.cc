#include "doors/pg/catalog/rewrite.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "doors/pg/catalog/tokens.h"

namespace baton::pg {

namespace {

std::string literal(std::string_view text) {
    std::string made = "'";
    for (const char c : text) {
        if (c == '\'') made += '\'';
        if (c != '\0') made += c;
    }
    return made + "'";
}

struct Renamed {
    std::string_view from, to;
};
constexpr std::array kOperators = {
    Renamed{"~", "REGEXP"},      Renamed{"!~", "NOT REGEXP"}, Renamed{"~*", "MATCH"},
    Renamed{"!~*", "NOT MATCH"}, Renamed{"~~", "LIKE"},       Renamed{"!~~", "NOT LIKE"},
    Renamed{"~~*", "LIKE"},      Renamed{"!~~*", "NOT LIKE"}, Renamed{"ilike", "LIKE"},
    Renamed{"like", "LIKE"},
};
constexpr std::array kWords = {
    Renamed{"string_agg", "group_concat"},
    Renamed{"array_agg", "json_group_array"},
    Renamed{"bool_or", "max"},
    Renamed{"bool_and", "min"},
    Renamed{"every", "min"},
};

template <std::size_t N>
std::optional<std::string_view> renamed(const std::array<Renamed, N>& list, std::string_view from) {
    for (const Renamed& entry : list) {
        if (entry.from == from) return entry.to;
    }
    return std::nullopt;
}

bool ends_operand(std::string_view out) {
    if (out.empty()) return false;
    const char last = out.back();
    return last == ')' || last == '\'' || last == '"' || last == '_' ||
           (last >= '0' && last <= '9') || (last >= 'a' && last <= 'z');
}

constexpr std::size_t kDepthMax = 8;  // of table functions in table functions; clients have one

class Rewriter {
public:
    explicit Rewriter(std::vector<Token> tokens, std::size_t depth = 0)
        : tokens_(std::move(tokens)), depth_(depth) {}

    std::string run() {
        while (at_ < tokens_.size()) step();
        std::string text;
        for (const std::string& word : out_) text += (text.empty() ? "" : " ") + word;
        return text;
    }

private:
    [[nodiscard]] const Token& look(std::size_t ahead = 0) const {
        static const Token kNothing;
        return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : kNothing;
    }
    [[nodiscard]] bool after(std::string_view word) const {
        return !out_.empty() && out_.back() == word;
    }
    void emit(std::string word) { out_.push_back(std::move(word)); }

    void step() {
        const Token& token = look();
        switch (token.kind) {
            case TokenKind::word:
                return word();
            case TokenKind::quoted_name:
                return quoted_name();
            case TokenKind::string:
                emit(literal(token.text));
                at_ += 1;
                return escape_like();
            case TokenKind::parameter:
                emit("?" + token.text);
                at_ += 1;
                return escape_like();
            case TokenKind::number:
                emit(token.text);
                at_ += 1;
                return;
            case TokenKind::symbol:
                return symbol();
        }
    }

    // A backslash escapes in PostgreSQL's patterns.
    void escape_like() {
        if (out_.size() < 2 || !out_[out_.size() - 2].ends_with("LIKE")) return;
        if (!look().is("escape")) emit("ESCAPE '\\'");
    }

    void quoted_name() {
        const std::string name = look().text;
        if (name == "pg_catalog" && look(1).is(".")) {
            at_ += 2;
            return;
        }
        emit(in_quotes(name));
        at_ += 1;
    }

    void word() {
        const std::string text = look().text;
        if (text == "pg_catalog" && look(1).is(".")) {
            at_ += 2;
        } else if (text == "information_schema" && look(1).is(".")) {
            emit("information_schema_" + look(2).text);
            at_ += 3;
        } else if (text == "operator" && look(1).is("(")) {
            qualified_operator();
        } else if ((text == "unnest" || text == "generate_series") && look(1).is("(") &&
                   (after("from") || after("join")) && depth_ < kDepthMax) {
            table_function(text == "unnest");
        } else if (text == "trim" && look(1).is("(") && look(3).kind == TokenKind::string &&
                   look(4).is("from")) {
            emit("baton_trim( " + literal(look(3).text) + " ,");
            closers_.emplace_back(")");
            at_ += 5;
        } else if (text == "tableoid" && after(".") && out_.size() >= 2) {
            out_.resize(out_.size() - 2);
            emit("0");
            at_ += 1;
        } else if (text == "collate") {
            at_ += look(2).is(".") ? 4 : 2;
        } else if (text == "array" && (look(1).is("[") || look(1).is("("))) {
            array();
        } else if ((text == "any" || text == "some" || text == "all") && look(1).is("(") &&
                   !out_.empty() && (after("=") || after("<>") || after("!="))) {
            any();
        } else if (!name_without_parentheses(text)) {
            const auto op = renamed(kOperators, text);
            const auto function = look(1).is("(") ? renamed(kWords, text) : std::nullopt;
            emit(std::string(op ? *op : function ? *function : std::string_view(text)));
            at_ += 1;
        }
    }

    // current_user and its like are functions that are called without parentheses.
    bool name_without_parentheses(const std::string& text) {
        constexpr std::array<std::string_view, 6> kNames = {"current_user",   "session_user",
                                                            "current_role",   "current_catalog",
                                                            "current_schema", "user"};
        for (const std::string_view name : kNames) {
            if (text != name || look(1).is("(") || look(1).is(".") || after(".") || after("as")) {
                continue;
            }
            emit(text + "()");
            at_ += 1;
            return true;
        }
        return false;
    }

    void qualified_operator() {
        at_ += 2;
        while (look().names() || look().is(".")) at_ += 1;
        comparison(look().text);
        at_ += 2;
    }

    void comparison(const std::string& text) {
        const bool binary = !out_.empty() && ends_operand(out_.back());
        const auto op = binary ? renamed(kOperators, text) : std::nullopt;
        emit(std::string(op ? *op : std::string_view(text)));
    }

    void symbol() {
        const std::string text = look().text;
        if (text == "::") return cast();
        if (text == "(" || text == "[") return open(text);
        if (text == ")" || text == "]") {
            std::string closing = text == ")" ? ")" : "]";
            if (!closers_.empty()) {
                closing = closers_.back();
                closers_.pop_back();
            }
            emit(closing);
            at_ += 1;
            // A part of a row: rows are values here.
            if (text == ")" && look().is(".") && look(1).names()) at_ += 2;
            return;
        }
        comparison(text);
        at_ += 1;
    }

    void open(const std::string& text) {
        at_ += 1;
        if (text == "(") {
            closers_.emplace_back(")");
            return emit("(");
        }
        if (out_.empty() || !ends_operand(out_.back())) {  // of an array in an array
            closers_.emplace_back(")");
            return emit("json_array(");
        }
        wrap("baton_item(");
        emit(",");
        closers_.emplace_back(")");
    }

    // ARRAY[..] and ARRAY(SELECT ..)
    void array() {
        const bool selected = look(1).is("(");
        at_ += 2;
        if (selected) {
            emit("baton_list( (WITH baton_rows(v) AS (");
            closers_.emplace_back(") SELECT json_group_array(v) FROM baton_rows) )");
        } else {
            emit("json_array(");
            closers_.emplace_back(")");
        }
    }

    // FROM unnest(x) AS name(column), where both names are one if only one is given.
    void table_function(bool unnests) {
        std::vector<std::string> arguments;
        std::vector<Token> argument;
        int depth = 1;
        for (at_ += 2; at_ < tokens_.size(); ++at_) {
            if (look().is_any({"(", "["})) depth += 1;
            if (look().is_any({")", "]"}) && --depth == 0) break;
            if (depth == 1 && look().is(",")) {
                arguments.push_back(Rewriter(std::exchange(argument, {}), depth_ + 1).run());
            } else {
                argument.push_back(look());
            }
        }
        arguments.push_back(Rewriter(std::move(argument), depth_ + 1).run());
        at_ += 1;
        if (look().is("as")) at_ += 1;
        std::string name = unnests ? "unnest" : "generate_series";
        if (look().names() && !is_keyword(look().text)) {
            name = look().text;
            at_ += 1;
        }
        std::string column = name;
        if (look().is("(") && look(1).names() && look(2).is(")")) {
            column = look(1).text;
            at_ += 3;
        }
        if (unnests) {
            emit("(SELECT value AS " + in_quotes(column) + " FROM json_each(baton_array(" +
                 arguments[0] + "))) " + in_quotes(name));
            return;
        }
        const std::string& last = arguments.back();
        emit("(WITH RECURSIVE baton_series(v) AS (SELECT " + arguments[0] +
             " UNION ALL SELECT v + 1 FROM baton_series WHERE v < " + last + ") SELECT v AS " +
             in_quotes(column) + " FROM baton_series WHERE v <= " + last + ") " + in_quotes(name));
    }

    // = ANY (..) and <> ALL (..)
    void any() {
        const bool same = after("=");
        out_.pop_back();
        emit(same ? "IN" : "NOT IN");
        at_ += 2;
        if (look().is("select") || look().is("values") || look().is("with")) {
            emit("(");
            closers_.emplace_back(")");
        } else {
            emit("(SELECT value FROM json_each(baton_array(");
            closers_.emplace_back(")))");
        }
    }

    // ---- casts ----
    void cast() {
        at_ += 1;
        const std::string type = take_type();
        constexpr std::array<std::string_view, 8> kIntegers = {
            "int", "int2", "int4", "int8", "integer", "bigint", "smallint", "oid"};
        for (const std::string_view name : kIntegers) {
            if (type != name) continue;
            wrap("CAST(");
            return emit("AS INTEGER )");
        }
        std::string function;
        if (type == "regclass" || type == "regtype" || type == "regnamespace" ||
            type == "regproc" || type == "regprocedure" || type == "regrole") {
            function = "baton_" + type + "(";
        } else if (type == "bool" || type == "boolean") {
            function = "baton_bool(";
        } else if (type == "text" || type == "varchar" || type == "name") {
            function = "baton_text(";
        } else {
            return;  // it is what it is
        }
        wrap(function);
        emit(")");
    }

    // The name of a type without its schema, size and brackets; "double", "timestamp" of several.
    std::string take_type() {
        std::string type;
        while (look().names()) {
            type = look().text;
            at_ += 1;
            if (!look().is(".")) break;
            at_ += 1;
        }
        while (look().is_any({"precision", "varying", "with", "without", "time", "zone"})) at_ += 1;
        if (look().is("(")) {
            while (at_ < tokens_.size() && !look().is(")")) at_ += 1;
            at_ += 1;
        }
        bool is_array = false;
        while (look().is("[") && look(1).is("]")) {
            is_array = true;
            at_ += 2;
        }
        return is_array ? "array" : type;
    }

    // Puts `head` before the operand that was emitted last.
    void wrap(const std::string& head) {
        out_.insert(out_.begin() + static_cast<std::ptrdiff_t>(operand()), head);
    }

    [[nodiscard]] std::size_t operand() const {
        std::size_t i = out_.size();
        if (i == 0) return 0;
        i -= 1;
        const auto nesting = [](const std::string& word) {
            int depth = 0;
            bool quotes = false;
            for (const char c : word) {
                if (c == '\'' || c == '"') quotes = !quotes;
                if (!quotes && c == '(') depth += 1;
                if (!quotes && c == ')') depth -= 1;
            }
            return depth;
        };
        if (out_[i] == "end") {
            int depth = 1;
            while (i > 0 && depth > 0) {
                i -= 1;
                if (out_[i] == "end") depth += 1;
                if (out_[i] == "case") depth -= 1;
            }
            return i;
        }
        int depth = nesting(out_[i]);
        while (i > 0 && depth < 0) {
            i -= 1;
            depth += nesting(out_[i]);
        }
        const bool bare = out_[i] == "(" && i > 0;
        if (bare && ends_operand(out_[i - 1]) && !is_keyword(out_[i - 1])) i -= 1;  // a call
        while (i >= 2 && out_[i - 1] == ".") i -= 2;
        return i;
    }

    static bool is_keyword(std::string_view word) {
        constexpr std::array<std::string_view, 20> kKeywords = {
            "select", "where", "and", "or", "not",  "in",   "on",       "when", "then", "else",
            "from",   "join",  "by",  "as", "case", "like", "distinct", "all",  "is",   "between"};
        for (const std::string_view keyword : kKeywords) {
            if (word == keyword) return true;
        }
        return false;
    }

    std::vector<Token> tokens_;
    std::size_t depth_;
    std::size_t at_ = 0;
    std::vector<std::string> out_;
    std::vector<std::string> closers_;
};

}  // namespace

std::string rewritten(std::string_view statement) {
    return Rewriter(tokens_of(statement)).run();
}

}  // namespace baton::pg
