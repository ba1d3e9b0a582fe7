#include "catalog/padding.h"

#include <array>
#include <string>
#include <string_view>

namespace baton::catalog {

namespace {

// utf8mb4_bin compares as if the shorter text went on with blanks, so that 'a ' is 'a': in a key,
// one name reaches the row of another.
constexpr std::string_view kNoPadCollation = "utf8mb4_nopad_bin";

constexpr std::array kPaddedTables = {
    "meta",
    "worker",
    "network_link",
    "logical_source",
    "physical_source",
    "sink",
    "query",
    "query_source",
    "query_sink",
    "fragment",
    "lease",
    "fence",
    "statement_log",
    "change_feed",
    "task_list",
    "task_partition",
    "coordinator_secret",
    "catalog_identity",
    "cluster_authority",
    "join_token",
    "worker_certificate",
};

// A text that refers to a key.
struct TextReference {
    std::string_view table;
    std::string_view column;
    std::string_view parent;  // whose key is `name`
};

constexpr std::array kTextReferences = {
    TextReference{"network_link", "upstream", "worker"},
    TextReference{"network_link", "downstream", "worker"},
    TextReference{"physical_source", "logical", "logical_source"},
    TextReference{"physical_source", "worker", "worker"},
    TextReference{"sink", "worker", "worker"},
    TextReference{"query_sink", "sink", "sink"},
    TextReference{"fragment", "worker", "worker"},
    TextReference{"task_partition", "owner", "worker"},
};

// What refers to 'a' as 'a ' is made to say 'a': without padding it would refer to nothing.
std::string exact_reference(const TextReference& reference) {
    const std::string column = "c." + std::string(reference.column);
    return "UPDATE " + std::string(reference.table) + " c JOIN " + std::string(reference.parent) +
           " p ON " + column + " COLLATE utf8mb4_bin = p.name COLLATE utf8mb4_bin SET " + column +
           " = p.name WHERE BINARY " + column + " <> BINARY p.name";
}

Result<Done> drop_references(Sql& sql, const TextReference& reference) {
    TRY_ASSIGN(rows,
               sql.query("SELECT constraint_name FROM information_schema.key_column_usage WHERE "
                         "table_schema = DATABASE() AND referenced_table_name IS NOT NULL AND "
                         "table_name = ? AND column_name = ?",
                         {std::string(reference.table), std::string(reference.column)}));
    for (const SqlRow& row : rows) {
        TRY(sql.run_script("ALTER TABLE " + std::string(reference.table) +
                           " DROP FOREIGN KEY IF EXISTS `" + std::get<std::string>(row.at(0)) +
                           "`"));
    }
    return Done{};
}

}  // namespace

// A column that refers or is referred to keeps its collation, so references are taken away
// meanwhile.
Result<Done> take_padding_away(Sql& sql) {
    if (sql.dialect() != SqlDialect::mariadb) return Done{};
    for (const TextReference& reference : kTextReferences) {
        TRY(sql.execute(exact_reference(reference)));
    }
    for (const TextReference& reference : kTextReferences) TRY(drop_references(sql, reference));
    for (const char* table : kPaddedTables) {
        TRY(sql.run_script("ALTER TABLE " + std::string(table) +
                           " CONVERT TO CHARACTER SET utf8mb4 COLLATE " +
                           std::string(kNoPadCollation)));
    }
    for (const TextReference& reference : kTextReferences) {
        TRY(sql.run_script("ALTER TABLE " + std::string(reference.table) + " ADD FOREIGN KEY (" +
                           std::string(reference.column) + ") REFERENCES " +
                           std::string(reference.parent) + " (name) ON DELETE RESTRICT"));
    }
    return Done{};
}

}  // namespace baton::catalog
