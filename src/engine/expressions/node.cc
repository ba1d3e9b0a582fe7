#include "engine/expressions/node.h"

#include <algorithm>
#include <vector>

#include "engine/columns/elements.h"

namespace baton::expressions {

engine::ColumnVector expanded(const Operand& operand, std::size_t rows) {
    if (!operand.constant) return operand.column;
    if (operand.column.is_null(0)) return nulls(operand.column.type(), rows);
    engine::ColumnVector out(operand.column.type(), rows);
    engine::with_element(operand.column.type(), [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        std::fill_n(out.mutable_data<T>(), rows, operand.column.data<T>()[0]);
    });
    for (const engine::Holder& holder : operand.column.held()) out.hold(holder);
    return out;
}

engine::ColumnVector nulls(DataType type, std::size_t rows) {
    engine::ColumnVector out(type, rows);
    std::fill_n(out.mutable_valid(), rows, std::uint8_t{0});
    return out;
}

void mark_nulls(engine::ColumnVector& out, std::span<const Operand> operands) {
    const Operand* first = nullptr;
    bool own = false;
    for (const Operand& operand : operands) {
        if (operand.constant && operand.column.size() != out.size()) {
            if (!operand.column.is_null(0)) continue;
            std::fill_n(out.mutable_valid(), out.size(), std::uint8_t{0});
            return;
        }
        if (operand.column.valid() == nullptr) continue;
        if (first == nullptr) {
            first = &operand;
            continue;
        }
        std::uint8_t* valid = out.mutable_valid();
        if (!own) std::copy_n(first->column.valid(), out.size(), valid);
        own = true;
        const std::uint8_t* other = operand.column.valid();
        for (std::size_t i = 0; i < out.size(); ++i) valid[i] &= other[i];
    }
    if (first != nullptr && !own) out.share_valid(first->column);
}

void clear_under_nulls(engine::ColumnVector& out) {
    const std::uint8_t* valid = out.valid();
    if (valid == nullptr) return;
    engine::with_element(out.type(), [&](auto* none) {
        using T = std::remove_pointer_t<decltype(none)>;
        T* values = out.mutable_data<T>();
        for (std::size_t i = 0; i < out.size(); ++i) values[i] = valid[i] != 0 ? values[i] : T{};
    });
}

void take_nulls(engine::ColumnVector& out, std::span<const Operand> operands) {
    mark_nulls(out, operands);
    clear_under_nulls(out);
}

engine::ColumnVector decided(std::span<const Operand> operands, std::size_t rows, bool decides) {
    engine::ColumnVector out(DataType::boolean, rows);
    std::uint8_t* values = out.mutable_data<std::uint8_t>();
    std::vector<std::uint8_t> unknown;
    const std::uint8_t flip = decides ? 0 : 1;
    for (const Operand& operand : operands) {
        const engine::ColumnVector column = expanded(operand, rows);
        const std::uint8_t* truth = column.data<std::uint8_t>();
        const std::uint8_t* valid = column.valid();
        if (valid == nullptr) {
            for (std::size_t i = 0; i < rows; ++i) values[i] |= truth[i] ^ flip;
            continue;
        }
        unknown.resize(rows);
        for (std::size_t i = 0; i < rows; ++i) {
            values[i] |= (truth[i] ^ flip) & valid[i];
            unknown[i] |= valid[i] ^ 1U;
        }
    }
    if (!unknown.empty()) {
        std::uint8_t* valid = out.mutable_valid();
        for (std::size_t i = 0; i < rows; ++i) valid[i] = values[i] | (unknown[i] ^ 1U);
    }
    for (std::size_t i = 0; i < rows; ++i) values[i] ^= flip;
    clear_under_nulls(out);
    return out;
}

}  // namespace baton::expressions
