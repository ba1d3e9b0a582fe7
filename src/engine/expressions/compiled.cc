#include "engine/expressions/compiled.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "engine/columns/elements.h"
#include "engine/expressions/kernels.h"
#include "engine/expressions/node.h"

namespace baton::expressions {

namespace {

using NodePtr = std::unique_ptr<const Node>;
using RowNumbers = std::vector<std::uint32_t>;

class ColumnNode : public Node {
public:
    explicit ColumnNode(std::size_t index) : index_(index) {}
    [[nodiscard]] Result<Operand> run(const engine::Batch& batch) const override {
        CHECK(index_ < batch.columns.size());
        return Operand{.column = batch.columns[index_], .constant = false};
    }
    [[nodiscard]] bool can_fail() const override { return false; }

private:
    std::size_t index_;
};

class ConstantNode : public Node {
public:
    ConstantNode(DataType type, const Value& value)
        : value_{.column = engine::column_of(type, std::span(&value, 1)), .constant = true} {}
    [[nodiscard]] Result<Operand> run(const engine::Batch&) const override { return value_; }
    [[nodiscard]] bool can_fail() const override { return false; }

private:
    Operand value_;
};

// Asks all arguments about all rows.
class StrictNode : public Node {
public:
    StrictNode(Kernel kernel, DataType type, std::vector<NodePtr> arguments, bool fails)
        : kernel_(kernel), type_(type), arguments_(std::move(arguments)), fails_(fails) {
        for (const NodePtr& argument : arguments_) fails_ = fails_ || argument->can_fail();
    }

    [[nodiscard]] Result<Operand> run(const engine::Batch& batch) const override {
        std::vector<Operand> operands;
        operands.reserve(arguments_.size());
        bool constant = true;
        for (const NodePtr& argument : arguments_) {
            TRY_ASSIGN(operand, argument->run(batch));
            constant = constant && operand.constant;
            operands.push_back(std::move(operand));
        }
        const std::size_t rows = constant ? 1 : batch.rows;
        if (!constant && operands.size() == 1) CHECK(!operands[0].constant);
        TRY_ASSIGN(column, kernel_({.operands = operands, .rows = rows, .type = type_}));
        return Operand{.column = std::move(column), .constant = constant};
    }
    [[nodiscard]] bool can_fail() const override { return fails_; }

private:
    Kernel kernel_;
    DataType type_;
    std::vector<NodePtr> arguments_;
    bool fails_;
};

engine::Batch some_rows(const engine::Batch& batch, const RowNumbers& rows,
                        const std::vector<bool>& used) {
    engine::Batch some{.rows = rows.size(), .columns = {}};
    for (std::size_t i = 0; i < batch.columns.size(); ++i) {
        const bool wanted = i < used.size() && used[i];
        some.columns.push_back(wanted ? engine::gather(batch.columns[i], rows)
                                      : engine::ColumnVector());
    }
    return some;
}

// The elements of `from` at those rows of a column with `size` rows; NULL elsewhere.
engine::ColumnVector scattered(const engine::ColumnVector& from, const RowNumbers& rows,
                               std::size_t size) {
    engine::ColumnVector out = nulls(from.type(), size);
    std::uint8_t* valid = out.mutable_valid();
    engine::with_element(from.type(), [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        const T* values = from.data<T>();
        T* to = out.mutable_data<T>();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            to[rows[i]] = values[i];
            valid[rows[i]] = from.is_null(i) ? 0 : 1;
        }
    });
    for (const engine::Holder& holder : from.held()) out.hold(holder);
    return out;
}

// An argument that may be asked about some of the rows only.
struct LazyArgument {
    NodePtr node;
    std::vector<bool> used;  // columns

