// Tables, and the questions about them.
#include <utility>

#include "base/text.h"
#include "sql/grammar.h"
#include "sql/question_text.h"
#include "sql/reserved_words.h"

namespace baton::sql {

// Up to the end of the statement; never empty.
Result<std::string> Grammar::question_text() {
    const Token& first = tokens_.peek();
    if (first.kind == TokenKind::end || tokens_.sees(Symbol::semicolon)) {
        tokens_.note("a question");
        return tokens_.unexpected();
    }
    const Position from = first.at;
    const std::size_t end = question_end(tokens_.text(), from.offset);
    std::string text(trimmed(tokens_.text().substr(from.offset, end - from.offset)));
    tokens_.restart(from, end);
    return text;
}

// A statement that is of the grammar of streams, or a question.
Result<Grammar::Node> Grammar::query_or_question() {
    const Position from = tokens_.peek().at;
    const bool streams = tokens_.sees("SELECT") || tokens_.sees(Symbol::open);
    Result<Node> own = streams ? query_statement() : Result<Node>(no_statement());
    const std::size_t end = question_end(tokens_.text(), from.offset);
    const std::string_view text = trimmed(tokens_.text().substr(from.offset, end - from.offset));
    if (own) {
        const bool complete =
            tokens_.peek().kind == TokenKind::end || tokens_.sees(Symbol::semicolon);
        if (auto* select = std::get_if<SelectOnce>(&*own)) {
            select->written.text = text;
        }
        if (complete || questions_ == Questions::refused) return own;
        tokens_.note("the end of the text");
        own = tokens_.unexpected();
    }
    if (questions_ == Questions::refused) return own;
    tokens_.restart(from, end);
    return Node(Question{.text = std::string(text), .otherwise = own.error()});
}

// T, PUBLIC.T or BATON.PUBLIC.T: there is one schema for tables.
Result<std::string> Grammar::table_name() {
    TRY_ASSIGN(name, tokens_.name_or_string("the name of a table"));
    const auto qualifies = [&](std::string_view known) {
        return name == known && tokens_.accept_unlisted(Symbol::dot);
    };
    const bool database = qualifies("BATON");
    if (database) {
        TRY_ASSIGN(next, tokens_.name("the name of a schema or table"));
        name = std::move(next);
    }
    if (qualifies("PUBLIC")) {
        TRY_ASSIGN(next, tokens_.name("the name of a table"));
        name = std::move(next);
    }
    if (tokens_.sees(Symbol::dot)) {
        return tokens_.not_supported("the schema " + in_quotes(name),
                                     "tables are in the schema PUBLIC; leave the schema out");
    }
    return name;
}

// A name as the log of a table keeps it: a plain word in lower case.
Result<std::string> Grammar::column_name() {
    const bool plain = tokens_.peek().kind == TokenKind::word;
    TRY_ASSIGN(name, tokens_.name("the name of a column"));
    return plain ? to_lower(name) : name;
}

// The words of a type, up to a comma, a parenthesis that closes, NOT NULL or the like.
Result<SqlType> Grammar::sql_type() {
    const Token first = tokens_.peek();
    std::size_t end = first.at.offset;
    std::size_t depth = 0;
    const auto ends = [&] {
        if (tokens_.peek().kind == TokenKind::end || tokens_.sees(Symbol::semicolon)) return true;
        if (depth > 0) return false;
        return tokens_.sees(Symbol::comma) || tokens_.sees(Symbol::close) || tokens_.sees("NOT") ||
               tokens_.sees("NULL") ||
               (tokens_.peek().kind == TokenKind::word &&
                unsupported_clause(tokens_.peek().text) != nullptr);
    };
    while (!ends()) {
        if (tokens_.peek().kind == TokenKind::invalid) {
            // An array's brackets are no token of the dialect.
            const std::string_view rest = tokens_.text().substr(tokens_.peek().at.offset);
            if (!rest.starts_with("[]")) return tokens_.unexpected();
            end = tokens_.peek().at.offset + 2;
            tokens_.restart(tokens_.peek().at, end);
            continue;
        }
        if (tokens_.sees(Symbol::open)) depth += 1;
        if (tokens_.sees(Symbol::close)) depth -= 1;
        const Token token = tokens_.take();
        end = token.at.offset + token.length;
    }
    if (end == first.at.offset) {
        tokens_.note("a type");
        return tokens_.unexpected();
    }
    auto type = table_type_of(tokens_.text().substr(first.at.offset, end - first.at.offset));
    if (type) return type;
    Error error = type.error();
    error.at = first.at;
    return error;
}

Result<SqlColumns> Grammar::table_columns() {
    TRY(tokens_.expect(Symbol::open));
    SqlColumns columns;
    do {
        TRY(one_more_column(columns.size() + 1));
        TRY(one_more_part());
        SqlField column;
        TRY_ASSIGN(name, column_name());
        column.name = std::move(name);
        TRY_ASSIGN(type, sql_type());
        column.type = std::move(type);
        if (tokens_.accept("NOT")) {
            TRY(tokens_.expect("NULL"));
            column.nullable = false;
        } else {
            (void)tokens_.accept("NULL");
        }
        columns.push_back(std::move(column));
    } while (tokens_.accept(Symbol::comma));
    TRY(tokens_.expect(Symbol::close));
    return columns;
}

Result<Grammar::Node> Grammar::create_table() {
    CreateTable node;
    TRY_ASSIGN(lenient, if_not_exists());
    node.if_not_exists = lenient;
    TRY_ASSIGN(name, table_name());
    node.name = std::move(name);
    if (tokens_.at(Symbol::open)) {
        TRY_ASSIGN(columns, table_columns());
        node.columns = std::move(columns);
    } else if (tokens_.accept("TYPE")) {
        TRY_ASSIGN(type, tokens_.name_or_string("the type of a table"));
        node.type = std::move(type);
    }
    TRY_ASSIGN(settings, settings_clause());
    node.settings = std::move(settings);
    if (!node.columns.empty() || node.type) return Node(std::move(node));
    TRY(tokens_.expect("AS"));
    TRY_ASSIGN(question, question_text());
    node.question = std::move(question);
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::insert() {
    Insert node;
    TRY(tokens_.expect("INTO"));
    TRY_ASSIGN(table, table_name());
    node.table = std::move(table);
    const bool question_follows = tokens_.sees("SELECT", 1) || tokens_.sees("WITH", 1) ||
                                  tokens_.sees("VALUES", 1) || tokens_.sees(Symbol::open, 1);
    if (tokens_.at(Symbol::open) && !question_follows) {
        tokens_.take();
        do {
            TRY(one_more_column(node.columns.size() + 1));
            TRY_ASSIGN(column, column_name());
            node.columns.push_back(std::move(column));
        } while (tokens_.accept(Symbol::comma));
        TRY(tokens_.expect(Symbol::close));
    }
    TRY_ASSIGN(settings, settings_clause());
    node.settings = std::move(settings);
    if (tokens_.sees("DEFAULT")) {
        return tokens_.not_supported("DEFAULT VALUES", "write VALUES with a row of constants");
    }
    const Position from = tokens_.peek().at;
    if (auto rows = constant_rows()) {
        const bool complete =
            tokens_.peek().kind == TokenKind::end || tokens_.sees(Symbol::semicolon);
        if (complete) {
            node.source = *std::move(rows);
            return Node(std::move(node));
        }
    } else if (rows.error().code == ErrorCode::too_large || rows.error().code == ErrorCode::arity) {
        return rows.error();
    }
    tokens_.restart(from, from.offset);
    (void)tokens_.at("VALUES");
    TRY_ASSIGN(question, question_text());
    node.source = std::move(question);
    return Node(std::move(node));
}

// VALUES (1, 'x'), (2, NULL): the plain form of rows, which needs no question.
Result<std::vector<std::vector<Literal>>> Grammar::constant_rows() {
    TRY(tokens_.expect("VALUES"));
    std::vector<std::vector<Literal>> rows;
    do {
        TRY(tokens_.expect(Symbol::open));
        const Position at = tokens_.peek().at;
        std::vector<Literal> row;
        do {
            TRY(one_more_column(row.size() + 1));
            TRY(one_more_part());
            TRY_ASSIGN(value, literal());
            row.push_back(std::move(value));
        } while (tokens_.accept(Symbol::comma));
        TRY(tokens_.expect(Symbol::close));
        if (!rows.empty() && rows.front().size() != row.size()) {
            return Error{.code = ErrorCode::arity,
                         .message = "the rows of VALUES have different lengths, " +
                                    std::to_string(rows.front().size()) + " and " +
                                    std::to_string(row.size()),
                         .at = at};
        }
        rows.push_back(std::move(row));
    } while (tokens_.accept(Symbol::comma));
    return rows;
}

Result<Grammar::Node> Grammar::vacuum() {
    TRY_ASSIGN(table, table_name());
    return Node(Vacuum{.table = std::move(table)});
}

}  // namespace baton::sql
