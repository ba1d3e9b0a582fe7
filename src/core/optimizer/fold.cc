#include "core/optimizer/fold.h"

#include <algorithm>
#include <iterator>

#include "core/optimizer/evaluate.h"
#include "core/optimizer/expressions.h"

namespace baton::optimizer {

namespace {

bool is_value(const Expression& expression, bool value) {
    const auto* constant = std::get_if<Constant>(&expression.node);
    return constant != nullptr && constant->value == Value(value);
}

Expression constant_like(const Expression& expression, Value value) {
    return {.node = Constant{std::move(value)},
            .type = expression.type,
            .nullable = expression.nullable};
}

// An expression in the place of another of the same type.
Expression in_place_of(const Expression& whole, Expression part) {
    part.nullable = whole.nullable;
    return part;
}

Expression folded_logic(const Expression& expression) {
    const auto& call = std::get<Call>(expression.node);
    const bool decides = call.function == Function::logical_or;
    std::vector<Expression> parts;
    for (const Expression& argument : call.arguments) {
        const auto* inner = std::get_if<Call>(&argument.node);
        if (inner != nullptr && inner->function == call.function) {
            std::copy(inner->arguments.begin(), inner->arguments.end(), std::back_inserter(parts));
        } else {
            parts.push_back(argument);
        }
    }
    const bool decided = std::any_of(parts.begin(), parts.end(), [&](const Expression& part) {
        return is_value(part, decides);
    });
    if (decided) return constant_like(expression, decides);
    std::erase_if(parts, [&](const Expression& part) { return is_value(part, !decides); });
    if (parts.empty()) return constant_like(expression, !decides);
    if (parts.size() == 1) return in_place_of(expression, std::move(parts.front()));
    if (std::all_of(parts.begin(), parts.end(), is_constant)) {
        return constant_like(expression, Value());  // each is NULL
    }
    return {.node = Call{call.function, std::move(parts)},
            .type = expression.type,
            .nullable = expression.nullable};
}

Expression folded_conditional(const Expression& expression) {
    const auto& call = std::get<Call>(expression.node);
    std::vector<Expression> kept;
    for (std::size_t i = 0; i + 1 < call.arguments.size(); i += 2) {
        const Expression& condition = call.arguments[i];
        if (is_constant(condition) && !is_value(condition, true)) continue;
        if (is_value(condition, true)) {
            kept.push_back(call.arguments[i + 1]);
            break;
        }
        kept.push_back(condition);
        kept.push_back(call.arguments[i + 1]);
    }
    if (kept.size() % 2 == 0) kept.push_back(call.arguments.back());
    if (kept.size() == 1) return in_place_of(expression, std::move(kept.front()));
    return {.node = Call{Function::conditional, std::move(kept)},
            .type = expression.type,
            .nullable = expression.nullable};
}

}  // namespace

Expression folded(Expression expression) {
    auto* call = std::get_if<Call>(&expression.node);
    if (call == nullptr) return expression;
    for (Expression& argument : call->arguments) argument = folded(std::move(argument));
    if (call->function == Function::logical_and || call->function == Function::logical_or) {
        return folded_logic(expression);
    }
    if (call->function == Function::conditional) return folded_conditional(expression);
    if (!std::all_of(call->arguments.begin(), call->arguments.end(), is_constant)) {
        return expression;
    }
    auto value = evaluate(expression, {});
    if (!value) return expression;
    return constant_like(expression, *std::move(value));
}

}  // namespace baton::optimizer
