#include "model/aggregate_state.h"

namespace baton {

std::optional<std::vector<Column>> states_of(const Aggregate& aggregate, const std::string& name) {
    const auto column = [&](const char* what, DataType type, bool nullable) {
        return Column{.name = name + "_" + what, .type = type, .nullable = nullable};
    };
    const Column count = column("COUNT", DataType::uint64, false);
    switch (aggregate.function) {
        case AggregateFunction::count_all:
        case AggregateFunction::count:
            return {{count}};
        case AggregateFunction::sum:
            return {{column("SUM", aggregate.type, true)}};
        case AggregateFunction::min:
            return {{column("MIN", aggregate.type, true)}};
        case AggregateFunction::max:
            return {{column("MAX", aggregate.type, true)}};
        case AggregateFunction::avg:
            return {{column("SUM", DataType::float64, true), count}};
        case AggregateFunction::stddev:
        case AggregateFunction::variance:
            return {{count, column("MEAN", DataType::float64, true),
                     column("M2", DataType::float64, true)}};
        case AggregateFunction::count_distinct:
        case AggregateFunction::median:
        case AggregateFunction::first:
        case AggregateFunction::last:
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace baton
