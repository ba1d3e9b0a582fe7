#include "adapters/duckdb/types.h"

#include <array>
#include <utility>

// DuckDB's enumerations are an open set: most of their members concern no switch here.
#pragma GCC diagnostic ignored "-Wswitch-enum"

namespace baton::duckdb_engine {

namespace {

using duckdb::LogicalType;
using duckdb::LogicalTypeId;
using Kind = SqlType::Kind;

LogicalType structure_of(const std::vector<SqlField>& parts) {
    duckdb::child_list_t<LogicalType> children;
    for (const SqlField& part : parts) {
        children.emplace_back(part.name, logical_type_of(part.type));
    }
    return LogicalType::STRUCT(std::move(children));
}

SqlType with_parts(Kind kind, std::vector<SqlField> parts) {
    return {.kind = kind, .parts = std::move(parts)};
}

SqlType structure_type(const LogicalType& type) {
    std::vector<SqlField> parts;
    for (const auto& [name, child] : duckdb::StructType::GetChildTypes(type)) {
        parts.push_back({.name = name, .type = sql_type_of(child)});
    }
    return with_parts(Kind::structure, std::move(parts));
}

Kind plain_kind(LogicalTypeId id) {
    constexpr std::array kKinds = {
        std::pair{LogicalTypeId::BOOLEAN, Kind::boolean},
        std::pair{LogicalTypeId::TINYINT, Kind::tinyint},
        std::pair{LogicalTypeId::SMALLINT, Kind::smallint},
        std::pair{LogicalTypeId::INTEGER, Kind::integer},
        std::pair{LogicalTypeId::BIGINT, Kind::bigint},
        std::pair{LogicalTypeId::FLOAT, Kind::real},
        std::pair{LogicalTypeId::DOUBLE, Kind::double_precision},
        std::pair{LogicalTypeId::BLOB, Kind::blob},
        std::pair{LogicalTypeId::DATE, Kind::date},
        std::pair{LogicalTypeId::TIMESTAMP, Kind::timestamp},
        std::pair{LogicalTypeId::TIMESTAMP_SEC, Kind::timestamp},
        std::pair{LogicalTypeId::TIMESTAMP_MS, Kind::timestamp},
        std::pair{LogicalTypeId::TIMESTAMP_NS, Kind::timestamp},
        std::pair{LogicalTypeId::TIMESTAMP_TZ, Kind::timestamptz},
        std::pair{LogicalTypeId::UTINYINT, Kind::utinyint},
        std::pair{LogicalTypeId::USMALLINT, Kind::usmallint},
        std::pair{LogicalTypeId::UINTEGER, Kind::uinteger},
        std::pair{LogicalTypeId::UBIGINT, Kind::ubigint},
        std::pair{LogicalTypeId::HUGEINT, Kind::hugeint},
        std::pair{LogicalTypeId::UHUGEINT, Kind::uhugeint},
        std::pair{LogicalTypeId::TIME, Kind::time},
        std::pair{LogicalTypeId::INTERVAL, Kind::interval},
        std::pair{LogicalTypeId::UUID, Kind::uuid},
        std::pair{LogicalTypeId::ENUM, Kind::varchar},
        // Of a NULL without a type.
        std::pair{LogicalTypeId::SQLNULL, Kind::varchar},
    };
    for (const auto& [known, kind] : kKinds) {
        if (known == id) return kind;
    }
    return Kind::other;
}

}  // namespace

LogicalType logical_type_of(const SqlType& type) {
    switch (type.kind) {
        case Kind::boolean:
            return LogicalType::BOOLEAN;
        case Kind::tinyint:
            return LogicalType::TINYINT;
        case Kind::smallint:
            return LogicalType::SMALLINT;
        case Kind::integer:
            return LogicalType::INTEGER;
        case Kind::bigint:
            return LogicalType::BIGINT;
        case Kind::real:
            return LogicalType::FLOAT;
        case Kind::double_precision:
            return LogicalType::DOUBLE;
        case Kind::decimal:
            return LogicalType::DECIMAL(type.precision, type.scale);
        case Kind::varchar:
            return LogicalType::VARCHAR;
        case Kind::blob:
            return LogicalType::BLOB;
        case Kind::date:
            return LogicalType::DATE;
        case Kind::timestamp:
            return LogicalType::TIMESTAMP;
        case Kind::timestamptz:
            return LogicalType::TIMESTAMP_TZ;
        case Kind::list:
            return LogicalType::LIST(logical_type_of(type.parts.at(0).type));
        case Kind::structure:
            return structure_of(type.parts);
        case Kind::utinyint:
            return LogicalType::UTINYINT;
        case Kind::usmallint:
            return LogicalType::USMALLINT;
        case Kind::uinteger:
            return LogicalType::UINTEGER;
        case Kind::ubigint:
            return LogicalType::UBIGINT;
        case Kind::hugeint:
            return LogicalType::HUGEINT;
        case Kind::uhugeint:
            return LogicalType::UHUGEINT;
        case Kind::time:
            return LogicalType::TIME;
        case Kind::interval:
            return LogicalType::INTERVAL;
        case Kind::uuid:
            return LogicalType::UUID;
        case Kind::json:
            return LogicalType::JSON();
        case Kind::map:
            return LogicalType::MAP(logical_type_of(type.parts.at(0).type),
                                    logical_type_of(type.parts.at(1).type));
        case Kind::other:
            return LogicalType::VARCHAR;
    }
    CHECK(false);
}

SqlType sql_type_of(const LogicalType& type) {
    if (type.IsJSONType()) return {.kind = Kind::json};
    switch (type.id()) {
        case LogicalTypeId::DECIMAL:
            return {.kind = Kind::decimal,
                    .precision = duckdb::DecimalType::GetWidth(type),
                    .scale = duckdb::DecimalType::GetScale(type)};
        case LogicalTypeId::LIST:
            return with_parts(Kind::list,
                              {{.type = sql_type_of(duckdb::ListType::GetChildType(type))}});
        case LogicalTypeId::ARRAY:
            return with_parts(Kind::list,
                              {{.type = sql_type_of(duckdb::ArrayType::GetChildType(type))}});
        case LogicalTypeId::MAP:
            return with_parts(Kind::map, {{.type = sql_type_of(duckdb::MapType::KeyType(type))},
                                          {.type = sql_type_of(duckdb::MapType::ValueType(type))}});
        case LogicalTypeId::STRUCT:
            return structure_type(type);
        case LogicalTypeId::VARCHAR:
            return {.kind = Kind::varchar};
        default:
            return {.kind = plain_kind(type.id())};
    }
}

}  // namespace baton::duckdb_engine
