// QueryAnalyser turns queries and relations into operators, from the sources upwards.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/analysis/analysis.h"
#include "core/analysis/expressions.h"
#include "core/analysis/scope.h"

namespace baton::analysis {

// The rows of a relation or a query, and the names of their columns.
struct Rows {
    PlanNode plan;
    Scope scope;  // the columns of plan.schema
};

class QueryAnalyser {
public:
    explicit QueryAnalyser(const AnalysisView& view) : view_(view) {}

    Result<Rows> query(const sql::Query& query);

    [[nodiscard]] const std::set<std::string>& sources() const { return sources_; }

private:
    // The columns of a SELECT: one expression and one name each.
    struct Selected {
        std::vector<Expression> expressions;
        Scope scope;
        std::vector<Position> at;  // where each column was asked for
    };

    // relations.cc
    Result<Rows> relation(const sql::Relation& relation);
    Result<Rows> named(const sql::NamedRelation& named, Position at);
    Result<Rows> subquery(const sql::Subquery& sub);
    Result<Rows> inline_source(const sql::InlineSource& source, Position at);
    Result<Rows> join(const sql::Join& join);
    Result<Rows> all_of(const sql::Union& all);

    // selects.cc
    Result<Rows> select(const sql::Select& select, Position at);
    Result<Rows> where(Rows rows, const sql::Expr& condition);
    Result<Rows> plain(Rows rows, const sql::Select& select);
    Result<Rows> aggregation(Rows rows, const sql::Select& select);
    Result<Done> add_item(Selected& selected, const sql::SelectItem& item, const Scope& scope);
    Result<Done> add_grouped_item(Selected& selected, const sql::SelectItem& item,
                                  Grouping& grouping);

    const AnalysisView& view_;
    Budget budget_;
    std::set<std::string> sources_;
};

// One operator above another.
[[nodiscard]] PlanNode above(PlanNode input, Operator op, Schema schema);

// Fails with too_large where a row would belong to too many windows.
[[nodiscard]] Result<WindowSpec> window_spec(const sql::Window& window);
// The position of a timestamp among the columns. Fails with unknown_field, type_mismatch.
[[nodiscard]] Result<std::size_t> time_column(const Scope& scope, const sql::ColumnRef& name,
                                              Position at);

}  // namespace baton::analysis
