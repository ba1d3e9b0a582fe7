#include "doors/pg/catalog/tables.h"

#include <set>

#include "base/text.h"

namespace baton::pg {

namespace {

constexpr std::int64_t kFirstNumber = 20'000;
constexpr std::int64_t kDatabase = 16'385;
constexpr std::int64_t kTablespace = 1663;
constexpr std::int64_t kDefaultCollation = 100;

constexpr std::int64_t kNone = 0;
const SqlValue kYes = std::int64_t{1};

SqlValue text(std::string_view value) {
    return std::string(value);
}
SqlValue letter(char value) {
    return std::string(1, value);
}
SqlValue flag(bool value) {
    return std::int64_t{value};
}

std::string create(const TableDefinition& table) {
    std::string made = "CREATE TABLE " + std::string(table.name) + "(";
    std::string_view rest = table.columns;
    for (bool first = true; !rest.empty(); first = false) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        std::string_view column = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const char kind = column.back();
        if (kind == '#' || kind == '?') column.remove_suffix(1);
        made += first ? "" : ",";
        made += in_quotes(column);
        made += kind == '#' ? " INTEGER DEFAULT 0" : kind == '?' ? " BOOLEAN DEFAULT 0" : " TEXT";
    }
    return made + ");";
}

constexpr std::string_view kViews = R"(
CREATE VIEW information_schema_tables AS SELECT
    current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END AS table_type,
    NULL AS self_referencing_column_name, NULL AS reference_generation,
    NULL AS user_defined_type_catalog, NULL AS user_defined_type_schema,
    NULL AS user_defined_type_name, 'NO' AS is_insertable_into, 'NO' AS is_typed,
    NULL AS commit_action
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace;
CREATE VIEW information_schema_columns AS SELECT
    current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    a.attname AS column_name, a.attnum AS ordinal_position, NULL AS column_default,
    CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS is_nullable,
    format_type(a.atttypid, NULL) AS data_type, NULL AS character_maximum_length,
    NULL AS character_octet_length,
    CASE a.atttypid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24
        WHEN 701 THEN 53 WHEN 1700 THEN
        CASE WHEN a.atttypmod > 0 THEN (a.atttypmod - 4) / 65536 END END AS numeric_precision,
    CASE WHEN a.atttypid IN (20, 21, 23, 700, 701) THEN 2 WHEN a.atttypid = 1700 THEN 10 END
        AS numeric_precision_radix,
    CASE WHEN a.atttypid IN (20, 21, 23) THEN 0 WHEN a.atttypid = 1700 AND a.atttypmod > 0 THEN
        (a.atttypmod - 4) % 65536 END AS numeric_scale,
    CASE WHEN a.atttypid IN (1114, 1184) THEN 6 END AS datetime_precision,
    NULL AS interval_type, NULL AS interval_precision, NULL AS character_set_catalog,
    NULL AS character_set_schema, NULL AS character_set_name, NULL AS collation_catalog,
    NULL AS collation_schema, NULL AS collation_name, NULL AS domain_catalog,
    NULL AS domain_schema, NULL AS domain_name, current_database() AS udt_catalog,
    'pg_catalog' AS udt_schema, t.typname AS udt_name, NULL AS scope_catalog,
    NULL AS scope_schema, NULL AS scope_name, NULL AS maximum_cardinality,
    CAST(a.attnum AS TEXT) AS dtd_identifier, 'NO' AS is_self_referencing, 'NO' AS is_identity,
    NULL AS identity_generation, NULL AS identity_start, NULL AS identity_increment,
    NULL AS identity_maximum, NULL AS identity_minimum, 'NO' AS identity_cycle,
    'NEVER' AS is_generated, NULL AS generation_expression, 'NO' AS is_updatable
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attnum > 0;
CREATE VIEW information_schema_schemata AS SELECT
    current_database() AS catalog_name, nspname AS schema_name,
    pg_get_userbyid(nspowner) AS schema_owner, NULL AS default_character_set_catalog,
    NULL AS default_character_set_schema, NULL AS default_character_set_name, NULL AS sql_path
    FROM pg_namespace;
CREATE VIEW information_schema_views AS SELECT
    current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    NULL AS view_definition, 'NONE' AS check_option, 'NO' AS is_updatable,
    'NO' AS is_insertable_into, 'NO' AS is_trigger_updatable, 'NO' AS is_trigger_deletable,
    'NO' AS is_trigger_insertable_into
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v';
INSERT INTO pg_tables (schemaname, tablename, tableowner) SELECT n.nspname, c.relname,
    pg_get_userbyid(c.relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r';
INSERT INTO pg_views (schemaname, viewname, viewowner) SELECT n.nspname, c.relname,
    pg_get_userbyid(c.relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'v';
)";

Result<Done> fill_types(Store& store) {
    for (const TypeDefinition& type : type_definitions()) {
        TRY(store.insert("pg_type",
                         {{"oid", type.oid},
                          {"typname", text(type.name)},
                          {"typnamespace", kCatalogSchema},
                          {"typowner", kUser},
                          {"typlen", type.length},
                          {"typbyval", flag(type.by_value)},
                          {"typtype", letter(type.type)},
                          {"typcategory", letter(type.category)},
                          {"typispreferred", flag(type.preferred)},
                          {"typisdefined", kYes},
                          {"typdelim", text(",")},
                          {"typarray", type.array},
                          {"typinput", std::string(type.name) + "in"},
                          {"typcollation", type.category == 'S' ? kDefaultCollation : kNone},
                          {"typtypmod", std::int64_t{-1}}}));
        if (type.array == 0) continue;
        TRY(store.insert("pg_type", {{"oid", type.array},
                                     {"typname", "_" + std::string(type.name)},
                                     {"typnamespace", kCatalogSchema},
                                     {"typowner", kUser},
                                     {"typlen", std::int64_t{-1}},
                                     {"typtype", text("b")},
                                     {"typcategory", text("A")},
                                     {"typisdefined", kYes},
                                     {"typdelim", text(",")},
                                     {"typelem", type.oid},
                                     {"typinput", text("array_in")},
                                     {"typtypmod", std::int64_t{-1}}}));
    }
    return Done{};
}

Result<Done> fill_relation(Store& store, std::int64_t number, const Relation& relation) {
    const bool public_one = relation.schema == "public";
    TRY(store.insert("pg_class", {{"oid", number},
                                  {"relname", relation.name},
                                  {"relnamespace", public_one ? kPublicSchema : kBatonSchema},
                                  {"relowner", kUser},
                                  {"reltuples", std::int64_t{-1}},
                                  {"relpersistence", text("p")},
                                  {"relkind", letter(relation.kind)},
                                  {"relnatts", static_cast<std::int64_t>(relation.columns.size())},
                                  {"relispopulated", kYes},
                                  {"relreplident", text("d")}}));
    const auto describe = [&](std::int64_t column, const std::string& comment) -> Result<Done> {
        if (comment.empty()) return Done{};
        return store.insert("pg_description", {{"objoid", number},
                                               {"classoid", kClassOfClasses},
                                               {"objsubid", column},
                                               {"description", comment}});
    };
    TRY(describe(0, relation.comment));
    std::int64_t at = 0;
    for (const Attribute& column : relation.columns) {
        const bool collates =
            column.type == pgwire::KnownType::text || column.type == pgwire::KnownType::bpchar;
        at += 1;
        TRY(store.insert("pg_attribute", {{"attrelid", number},
                                          {"attname", column.name},
                                          {"atttypid", static_cast<std::int64_t>(column.type)},
                                          {"attlen", std::int64_t{-1}},
                                          {"attnum", at},
                                          {"attstattarget", std::int64_t{-1}},
                                          {"atttypmod", std::int64_t{column.modifier}},
                                          {"attstorage", text("p")},
                                          {"attcompression", text("")},
                                          {"attnotnull", flag(column.not_null)},
                                          {"attidentity", text("")},
                                          {"attgenerated", text("")},
                                          {"attislocal", kYes},
                                          {"attcollation", collates ? kDefaultCollation : kNone}}));
        TRY(describe(at, column.comment));
    }
    return Done{};
}

Result<Done> fill_cluster(Store& store, const World& world) {
    const auto schema = [&](std::int64_t number, std::string_view name) {
        return store.insert("pg_namespace",
                            {{"oid", number}, {"nspname", text(name)}, {"nspowner", kUser}});
    };
    TRY(schema(kCatalogSchema, "pg_catalog"));
    TRY(schema(kPublicSchema, "public"));
    TRY(schema(kInformationSchema, "information_schema"));
    TRY(schema(kBatonSchema, "baton"));
    TRY(store.insert("pg_database", {{"oid", kDatabase},
                                     {"datname", world.database},
                                     {"datdba", kUser},
                                     {"encoding", std::int64_t{6}},
                                     {"datlocprovider", text("c")},
                                     {"datallowconn", kYes},
                                     {"datconnlimit", std::int64_t{-1}},
                                     {"dattablespace", kTablespace},
                                     {"datcollate", text("C")},
                                     {"datctype", text("C.UTF-8")}}));
    TRY(store.insert("pg_tablespace",
                     {{"oid", kTablespace}, {"spcname", text("pg_default")}, {"spcowner", kUser}}));
    TRY(store.insert("pg_collation", {{"oid", kDefaultCollation},
                                      {"collname", text("default")},
                                      {"collnamespace", kCatalogSchema}}));
    for (const std::string_view table : {"pg_roles", "pg_authid"}) {
        TRY(store.insert(table, {{"oid", kUser},
                                 {"rolname", world.user},
                                 {"rolinherit", kYes},
                                 {"rolcanlogin", kYes},
                                 {"rolconnlimit", std::int64_t{-1}}}));
    }
    TRY(store.insert("pg_user", {{"usename", world.user}, {"usesysid", kUser}}));
    for (const auto& [name, value] : world.settings) {
        TRY(store.insert("pg_settings", {{"name", name},
                                         {"setting", value},
                                         {"context", text("user")},
                                         {"vartype", text("string")},
                                         {"source", text("default")}}));
    }
    return Done{};
}

}  // namespace

std::map<std::int64_t, const Relation*> numbered(const World& world) {
    std::map<std::int64_t, const Relation*> numbers;
    for (const Relation& relation : world.relations) {
        std::uint32_t hash = 2'166'136'261U;
        for (const char c : relation.schema + "." + relation.name) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
        }
        std::int64_t number = kFirstNumber + hash % 1'000'000'000;
        while (numbers.contains(number)) number += 1;
        numbers.emplace(number, &relation);
    }
    return numbers;
}

Result<Done> make_tables(Store& store, const World& world, const std::set<std::string>& names) {
    const std::set<std::string_view> filled = {
        "pg_attribute",   "pg_authid",    "pg_class", "pg_collation", "pg_database",
        "pg_description", "pg_namespace", "pg_roles", "pg_settings",  "pg_tablespace",
        "pg_tables",      "pg_type",      "pg_user",  "pg_views"};
    std::string statements = "BEGIN;";
    for (const TableDefinition& table : table_definitions()) {
        const bool wanted = filled.contains(table.name) || names.contains(std::string(table.name));
        if (wanted) statements += create(table);
    }
    TRY(store.execute(statements));
    TRY(fill_types(store));
    TRY(fill_cluster(store, world));
    for (const auto& [number, relation] : numbered(world)) {
        TRY(fill_relation(store, number, *relation));
    }
    return store.execute(std::string(kViews) + "COMMIT;");
}

}  // namespace baton::pg
