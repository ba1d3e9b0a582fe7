// Grammar is the productions of the dialect, by recursive descent: one function each, which reads
// what it is named for and returns its tree or the first error.
//
// Depth: every tree carries its height while it is built, and every production that can contain
// itself is counted, so that neither the trees nor the recursion exceed Limits::depth_max.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sql/ast.h"
#include "sql/parser.h"
#include "sql/tokens.h"
#include "sql/vocabulary.h"

namespace baton::sql {

// A tree and the number of its levels.
template <class T>
struct Tall {
    T value;
    std::size_t height = 1;
};

// How tightly an operator binds its operands, from the loosest.
enum class Binding : std::uint8_t {
    logical_or,
    logical_and,
    logical_not,
    predicate,  // comparisons, BETWEEN, IN, IS: from left to right
    sum,
    product,
    sign,
    primary,
};

[[nodiscard]] constexpr Binding tighter(Binding binding) {
    return static_cast<Binding>(static_cast<std::uint8_t>(binding) + 1);
}

class Grammar {
public:
    Grammar(std::string_view text, const Limits& limits, std::span<const Literal> parameters = {},
            Questions questions = Questions::refused)
        : tokens_(text), limits_(limits), parameters_(parameters), questions_(questions) {}

    Result<std::vector<Statement>> statements();
    Result<Statement> only_statement();

private:
    using Node = decltype(Statement::node);
    using ExprNode = decltype(Expr::node);

    // Counts one more level of the grammar for as long as it lives.
    class Level {
    public:
        explicit Level(std::size_t& depth) : depth_(depth) { depth_ += 1; }
        ~Level() { depth_ -= 1; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

    private:
        std::size_t& depth_;
    };
    // Fails with `too_large` if a tree of that height, or the recursion, is too deep.
    Result<Done> within_depth(std::size_t height);
    // Counts one more part of the statement. Fails with `too_large` if it has too many.
    Result<Done> one_more_part();
    // The same for one more column of a list that has `columns` with it.
    Result<Done> one_more_column(std::size_t columns);

    // parser_statements.cc
    Result<Statement> statement();
    struct Beginning {
        std::string_view word;
        Result<Node> (Grammar::*production)();
    };
    static std::span<const Beginning> beginnings();
    Result<Done> end_of_statement();
    Error no_statement();
    bool begins_query();
    Result<Node> create();
    Result<Node> create_logical_source();
    Result<Node> create_physical_source();
    Result<Node> create_sink();
    Result<Node> create_worker();
    Result<Node> create_task_list();
    Result<Node> create_query();
    Result<Node> drop();
    Result<EntityKind> entity_kind(std::string_view verb);
    // Takes the words of one row of a table of the vocabulary; null if it is none of them.
    template <class Rows>
    Result<const typename Rows::value_type*> row_among(const Rows& rows);
    Result<Node> stop_query();
    Result<Node> drain_worker();
    Result<Node> resume_worker();
    Result<Node> begin();
    Result<Node> commit();
    Result<Node> rollback();
    Result<Node> cancel();
    Result<Node> wait_for_query();
    Result<bool> if_not_exists();
    Result<Target> target(std::string_view what);
    Result<std::optional<StopMode>> stop_mode();
    Result<QueryState> query_state();

    // parser_tables.cc
    Result<Node> query_or_question();
    Result<Node> create_table();
    Result<Node> insert();
    Result<Node> vacuum();
    Result<std::string> question_text();
    Result<std::string> table_name();
    Result<std::string> column_name();
    Result<SqlType> sql_type();
    Result<SqlColumns> table_columns();
    Result<std::vector<std::vector<Literal>>> constant_rows();

    // parser_locks.cc
    Result<Node> acquire_lock();
    Result<Node> renew_lock();
    Result<Node> release_lock();
    Result<Node> enable_lock();
    Result<Node> disable_lock();
    Result<Node> drop_lock();
    Result<LockStatement> named_lock();
    Result<std::string> lock_owner();
    Result<std::uint64_t> lock_epoch();
    Result<TimeSpan> lock_ttl();

    // parser_inspection.cc
    Result<Node> show_statement();
    Result<Node> explain();
    Result<Node> watch();
    Result<Show> show();
    Result<ShowWhat> show_what();
    Result<std::optional<OutputFormat>> output_format();
    Result<std::vector<ExplainLevel>> explain_levels();
    Result<Query> watched_query();

