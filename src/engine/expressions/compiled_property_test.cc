// Wherever evaluate() has an answer, the kernels have the same.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/optimizer/evaluate.h"
#include "engine/expressions/compiled.h"
#include "testing/plans/builders.h"
#include "testing/reference/reference.h"

namespace baton::expressions {
namespace {

using testing::call;
using testing::column;
using testing::Row;

std::size_t up_to(std::size_t most) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, most + 1));
}

bool one_in(std::size_t n) {
    return up_to(n - 1) == 0;
}

const Schema& schema() {
    static const Schema kSchema = [] {
        Schema made;
        for (const DataType type : all_data_types()) {
            const std::string name(to_string(type));
            made.columns.push_back({.name = name, .type = type, .nullable = false});
            made.columns.push_back({.name = name + "_N", .type = type, .nullable = true});
        }
        return made;
    }();
    return kSchema;
}

unsigned bits_of(DataType type) {
    return static_cast<unsigned>(8 * engine::width_of(type));
}

Value any_value(DataType type) {
    if (type == DataType::boolean) return one_in(2);
    if (is_text(type)) {
        static const std::vector<std::string> kTexts = {"", "a", "b", "\xC3\xA4", "long enough"};
        return kTexts[type == DataType::character ? 1 + up_to(2) : up_to(4)];
    }
    if (is_float(type)) {
        static const std::vector<double> kReals = {0.0,  -0.0, 1.5,      -2.25,   1e30,
                                                   0.25, 3.0,  INFINITY, -1e-10F, NAN};
        const double value = kReals[up_to(9)];
        return type == DataType::float32 ? static_cast<double>(static_cast<float>(value)) : value;
    }
    const std::uint64_t edge = ~std::uint64_t{0} >> (64 - bits_of(type));
    if (!is_signed(type)) {
        return one_in(3) ? edge - up_to(2) : std::uint64_t{up_to(5)};
    }
    const auto most = static_cast<std::int64_t>(edge >> 1U);
    if (one_in(4)) return one_in(2) ? most - static_cast<std::int64_t>(up_to(1)) : -most - 1;
    return static_cast<std::int64_t>(up_to(8)) - 4;
}

DataType any_type() {
    return all_data_types()[up_to(all_data_types().size() - 1)];
}

Expression any_expression(DataType type, std::size_t depth);

Expression any_truth(std::size_t depth) {
    const DataType type = any_type();
    const auto of_type = [&] { return any_expression(type, depth - 1); };
    switch (up_to(9)) {
        case 0:
            return call(Function::logical_not, {any_expression(DataType::boolean, depth - 1)});
        case 1:
        case 2:
        case 3: {
            std::vector<Expression> parts;
            for (std::size_t i = 0; i < 2 + up_to(1); ++i) {
                parts.push_back(any_expression(DataType::boolean, depth - 1));
            }
            return call(one_in(2) ? Function::logical_or : Function::logical_and, std::move(parts));
        }
        case 4:
            return call(Function::between, {of_type(), of_type(), of_type()});
        case 5:
            return call(Function::in_list, {of_type(), of_type(), of_type(), of_type()});
        case 6:
            return call(Function::is_null, {of_type()});
        case 7:
            if (!is_number(type)) return call(Function::is_null, {of_type()});
            return call(Function::is_nan, {of_type()});
        default: {
            const auto first = static_cast<std::size_t>(Function::equal);
            return call(static_cast<Function>(first + up_to(5)), {of_type(), of_type()});
        }
    }
}

Expression any_number(DataType type, std::size_t depth) {
    static constexpr Function kFunctions[] = {Function::add, Function::subtract, Function::multiply,
                                              Function::divide, Function::modulo};
    switch (up_to(3)) {
        case 0: {
            const DataType from = any_type();
            return testing::cast_to(type, any_expression(from, depth - 1));
        }
        case 1:
            return call(one_in(2) || !is_signed(type) ? Function::abs : Function::negate,
                        {any_expression(type, depth - 1)});
        default:
            return call(kFunctions[up_to(is_float(type) ? 3 : 4)],
                        {any_expression(type, depth - 1), any_expression(type, depth - 1)});
    }
}

