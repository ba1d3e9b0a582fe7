#include "engine/operators/stateless.h"

namespace baton::engine {

Result<std::vector<expressions::CompiledExpression>> compiled(
    const std::vector<Expression>& expressions) {
    std::vector<expressions::CompiledExpression> all;
    all.reserve(expressions.size());
    for (const Expression& expression : expressions) {
        TRY_ASSIGN(one, expressions::CompiledExpression::compile(expression));
        all.push_back(std::move(one));
    }
    return all;
}

Result<std::unique_ptr<PushOperator>> FilterOperator::make(const Filter& filter, Outlet out) {
    TRY_ASSIGN(predicate, expressions::CompiledExpression::compile(filter.predicate));
    return std::unique_ptr<PushOperator>(new FilterOperator(std::move(predicate), out));
}

Result<Done> FilterOperator::push(std::size_t, Frame frame) {
    TRY_ASSIGN(rows, predicate_.select(frame.batch));
    if (rows.size() != frame.batch.rows) frame.batch = gather(frame.batch, rows);
    return out_.push(std::move(frame));
}

Result<std::unique_ptr<PushOperator>> ProjectOperator::make(const Project& project, Outlet out) {
    TRY_ASSIGN(expressions, compiled(project.expressions));
    return std::unique_ptr<PushOperator>(new ProjectOperator(std::move(expressions), out));
}

Result<Done> ProjectOperator::push(std::size_t, Frame frame) {
    Batch computed{.rows = frame.batch.rows, .columns = {}};
    computed.columns.reserve(expressions_.size());
    for (const expressions::CompiledExpression& expression : expressions_) {
        TRY_ASSIGN(column, expression.evaluate(frame.batch));
        computed.columns.push_back(std::move(column));
    }
    frame.batch = std::move(computed);
    return out_.push(std::move(frame));
}

std::size_t UnionOperator::begin(const std::vector<std::size_t>& origins) {
    std::size_t all = 0;
    for (const std::size_t of_input : origins) {
        first_.push_back(all);
        all += of_input;
    }
    return all;
}

Result<Done> UnionOperator::push(std::size_t input, Frame frame) {
    frame.origin += static_cast<std::uint32_t>(first_.at(input));
    return out_.push(std::move(frame));
}

}  // namespace baton::engine
