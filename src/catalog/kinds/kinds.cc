#include "catalog/kinds/kinds.h"

namespace baton::kinds {

namespace {

template <class E>
AnyKind kind_of() {
    const KindTable<E>& table = table_of<E>();
    std::vector<std::string_view> tables = {table.kind().table};
    for (const auto& [name, statements] : table.kind().companions) tables.push_back(name);
    return {.view = table.view(),
            .tables = std::move(tables),
            .statements = [&table](auto version) { return table.statements(version); },
            .version = table.version()};
}

template <class... E>
std::vector<AnyKind> kinds_of(const std::tuple<E...>*) {
    return {kind_of<E>()...};
}

}  // namespace

std::span<const AnyKind> kinds() {
    static const std::vector<AnyKind> kKinds = kinds_of(static_cast<KindTypes*>(nullptr));
    return kKinds;
}

}  // namespace baton::kinds