Expression any_expression(DataType type, std::size_t depth) {
    if (depth > 0 && one_in(6)) {
        return call(Function::conditional,
                    {any_expression(DataType::boolean, depth - 1), any_expression(type, depth - 1),
                     any_expression(type, depth - 1)});
    }
    if (depth > 0 && type == DataType::boolean && !one_in(4)) return any_truth(depth);
    if (depth > 0 && is_number(type) && !one_in(3)) return any_number(type, depth);
    if (one_in(4)) {
        if (one_in(5)) return testing::null_of(type);
        return {.node = Constant{any_value(type)}, .type = type, .nullable = false};
    }
    return column(schema(), 2 * static_cast<std::size_t>(type) + up_to(1));
}

Row any_row() {
    Row row;
    for (const Column& each : schema().columns) {
        row.push_back(each.nullable && one_in(3) ? Value() : any_value(each.type));
    }
    return row;
}

engine::Batch batch_of(const std::vector<Row>& rows) {
    engine::Batch batch{.rows = rows.size(), .columns = {}};
    for (std::size_t i = 0; i < schema().columns.size(); ++i) {
        std::vector<Value> values;
        for (const Row& row : rows) values.push_back(row[i]);
        batch.columns.push_back(engine::column_of(schema().columns[i].type, values));
    }
    return batch;
}

bool same(const Value& a, const Value& b) {
    const auto* left = std::get_if<double>(&a);
    const auto* right = std::get_if<double>(&b);
    if (left == nullptr || right == nullptr) return a == b;
    return *left == *right || (std::isnan(*left) && std::isnan(*right));
}

RC_GTEST_PROP(CompiledExpressionProperty, GivesWhatEvaluateGives, ()) {
    const Expression expression = any_expression(any_type(), 4);
    auto compiled = CompiledExpression::compile(expression);
    if (!compiled) {  // a cast to CHAR
        RC_ASSERT(compiled.error().code == ErrorCode::not_supported);
        return;
    }
    RC_TAG(compiled->can_fail() ? "can fail" : "cannot fail");
    RC_ASSERT(compiled->can_fail() == fails_for_some(expression));
    std::vector<Row> good;
    std::vector<Value> expected;
    for (std::size_t i = 0; i < 12; ++i) {
        const Row row = any_row();
        const auto value = optimizer::evaluate(expression, row);
        const auto actual = compiled->evaluate(batch_of({row}));
        if (value) {
            if (!actual) RC_FAIL("a new error: " + to_string(actual.error()));
            RC_ASSERT(actual->type() == expression.type);
            const Value got = engine::value_at(*actual, 0);
            if (!same(*value, got)) {
                RC_FAIL(to_string(expression, schema()) + " over " + testing::to_string({row}) +
                        " is " + testing::to_string({{got}}) + "not " +
                        testing::to_string({{*value}}));
            }
            good.push_back(row);
            expected.push_back(*value);
        } else if (value.error().code == ErrorCode::arithmetic) {
            RC_ASSERT(!actual.has_value());
            RC_ASSERT(actual.error().code == ErrorCode::arithmetic ||
                      actual.error().code == ErrorCode::cannot_format);
            RC_ASSERT(compiled->can_fail());
        } else if (actual) {
            good.push_back(row);
            expected.push_back(engine::value_at(*actual, 0));
        }
    }
    const auto all = compiled->evaluate(batch_of(good));
    RC_ASSERT(all.has_value());
    RC_ASSERT(all->size() == good.size());
    for (std::size_t i = 0; i < good.size(); ++i) {
        RC_ASSERT(same(engine::value_at(*all, i), expected[i]));
    }
}

}  // namespace
}  // namespace baton::expressions
