#include "doors/pg/catalog/functions.h"

#include <charconv>

#include <re2/re2.h>

#include "base/text.h"
#include "doors/pg/catalog/tables.h"
#include "doors/pg/catalog/tokens.h"

namespace baton::pg {

namespace {

using Arguments = std::span<const SqlValue>;

constexpr std::size_t kPatternBytesMax = 300;
constexpr std::size_t kSubjectBytesMax = 300;
constexpr std::int64_t kPatternMemoryMax = 1 << 20;

const SqlValue kNull;

SqlValue argument(Arguments arguments, std::size_t i) {
    return i < arguments.size() ? arguments[i] : kNull;
}
bool is_null(const SqlValue& value) {
    return std::holds_alternative<std::monostate>(value);
}
std::string text_of(const SqlValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : "";
}
std::optional<std::int64_t> number_of(const SqlValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return std::nullopt;
    std::int64_t number = 0;
    const char* const end = text->data() + text->size();
    const bool whole = !text->empty() && std::from_chars(text->data(), end, number).ptr == end;
    return whole ? std::optional(number) : std::nullopt;
}

Store::Function constant(SqlValue value) {
    return [value = std::move(value)](Arguments) { return value; };
}

// ---- arrays -------------------------------------------------------------------------------------

// A JSON array from one, or from '{a,b}'.
std::string array_of(const std::string& text) {
    if (text.size() < 2 || text.front() != '{') return text.starts_with('[') ? text : "[]";
    std::string json = "[";
    std::string item;
    const auto finish = [&] {
        if (json.size() > 1) json += ',';
        append_json_string(json, item);
        item.clear();
    };
    bool any = false;
    for (const char c : std::string_view(text).substr(1, text.size() - 2)) {
        if (c == ',') {
            finish();
        } else if (c != '"') {
            item += c;
        }
        any = true;
    }
    if (any) finish();
    return json + "]";
}

// Those of a flat JSON array, without their quotes.
std::vector<std::string> items_of(const std::string& json) {
    std::vector<std::string> items;
    if (json.size() < 2) return items;
    std::string item;
    bool quotes = false;
    for (std::size_t i = 1; i + 1 < json.size(); ++i) {
        const char c = json[i];
        if (c == '\\' && i + 2 < json.size()) {
            i += 1;
            item += json[i] == 'n' ? '\n' : json[i];
        } else if (c == '"') {
            quotes = !quotes;
        } else if (c == ',' && !quotes) {
            items.push_back(std::exchange(item, {}));
        } else {
            item += c;
        }
    }
    if (json.size() > 2) items.push_back(item);
    return items;
}

SqlValue array_to_string(Arguments arguments) {
    if (is_null(argument(arguments, 0))) return {};
    return join(items_of(array_of(text_of(arguments[0]))), text_of(argument(arguments, 1)));
}

void define_arrays(Store& store) {
    store.define("baton_array", [](Arguments a) -> SqlValue {
        return is_null(argument(a, 0)) ? SqlValue("[]") : array_of(text_of(a[0]));
    });
    // As PostgreSQL writes it.
    store.define("baton_list", [](Arguments a) -> SqlValue {
        return "{" + join(items_of(array_of(text_of(argument(a, 0)))), ",") + "}";
    });
    store.define("baton_item", [](Arguments a) -> SqlValue {
        const auto items = items_of(array_of(text_of(argument(a, 0))));
        const auto at = number_of(argument(a, 1)).value_or(0);
        if (at < 1 || static_cast<std::size_t>(at) > items.size()) return {};
        return items[static_cast<std::size_t>(at) - 1];
    });
    store.define("array_to_string", array_to_string);
    const auto length = [](Arguments a) -> SqlValue {
        if (is_null(argument(a, 0))) return {};
        const auto items = items_of(array_of(text_of(a[0])));
        return items.empty() ? SqlValue() : SqlValue(static_cast<std::int64_t>(items.size()));
    };
    for (const char* name : {"array_upper", "array_length", "cardinality"}) {
        store.define(name, length);
    }
    store.define("array_lower", constant(std::int64_t{1}));
}

// ---- patterns -----------------------------------------------------------------------------------

// In linear time, whatever the pattern: so it may not contain references back.
Store::Function matcher(bool any_case) {
    return [any_case](Arguments arguments) -> SqlValue {
        if (is_null(argument(arguments, 0)) || is_null(argument(arguments, 1))) return {};
        const std::string pattern = text_of(arguments[0]);
        const std::string subject = text_of(arguments[1]);
        if (pattern.size() > kPatternBytesMax || subject.size() > kSubjectBytesMax) {
            return std::int64_t{0};
        }
        RE2::Options options(RE2::Quiet);
        options.set_case_sensitive(!any_case);
        options.set_max_mem(kPatternMemoryMax);
        const RE2 compiled(pattern, options);
        return std::int64_t{compiled.ok() && RE2::PartialMatch(subject, compiled)};
    };
}

// ---- names --------------------------------------------------------------------------------------

struct SystemTable {
    std::string_view name;
    std::int64_t oid;
};
constexpr std::array kSystemTables = {
    SystemTable{"pg_class", 1259},      SystemTable{"pg_type", 1247},
    SystemTable{"pg_proc", 1255},       SystemTable{"pg_attribute", 1249},
    SystemTable{"pg_database", 1262},   SystemTable{"pg_namespace", 2615},
    SystemTable{"pg_constraint", 2606}, SystemTable{"pg_extension", 3079},
    SystemTable{"pg_authid", 1260},     SystemTable{"pg_tablespace", 1213},
    SystemTable{"pg_trigger", 2620},    SystemTable{"pg_index", 2610},
    SystemTable{"pg_attrdef", 2604},    SystemTable{"pg_description", 2609},
};

std::string last_part(std::string name) {
    std::string part;
    for (const char c : name) {
        if (c == '.') part.clear();
        if (c != '.' && c != '"') part += c;
    }
    return part;
}

// Between a number and a name: whichever it is not.
SqlValue regclass(const World& world, const SqlValue& value) {
    if (is_null(value)) return {};
    const auto number = number_of(value);
    const auto numbers = numbered(world);
    if (number && std::holds_alternative<std::string>(value)) return *number;
    if (number) {
        if (const auto found = numbers.find(*number); found != numbers.end()) {
            return found->second->name;
        }
        for (const SystemTable& table : kSystemTables) {
            if (table.oid == *number) return std::string(table.name);
        }
        return std::to_string(*number);
    }
    const std::string name = last_part(text_of(value));
    for (const auto& [oid, relation] : numbers) {
        if (equal_ignoring_case(relation->name, name)) return oid;
    }
    for (const SystemTable& table : kSystemTables) {
        if (table.name == name) return table.oid;
    }
    return {};
}

SqlValue regtype(const SqlValue& value) {
    if (is_null(value)) return {};
    const auto number = number_of(value);
    const std::string name = last_part(text_of(value));
    for (const TypeDefinition& type : type_definitions()) {
        if (number && type.oid == *number) return std::string(type.words);
        if (!number && (type.name == name || type.words == name)) return type.oid;
    }
    return number ? SqlValue(*number) : SqlValue();
}

SqlValue regnamespace(const SqlValue& value) {
    constexpr std::array kSchemas = {
        SystemTable{"pg_catalog", kCatalogSchema}, SystemTable{"public", kPublicSchema},
        SystemTable{"information_schema", kInformationSchema}, SystemTable{"baton", kBatonSchema}};
    const auto number = number_of(value);
    for (const SystemTable& schema : kSchemas) {
        if (number && schema.oid == *number) return std::string(schema.name);
        if (!number && schema.name == text_of(value)) return schema.oid;
    }
    return number ? SqlValue(*number) : SqlValue();
}

SqlValue format_type(Arguments arguments) {
    constexpr std::int64_t kNumeric = 1700;
    constexpr std::int64_t kHeader = 4;  // of the modifier, before precision and scale
    const auto number = number_of(argument(arguments, 0));
    if (!number) return {};
    const std::int64_t modifier = number_of(argument(arguments, 1)).value_or(-1) - kHeader;
    if (*number == kNumeric && modifier >= 0) {
        return "numeric(" + std::to_string(modifier / 65'536) + "," +
               std::to_string(modifier % 65'536) + ")";
    }
    for (const TypeDefinition& type : type_definitions()) {
        if (type.oid == *number) return std::string(type.words);
        if (type.array != 0 && type.array == *number) return std::string(type.words) + "[]";
    }
    return "???";
}

void define_names(Store& store, const World& world) {
    const auto class_of = [&world](Arguments a) { return regclass(world, argument(a, 0)); };
    store.define("baton_regclass", class_of);
    store.define("to_regclass", class_of);
    store.define("baton_regtype", [](Arguments a) { return regtype(argument(a, 0)); });
    store.define("to_regtype", [](Arguments a) { return regtype(argument(a, 0)); });
    store.define("baton_regnamespace", [](Arguments a) { return regnamespace(argument(a, 0)); });
    store.define("baton_regproc",
                 [](Arguments a) -> SqlValue { return last_part(text_of(argument(a, 0))); });
    store.define("baton_regprocedure", constant({}));
    store.define("baton_regrole", [&world](Arguments a) -> SqlValue {
        return number_of(argument(a, 0)) ? SqlValue(world.user) : SqlValue(kUser);
    });
    store.define("baton_text", [](Arguments a) -> SqlValue {
        const SqlValue value = argument(a, 0);
        const bool whole = std::holds_alternative<std::int64_t>(value);
        return whole ? SqlValue(text_of(value)) : value;
    });
    store.define("baton_bool", [](Arguments a) -> SqlValue {
        const SqlValue value = argument(a, 0);
        if (!std::holds_alternative<std::string>(value)) return value;
        const std::string word = to_lower(text_of(value));
        return std::int64_t{word == "t" || word == "true" || word == "on" || word == "1" ||
                            word == "yes"};
    });
    store.define("baton_trim", [](Arguments a) -> SqlValue {
        if (is_null(argument(a, 1))) return {};
        const std::string text = text_of(a[1]);
        const std::string signs = text_of(a[0]);
        const std::size_t from = text.find_first_not_of(signs);
        if (from == std::string::npos) return "";
        return text.substr(from, text.find_last_not_of(signs) + 1 - from);
    });
    store.define("format_type", format_type);
    store.define("quote_ident", [](Arguments a) -> SqlValue {
        const std::string name = text_of(argument(a, 0));
        return to_lower(name) == name ? name : in_quotes(name);
    });
}

// ---- about the server ---------------------------------------------------------------------------

SqlValue description(const World& world, const SqlValue& of, std::int64_t column) {
    const auto numbers = numbered(world);
    const auto found = numbers.find(number_of(of).value_or(0));
    if (found == numbers.end()) return {};
    const Relation& relation = *found->second;
    if (column == 0) return relation.comment.empty() ? SqlValue() : SqlValue(relation.comment);
    if (column < 1 || static_cast<std::size_t>(column) > relation.columns.size()) return {};
    const std::string& comment = relation.columns[static_cast<std::size_t>(column) - 1].comment;
    return comment.empty() ? SqlValue() : SqlValue(comment);
}

SqlValue setting(const World& world, Arguments arguments) {
    const std::string name = to_lower(text_of(argument(arguments, 0)));
    for (const auto& [known, value] : world.settings) {
        if (known == name) return value;
    }
    return {};
}

void define_server(Store& store, const World& world) {
    store.define("version", constant(world.version));
    for (const char* name : {"current_database", "current_catalog"}) {
        store.define(name, constant(world.database));
    }
    for (const char* name :
         {"current_user", "session_user", "user", "current_role", "pg_get_userbyid"}) {
        store.define(name, constant(world.user));
    }
    store.define("current_schema", constant("baton"));
    store.define("current_schemas", [](Arguments a) -> SqlValue {
        const bool implicit = number_of(argument(a, 0)).value_or(0) != 0;
        return implicit ? "{pg_catalog,baton,public}" : "{baton,public}";
    });
    store.define("pg_backend_pid", constant(std::int64_t{world.process}));
    store.define("current_setting", [&world](Arguments a) { return setting(world, a); });
    store.define("set_config", [](Arguments a) { return argument(a, 1); });
    store.define("obj_description", [&world](Arguments a) {
        const bool of_class = a.size() < 2 || text_of(a[1]) == "pg_class";
        return of_class ? description(world, argument(a, 0), 0) : SqlValue();
    });
    store.define("col_description", [&world](Arguments a) {
        return description(world, argument(a, 0), number_of(argument(a, 1)).value_or(-1));
    });
    store.define("pg_encoding_to_char", constant("UTF8"));
    store.define("pg_client_encoding", constant("UTF8"));
    store.define("pg_size_pretty", constant("0 bytes"));
    store.define("pg_relation_is_publishable", constant(std::int64_t{0}));
    store.define("pg_tablespace_location", constant(""));
}

// Functions that always say the same here.
void define_constants(Store& store, const World& world) {
    for (const char* name :
         {"pg_table_is_visible", "pg_type_is_visible", "pg_function_is_visible",
          "pg_operator_is_visible", "pg_opclass_is_visible", "pg_opfamily_is_visible",
          "pg_collation_is_visible", "pg_conversion_is_visible", "pg_ts_config_is_visible",
          "pg_ts_dict_is_visible", "pg_statistics_obj_is_visible", "has_schema_privilege",
          "has_database_privilege", "has_column_privilege", "has_any_column_privilege",
          "has_type_privilege", "pg_has_role", "has_function_privilege"}) {
        store.define(name, constant(std::int64_t{1}));
    }
    store.define("has_table_privilege", [&world](Arguments a) -> SqlValue {
        const bool reads = a.empty() || to_lower(text_of(a.back())) == "select";
        return std::int64_t{reads || world.may_write};
    });
    store.define("pg_is_in_recovery", [&world](Arguments) -> SqlValue {
        const std::pair<std::string, std::string> standby{"in_hot_standby", "on"};
        return std::int64_t{std::find(world.settings.begin(), world.settings.end(), standby) !=
                            world.settings.end()};
    });
    for (const char* name :
         {"pg_relation_size", "pg_table_size", "pg_total_relation_size", "pg_database_size",
          "pg_my_temp_schema", "pg_is_other_temp_schema", "pg_indexes_size", "row_security_active",
          "pg_get_wal_replay_pause_state", "pg_sequence_last_value", "txid_current",
          "pg_relation_filenode"}) {
        store.define(name, constant(std::int64_t{0}));
    }
    for (const char* name : {"pg_get_expr",
                             "pg_get_viewdef",
                             "pg_get_constraintdef",
                             "pg_get_indexdef",
                             "pg_get_ruledef",
                             "pg_get_triggerdef",
                             "pg_get_functiondef",
                             "pg_get_function_result",
                             "pg_get_function_arguments",
                             "pg_get_function_identity_arguments",
                             "pg_get_function_sqlbody",
                             "pg_get_partkeydef",
                             "pg_get_partition_constraintdef",
                             "pg_get_statisticsobjdef_columns",
                             "pg_get_serial_sequence",
                             "shobj_description",
                             "pg_relation_filepath",
                             "inet_server_addr",
                             "inet_client_addr",
                             "inet_server_port",
                             "information_schema__pg_expandarray",
                             "pg_describe_object",
                             "pg_identify_object",
                             "pg_tablespace_databases"}) {
        store.define(name, constant({}));
    }
}

}  // namespace

void define_functions(Store& store, const World& world) {
    define_arrays(store);
    store.define("regexp", matcher(false));
    store.define("match", matcher(true), 2);  // instead of SQLite's own
    define_names(store, world);
    define_server(store, world);
    define_constants(store, world);
}

}  // namespace baton::pg