    // parser_queries.cc
    Result<Node> query_statement();
    Result<std::optional<std::uint64_t>> limit();
    // These fill `into` in place, which keeps the stack small, and return the height of the tree.
    Result<std::size_t> query(Query& into);
    Result<std::size_t> query_term(Query& into);
    Result<std::size_t> union_of(Query& into, std::size_t height);
    Result<std::size_t> select(Query& into);
    Result<std::size_t> select_item(SelectItem& into);
    Result<std::size_t> relation(Relation& into);
    Result<std::size_t> relation_primary(Relation& into);
    Result<std::size_t> join(Relation& left, std::size_t left_height, JoinKind kind);
    Result<Done> named_relation(Relation& into);
    Result<Done> select_tail(Select& select, std::size_t& height);
    Result<Done> group_by(Select& select, std::size_t& height);
    Result<Done> refuse_second_clause();
    Result<Done> refuse_quantifier(std::string_view after);
    Error refuse_into();
    Result<std::optional<JoinKind>> join_kind();
    Error missing_join_window();
    Result<std::optional<std::string>> alias();
    Result<Window> window();
    Result<Done> window_timestamps(Window& window);
    Result<TimeSpan> time_span();
    Result<SinkTarget> sink_target();

    // parser_expressions.cc
    Result<Tall<Expr>> expression(Binding loosest = Binding::logical_or);
    Result<Tall<Expr>> continued(Tall<Expr> left, Binding loosest);
    Result<Tall<Expr>> prefix(Binding loosest);
    Result<Tall<Expr>> word_prefix(Binding loosest);
    Result<Tall<Expr>> negation(Binding loosest);
    Result<Done> refuse_foreign_word();
    Result<Tall<Expr>> signed_operand();
    Result<Tall<Expr>> parenthesised();
    Result<Tall<Expr>> typed_literal(DataType type, std::size_t words);
    Result<Tall<Expr>> cast();
    Result<Tall<Expr>> call();
    Result<Tall<Expr>> logical(Tall<Expr> left, LogicalOp op, Binding binding);
    Result<Tall<Expr>> binary(Tall<Expr> left, BinaryOp op, Binding binding);
    bool sees_predicate();
    Result<Tall<Expr>> predicate(Tall<Expr> left);
    Result<Tall<Expr>> between(Tall<Expr> left, bool negated);
    Result<Tall<Expr>> in_list(Tall<Expr> left, bool negated);
    Result<Tall<Expr>> is_test(Tall<Expr> left);
    Result<Tall<Expr>> expr_of(ExprNode node, Position at, std::size_t height);
    Result<std::size_t> expressions_into(std::vector<Expr>& list);
    Result<ColumnRef> column_ref();

    // parser_settings.cc
    Result<std::vector<Setting>> settings_clause();  // [SET ( .. )]
    Result<std::vector<Setting>> settings_until_close();
    Result<Done> read_setting(Setting& setting);
    enum class Qualified : std::uint8_t { no, yes };  // whether a name may be RELATION.NAME
    Result<Schema> schema(Qualified qualified);       // ( col TYPE [NOT NULL], .. )
    Result<Column> column(Qualified qualified);
    Result<DataType> data_type();
    std::optional<std::pair<DataType, std::size_t>> data_type_ahead();  // and of how many words
    Error unknown_data_type();
    bool sees_literal();
    Result<Literal> literal();
    Result<Literal> number_literal();

    Tokens tokens_;
    Limits limits_;
    std::span<const Literal> parameters_;
    Questions questions_;
    std::size_t parameter_bytes_ = 0;  // of those that were used
    std::size_t depth_ = 0;            // of the recursion
    std::size_t parts_ = 0;            // of the present statement
};

template <class Rows>
Result<const typename Rows::value_type*> Grammar::row_among(const Rows& rows) {
    for (const auto& row : rows) {
        std::string_view word = first_word(row.words);
        if (!tokens_.accept(word)) continue;
        std::string_view rest = row.words;
        while (rest.size() > word.size()) {
            rest.remove_prefix(word.size() + 1);
            word = first_word(rest);
            TRY(tokens_.expect(word));
        }
        return &row;
    }
    return nullptr;
}

}  // namespace baton::sql
