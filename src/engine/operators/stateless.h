// Filter, projection and union: operators that remember nothing. Any number of threads may push.
#pragma once

#include <memory>
#include <vector>

#include "engine/expressions/compiled.h"
#include "engine/operators/push_operator.h"
#include "model/plan.h"

namespace baton::engine {

class FilterOperator : public PushOperator {
public:
    [[nodiscard]] static Result<std::unique_ptr<PushOperator>> make(const Filter& filter,
                                                                    Outlet out);

    std::size_t begin(const std::vector<std::size_t>& origins) override { return origins.at(0); }
    Result<Done> push(std::size_t input, Frame frame) override;

private:
    FilterOperator(expressions::CompiledExpression predicate, Outlet out)
        : predicate_(std::move(predicate)), out_(out) {}

    expressions::CompiledExpression predicate_;
    Outlet out_;
};

class ProjectOperator : public PushOperator {
public:
    [[nodiscard]] static Result<std::unique_ptr<PushOperator>> make(const Project& project,
                                                                    Outlet out);

    std::size_t begin(const std::vector<std::size_t>& origins) override { return origins.at(0); }
    Result<Done> push(std::size_t input, Frame frame) override;

private:
    ProjectOperator(std::vector<expressions::CompiledExpression> expressions, Outlet out)
        : expressions_(std::move(expressions)), out_(out) {}

    std::vector<expressions::CompiledExpression> expressions_;
    Outlet out_;
};

// The origins of its inputs, one after the other.
class UnionOperator : public PushOperator {
public:
    explicit UnionOperator(Outlet out) : out_(out) {}

    std::size_t begin(const std::vector<std::size_t>& origins) override;
    Result<Done> push(std::size_t input, Frame frame) override;

private:
    Outlet out_;
    std::vector<std::size_t> first_;  // origin of each input
};

// Compiles them in their order.
[[nodiscard]] Result<std::vector<expressions::CompiledExpression>> compiled(
    const std::vector<Expression>& expressions);

}  // namespace baton::engine