    // Of all rows, or at least of `wanted`; what stands in the others means nothing.
    [[nodiscard]] Result<Operand> run(const engine::Batch& batch, const RowNumbers& wanted) const {
        if (wanted.size() == batch.rows || !node->can_fail()) return node->run(batch);
        if (wanted.empty()) {
            return Operand{.column = engine::ColumnVector(), .constant = false};
        }
        TRY_ASSIGN(some, node->run(some_rows(batch, wanted, used)));
        if (some.constant) return some;
        return Operand{.column = scattered(some.column, wanted, batch.rows), .constant = false};
    }
};

RowNumbers all_rows(std::size_t rows) {
    RowNumbers all(rows);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

bool truth_at(const Operand& operand, std::size_t row, bool truth) {
    const std::size_t at = operand.constant ? 0 : row;
    return !operand.column.is_null(at) && (operand.column.data<std::uint8_t>()[at] != 0) == truth;
}

// AND and OR.
class LogicNode : public Node {
public:
    LogicNode(bool decides, std::vector<LazyArgument> arguments)
        : decides_(decides), arguments_(std::move(arguments)) {
        for (std::size_t i = 0; i < arguments_.size(); ++i) {
            const bool fails = arguments_[i].node->can_fail();
            fails_ = fails_ || fails;
            lazy_ = lazy_ || (fails && i > 0);
        }
    }

    [[nodiscard]] Result<Operand> run(const engine::Batch& batch) const override {
        std::vector<Operand> operands;
        RowNumbers open;
        if (lazy_) open = all_rows(batch.rows);
        for (const LazyArgument& argument : arguments_) {
            if (lazy_ && open.empty()) break;
            TRY_ASSIGN(operand, lazy_ ? argument.run(batch, open) : argument.node->run(batch));
            if (lazy_) {
                // A row that is decided stays so: what a later argument gives for it is NULL.
                std::erase_if(open,
                              [&](std::uint32_t row) { return truth_at(operand, row, decides_); });
            }
            operands.push_back(std::move(operand));
        }
        return Operand{.column = decided(operands, batch.rows, decides_), .constant = false};
    }
    [[nodiscard]] bool can_fail() const override { return fails_; }

private:
    bool decides_;
    std::vector<LazyArgument> arguments_;
    bool fails_ = false;
    bool lazy_ = false;  // an argument after the first can fail
};

class ConditionalNode : public Node {
public:
    ConditionalNode(DataType type, std::vector<LazyArgument> arguments)
        : type_(type), arguments_(std::move(arguments)) {
        for (const LazyArgument& argument : arguments_) {
            fails_ = fails_ || argument.node->can_fail();
        }
    }

    [[nodiscard]] Result<Operand> run(const engine::Batch& batch) const override {
        engine::ColumnVector out(type_, batch.rows);
        RowNumbers open = all_rows(batch.rows);
        for (std::size_t i = 0; i + 1 < arguments_.size() && !open.empty(); i += 2) {
            TRY_ASSIGN(condition, arguments_[i].run(batch, open));
            RowNumbers chosen;
            RowNumbers rest;
            for (const std::uint32_t row : open) {
                (truth_at(condition, row, true) ? chosen : rest).push_back(row);
            }
            TRY(take(arguments_[i + 1], batch, chosen, out));
            open = std::move(rest);
        }
        TRY(take(arguments_.back(), batch, open, out));
        return Operand{.column = std::move(out), .constant = false};
    }
    [[nodiscard]] bool can_fail() const override { return fails_; }

private:
    static Result<Done> take(const LazyArgument& argument, const engine::Batch& batch,
                             const RowNumbers& rows, engine::ColumnVector& out) {
        if (rows.empty()) return Done{};
        TRY_ASSIGN(value, argument.run(batch, rows));
        engine::with_element(out.type(), [&](auto* none) {
            using T = std::remove_pointer_t<decltype(none)>;
            const T* from = value.column.template data<T>();
            T* to = out.mutable_data<T>();
            for (const std::uint32_t row : rows) to[row] = from[value.constant ? 0 : row];
        });
        if (value.column.valid() != nullptr) {
            std::uint8_t* valid = out.mutable_valid();
            for (const std::uint32_t row : rows) {
                valid[row] = value.column.is_null(value.constant ? 0 : row) ? 0 : 1;
            }
        }
        for (const engine::Holder& holder : value.column.held()) out.hold(holder);
        return Done{};
    }

    DataType type_;
    std::vector<LazyArgument> arguments_;
    bool fails_ = false;
};

// ---- compiling ----------------------------------------------------------------------------------

void collect_columns(const Expression& expression, std::vector<bool>& used) {
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) {
        if (used.size() <= column->index) used.resize(column->index + 1);
        used[column->index] = true;
    }
    if (const auto* call = std::get_if<Call>(&expression.node)) {
        for (const Expression& argument : call->arguments) collect_columns(argument, used);
    }
}

bool fails_itself(Function function, DataType argument, DataType result) {
    if (function == Function::divide || function == Function::modulo || function == Function::abs) {
        return is_integer(argument);
    }
    if (function == Function::cast) return is_text(argument) && !is_text(result);
    return function == Function::from_base64 || function == Function::cast_to_unix_ts ||
           function == Function::cast_from_unix_ts;
}

Kernel kernel_of(Function function, DataType argument, DataType result) {
    if (function == Function::cast) return cast_kernel(argument, result);
    if (function == Function::logical_not) {
        return argument == DataType::boolean ? not_kernel() : nullptr;
    }
    if (function <= Function::negate || function == Function::abs) {
        return arithmetic_kernel(function, argument);
    }
    if (function <= Function::is_nan) return comparison_kernel(function, argument);
    if (function <= Function::sqrt) return real_kernel(function, argument);
    const bool from_text =
        function <= Function::from_base64 || function == Function::cast_to_unix_ts;
    if (from_text != is_text(argument)) return nullptr;
    if (function <= Function::from_base64) return text_kernel(function);
    if (!from_text && argument != DataType::uint64) return nullptr;
    return time_kernel(function);
}

Result<NodePtr> node_of(const Expression& expression);

Result<std::vector<LazyArgument>> lazy_arguments(const Call& call) {
    std::vector<LazyArgument> arguments;
    for (const Expression& argument : call.arguments) {
        TRY_ASSIGN(node, node_of(argument));
        LazyArgument lazy{.node = std::move(node), .used = {}};
        collect_columns(argument, lazy.used);
        arguments.push_back(std::move(lazy));
    }
    return arguments;
}

Error meaningless(const Expression& expression) {
    return Error{.code = ErrorCode::not_supported,
                 .message = "the engine does not compute " + to_string(expression, Schema())};
}

Result<NodePtr> call_node(const Expression& expression, const Call& call) {
    if (call.arguments.empty()) return meaningless(expression);
    if (call.function == Function::logical_and || call.function == Function::logical_or) {
        for (const Expression& argument : call.arguments) {
            if (argument.type != DataType::boolean) return meaningless(expression);
        }
        TRY_ASSIGN(arguments, lazy_arguments(call));
        return NodePtr(new LogicNode(call.function == Function::logical_or, std::move(arguments)));
    }
    if (call.function == Function::conditional) {
        if (call.arguments.size() % 2 == 0) return meaningless(expression);
        TRY_ASSIGN(arguments, lazy_arguments(call));
        return NodePtr(new ConditionalNode(expression.type, std::move(arguments)));
    }
    std::vector<NodePtr> arguments;
    const DataType type = call.arguments.front().type;
    for (const Expression& argument : call.arguments) {
        const bool same = argument.type == type || (is_text(type) && is_text(argument.type));
        if (!same) return meaningless(expression);
        TRY_ASSIGN(node, node_of(argument));
        arguments.push_back(std::move(node));
    }
    const Kernel kernel = kernel_of(call.function, type, expression.type);
    if (kernel == nullptr) return meaningless(expression);
    return NodePtr(new StrictNode(kernel, expression.type, std::move(arguments),
                                  fails_itself(call.function, type, expression.type)));
}

Result<NodePtr> node_of(const Expression& expression) {
    if (const auto* column = std::get_if<ColumnIndex>(&expression.node)) {
        return NodePtr(new ColumnNode(column->index));
    }
    if (const auto* constant = std::get_if<Constant>(&expression.node)) {
        return NodePtr(new ConstantNode(expression.type, constant->value));
    }
    return call_node(expression, std::get<Call>(expression.node));
}

}  // namespace

