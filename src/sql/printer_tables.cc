// Tables, and the questions about them.
#include "base/overload.h"
#include "base/text.h"
#include "sql/printing.h"

namespace baton::sql {

namespace {

const std::string kOfTable;  // the type of settings that belong to no source or sink

}  // namespace

// Plain words are in lower case there, so that one with a capital letter is quoted.
void Printing::column_name(const std::string& column) {
    const bool plain = column == to_lower(column) && print_name(to_upper(column)).front() != '"';
    put(plain ? column : in_quotes(column));
}

void Printing::column_names(const std::vector<std::string>& columns) {
    if (columns.empty()) return;
    put(" (");
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) put(", ");
        column_name(columns[i]);
    }
    put(")");
}

void Printing::operator()(const CreateTable& node) {
    put("CREATE TABLE ");
    if (node.if_not_exists) put("IF NOT EXISTS ");
    name(node.name);
    for (std::size_t i = 0; i < node.columns.size(); ++i) {
        const SqlField& column = node.columns[i];
        put(i == 0 ? " (" : ", ");
        column_name(column.name);
        put(" " + to_string(column.type));
        if (!column.nullable) put(" NOT NULL");
    }
    if (!node.columns.empty()) put(")");
    if (node.type) {
        put(" TYPE ");
        name(*node.type);
    }
    settings_clause(node.settings, kOfTable);
    if (!node.question) return;
    put(" AS ");
    put(*node.question);
}

void Printing::operator()(const Question& node) {
    put(node.text);
}

void Printing::operator()(const Insert& node) {
    put("INSERT INTO ");
    name(node.table);
    column_names(node.columns);
    settings_clause(node.settings, kOfTable);
    put(" ");
    if (const auto* question = std::get_if<std::string>(&node.source)) return put(*question);
    put("VALUES ");
    const auto& rows = std::get<0>(node.source);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        put(i == 0 ? "(" : ", (");
        for (std::size_t k = 0; k < rows[i].size(); ++k) {
            if (k > 0) put(", ");
            literal(rows[i][k]);
        }
        put(")");
    }
}

void Printing::operator()(const Vacuum& node) {
    put("VACUUM ");
    name(node.table);
}

}  // namespace baton::sql
