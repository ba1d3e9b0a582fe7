// A reason takes four columns: its text, which the first version of the catalog had, and its data
// for programs. For kinds with a member `reason`.
#pragma once

#include "catalog/kinds/kind_table.h"
#include "model/reason.h"

namespace baton::kinds {

template <class E>
[[nodiscard]] KindColumn<E> reason_text() {
    return column_of<E>(
               "reason", "{text} NOT NULL",
               [](auto& entity) -> auto& { return entity.reason.text; })
        .shown("REASON", ViewType::text, "why it is in this state")
        .in_brief()
        .changing();
}
template <class E>
[[nodiscard]] KindColumn<E> reason_code() {
    return column_of<E>(
               "reason_code", "{key} NOT NULL DEFAULT ''",
               [](auto& entity) -> auto& { return entity.reason.code; })
        .shown("REASON_CODE", ViewType::text, "REASON for programs: see Reasons")
        .changing()
        .since(4);
}
template <class E>
[[nodiscard]] KindColumn<E> reason_who() {
    return column_of<E>(
               "reason_who", "{key} NOT NULL DEFAULT ''",
               [](auto& entity) -> auto& { return entity.reason.who; })
        .shown("REASON_WHO", ViewType::text, "the worker that REASON is about")
        .changing()
        .since(4);
}
template <class E>
[[nodiscard]] KindColumn<E> reason_error() {
    return KindColumn<E>{
        .name = "reason_error",
        .definition = "{int}",
        .value = [](const E& entity) -> SqlValue {
            const std::uint32_t error = entity.reason.error;
            return error == 0 ? SqlValue() : value_of(error);
        },
        .read = [](E& entity,
                   const SqlValue& value) { return read_value(value, entity.reason.error); }}
        .shown("REASON_ERROR", ViewType::integer, "the number of the error behind REASON")
        .changing()
        .since(4);
}

}  // namespace baton::kinds