CompiledExpression::CompiledExpression(std::unique_ptr<const Node> root, DataType type)
    : root_(std::move(root)), type_(type) {}
CompiledExpression::CompiledExpression(CompiledExpression&&) noexcept = default;
CompiledExpression& CompiledExpression::operator=(CompiledExpression&&) noexcept = default;
CompiledExpression::~CompiledExpression() = default;

Result<CompiledExpression> CompiledExpression::compile(const Expression& expression) {
    TRY_ASSIGN(root, expressions::node_of(expression));
    return CompiledExpression(std::move(root), expression.type);
}

Result<engine::ColumnVector> CompiledExpression::evaluate(const engine::Batch& batch) const {
    if (batch.rows == 0) return engine::ColumnVector(type_, 0);
    TRY_ASSIGN(operand, root_->run(batch));
    return expressions::expanded(operand, batch.rows);
}

Result<std::vector<std::uint32_t>> CompiledExpression::select(const engine::Batch& batch) const {
    std::vector<std::uint32_t> rows;
    if (batch.rows == 0) return rows;
    TRY_ASSIGN(column, evaluate(batch));
    const std::uint8_t* truth = column.data<std::uint8_t>();  // zero where NULL
    rows.resize(batch.rows);
    std::size_t count = 0;
    for (std::size_t i = 0; i < batch.rows; ++i) {
        rows[count] = static_cast<std::uint32_t>(i);
        count += truth[i];
    }
    rows.resize(count);
    return rows;
}

bool CompiledExpression::can_fail() const {
    return root_->can_fail();
}

bool fails_for_some(const Expression& expression) {
    const auto* call = std::get_if<Call>(&expression.node);
    if (call == nullptr) return false;
    if (call->arguments.empty()) return true;
    return expressions::fails_itself(call->function, call->arguments.front().type,
                                     expression.type) ||
           std::any_of(call->arguments.begin(), call->arguments.end(),
                       [](const Expression& argument) { return fails_for_some(argument); });
}

}  // namespace baton::expressions
