// The types of PostgreSQL that clients may meet here, or ask about.
#include <array>

#include "doors/pg/catalog/tables.h"

namespace baton::pg {

namespace {

constexpr std::array kTypes = {
    TypeDefinition{16, "bool", 1, true, 'b', 'B', true, 1000, "boolean"},
    TypeDefinition{17, "bytea", -1, false, 'b', 'U', false, 1001, "bytea"},
    TypeDefinition{18, "char", 1, true, 'b', 'Z', false, 1002, "\"char\""},
    TypeDefinition{19, "name", 64, false, 'b', 'S', false, 1003, "name"},
    TypeDefinition{20, "int8", 8, true, 'b', 'N', false, 1016, "bigint"},
    TypeDefinition{21, "int2", 2, true, 'b', 'N', false, 1005, "smallint"},
    TypeDefinition{23, "int4", 4, true, 'b', 'N', false, 1007, "integer"},
    TypeDefinition{24, "regproc", 4, true, 'b', 'N', false, 1008, "regproc"},
    TypeDefinition{25, "text", -1, false, 'b', 'S', true, 1009, "text"},
    TypeDefinition{26, "oid", 4, true, 'b', 'N', true, 1028, "oid"},
    TypeDefinition{114, "json", -1, false, 'b', 'U', false, 199, "json"},
    TypeDefinition{700, "float4", 4, true, 'b', 'N', false, 1021, "real"},
    TypeDefinition{701, "float8", 8, true, 'b', 'N', true, 1022, "double precision"},
    TypeDefinition{705, "unknown", -2, false, 'p', 'X', false, 0, "unknown"},
    TypeDefinition{1042, "bpchar", -1, false, 'b', 'S', false, 1014, "character"},
    TypeDefinition{1043, "varchar", -1, false, 'b', 'S', false, 1015, "character varying"},
    TypeDefinition{1082, "date", 4, true, 'b', 'D', false, 1182, "date"},
    TypeDefinition{1083, "time", 8, true, 'b', 'D', false, 1183, "time without time zone"},
    TypeDefinition{1114, "timestamp", 8, true, 'b', 'D', false, 1115,
                   "timestamp without time zone"},
    TypeDefinition{1184, "timestamptz", 8, true, 'b', 'D', true, 1185, "timestamp with time zone"},
    TypeDefinition{1186, "interval", 16, false, 'b', 'T', true, 1187, "interval"},
    TypeDefinition{1700, "numeric", -1, false, 'b', 'N', false, 1231, "numeric"},
    TypeDefinition{2205, "regclass", 4, true, 'b', 'N', false, 2210, "regclass"},
    TypeDefinition{2206, "regtype", 4, true, 'b', 'N', false, 2211, "regtype"},
    TypeDefinition{2249, "record", -1, false, 'p', 'P', false, 2287, "record"},
    TypeDefinition{2278, "void", 4, true, 'p', 'P', false, 0, "void"},
    TypeDefinition{2950, "uuid", 16, false, 'b', 'U', false, 2951, "uuid"},
    TypeDefinition{3802, "jsonb", -1, false, 'b', 'U', false, 3807, "jsonb"},
};

}  // namespace

std::span<const TypeDefinition> type_definitions() {
    return kTypes;
}

}  // namespace baton::pg
