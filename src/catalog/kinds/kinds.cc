#include "catalog/kinds/kinds.h"

namespace baton {

namespace {

template <class E>
AnyKind kind_of() {
    const KindTable<E>& table = table_of<E>();
    std::vector<std::string_view> tables = {table.kind().table};
    for (const auto& [name, statements] : table.kind().companions) tables.push_back(name);
    return {.view = table.view(),
            .tables = std::move(tables),
            .statements = [&table](auto version) { return table.statements(version); }};
}

}  // namespace

std::span<const AnyKind> kinds() {
    static const std::vector<AnyKind> kKinds = {
        kind_of<Worker>(),         kind_of<KeptLink>(), kind_of<LogicalSource>(),
        kind_of<PhysicalSource>(), kind_of<Sink>(),     kind_of<Query>(),
        kind_of<Fragment>(),       kind_of<TaskList>(), kind_of<Partition>()};
    return kKinds;
}

}  // namespace baton
