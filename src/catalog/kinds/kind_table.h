// A KindTable describes how the catalog keeps and shows one kind of entity, as one list of columns.
// The statements that create, read and write its rows, the rows of its view and the view itself are
// made from this list.
//
// A kind is one file beside this one: table_of<Worker>() in worker.cc. kinds.h lists them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "catalog/kinds/values.h"
#include "catalog/kinds/view.h"
#include "ports/sql.h"

namespace baton::kinds {

template <class E>
struct KindColumn {
    std::string name;        // in the table
    std::string definition;  // what follows the name in CREATE TABLE; {key}, {text} and {int} stand
                             // for types of the database
    std::function<SqlValue(const E&)> value;
    std::function<Result<Done>(E&, const SqlValue&)> read;  // empty: it is only written
    bool changes = false;                                   // UPDATE writes it
    std::int64_t version = 1;                               // the first schema that has it
    ViewColumn view;                                        // without a name: it is not shown

    KindColumn&& shown(std::string_view shown_name, ViewType type, std::string_view meaning) && {
        view = {.name = shown_name, .type = type, .brief = view.brief, .meaning = meaning};
        return std::move(*this);
    }
    KindColumn&& in_brief() && {
        view.brief = true;
        return std::move(*this);
    }
    KindColumn&& changing() && {
        changes = true;
        return std::move(*this);
    }
    KindColumn&& since(std::int64_t schema) && {
        version = schema;
        return std::move(*this);
    }
};

// A column that keeps what `member` refers to: a function from an entity to a part of it.
template <class E, class Member>
[[nodiscard]] KindColumn<E> column_of(std::string name, std::string definition, Member member) {
    return {.name = std::move(name),
            .definition = std::move(definition),
            .value = [member](const E& entity) { return value_of(member(entity)); },
            .read = [member](E& entity,
                             const SqlValue& value) { return read_value(value, member(entity)); }};
}
// column<&Worker::name>("name", "{key} PRIMARY KEY")
template <auto kMember>
[[nodiscard]] auto column(std::string name, std::string definition) {
    const auto owner = []<class E, class T>(T E::*) { return E{}; };
    using E = decltype(owner(kMember));
    return column_of<E>(
        std::move(name), std::move(definition),
        [](auto& entity) -> auto& { return entity.*kMember; });
}
// A column that is computed from the rest when a row is written.
template <class E>
[[nodiscard]] KindColumn<E> computed(std::string name, std::string definition,
                                     SqlValue (*value)(const E&)) {
    return {.name = std::move(name), .definition = std::move(definition), .value = value};
}

// A column of the view alone, computed from other rows.
struct Derived {
    std::string_view name;
    ViewType type = ViewType::text;
    std::string_view meaning;
    std::string expression;
    bool brief = false;
};

// "CHECK (state = 'ACTIVE' OR ..)"
template <class Enum>
[[nodiscard]] std::string one_of(std::string_view column) {
    return "CHECK (" + sql_is_one_of<Enum>(column) + ")";
}

// The description of a kind that its file gives.
template <class E>
struct KindFile {
    Entity entity;
    std::string_view table;
    std::string_view storage = "{keyed}";  // {keyed}: short rows whose key is no number; {table}
    std::int64_t since = 1;                // the first version of the schema that has it
    std::size_t key_columns = 1;           // the first columns, of the table and of the view
    bool of_cluster = false;               // plans of queries depend on it
    std::vector<KindColumn<E>> columns;
    std::vector<std::string_view> constraints;  // of the table as a whole
    std::string indexes;
    // Tables that belong to it, with their statements.
    std::vector<std::pair<std::string_view, std::string_view>> companions;

    std::string_view view;
    std::string_view alias;   // of the table, for what is derived
    std::string_view joined;  // with other tables
    std::vector<Derived> derived;
    std::vector<std::string_view> order;  // of the view's columns, if not that of the table
    std::string_view meaning;
};

template <class E>
class KindTable {
public:
    explicit KindTable(KindFile<E> kind);

    [[nodiscard]] const KindFile<E>& kind() const { return kind_; }

    // "SELECT name, .. FROM worker", whose rows entity_in() takes.
    [[nodiscard]] const std::string& select() const { return select_; }
    // The same with an empty text in place of that column.
    [[nodiscard]] std::string select_without(std::string_view column) const;
    [[nodiscard]] const std::string& order_by_key() const { return order_by_key_; }
    // Fails with catalog_corrupt, naming the row.
    [[nodiscard]] Result<E> entity_in(const SqlRow& row) const;
    [[nodiscard]] Result<std::vector<E>> entities_in(const std::vector<SqlRow>& rows) const;

    [[nodiscard]] const std::string& insert() const { return insert_; }
    [[nodiscard]] std::vector<SqlValue> inserted(const E& entity) const;
    [[nodiscard]] const std::string& update() const { return update_; }
    [[nodiscard]] std::vector<SqlValue> updated(const E& entity) const;
    [[nodiscard]] const std::string& remove() const { return remove_; }
    [[nodiscard]] std::vector<SqlValue> key(const E& entity) const;

    // Own columns of its view, in their order.
    [[nodiscard]] SqlRow row(const E& entity) const;
    [[nodiscard]] View view() const;

    // The statements that a version of the schema adds to the one before.
    [[nodiscard]] std::string statements(std::int64_t version) const;
    // The last version that adds any.
    [[nodiscard]] std::int64_t version() const;

private:
    [[nodiscard]] std::string select_list(std::string_view without) const;
    [[nodiscard]] std::string create_table() const;

    KindFile<E> kind_;
    std::vector<std::size_t> shown_;  // places of columns, in the order of the view
    std::string select_, order_by_key_, insert_, update_, remove_;
};

template <class E>
KindTable<E>::KindTable(KindFile<E> kind) : kind_(std::move(kind)) {
    const std::string table(kind_.table);
    const auto& columns = kind_.columns;
    std::string names;
    std::string marks;
    std::string changes;
    std::string is_key;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        names += (i == 0 ? "" : ", ") + columns[i].name;
        marks += i == 0 ? "?" : ", ?";
        if (columns[i].changes) changes += (changes.empty() ? "" : ", ") + columns[i].name + " = ?";
        if (i < kind_.key_columns) is_key += (i == 0 ? "" : " AND ") + columns[i].name + " = ?";
        if (i < kind_.key_columns) order_by_key_ += (i == 0 ? "" : ", ") + columns[i].name;
        if (kind_.order.empty() && !columns[i].view.name.empty()) shown_.push_back(i);
    }
    for (const std::string_view name : kind_.order) {
        const auto named = [&](const KindColumn<E>& column) { return column.view.name == name; };
        const auto found = std::find_if(columns.begin(), columns.end(), named);
        CHECK(found != columns.end());
        shown_.push_back(static_cast<std::size_t>(found - columns.begin()));
    }
    order_by_key_ = " ORDER BY " + order_by_key_;
    select_ = "SELECT " + select_list({}) + " FROM " + table;
    insert_ = "INSERT INTO " + table + " (" + names + ") VALUES (" + marks + ")";
    update_ = "UPDATE " + table + " SET " + changes + " WHERE " + is_key;
    remove_ = "DELETE FROM " + table + " WHERE " + is_key;
}

template <class E>
std::string KindTable<E>::select_list(std::string_view without) const {
    std::string list;
    for (const KindColumn<E>& column : kind_.columns) {
        if (!column.read) continue;
        if (!list.empty()) list += ", ";
        list += column.name == without ? "''" : column.name;
    }
    return list;
}

template <class E>
std::string KindTable<E>::select_without(std::string_view column) const {
    return "SELECT " + select_list(column) + " FROM " + std::string(kind_.table);
}

template <class E>
Result<E> KindTable<E>::entity_in(const SqlRow& row) const {
    E entity;
    std::size_t at = 0;
    for (const KindColumn<E>& column : kind_.columns) {
        if (!column.read) continue;
        CHECK(at < row.size());
        if (auto done = column.read(entity, row[at++]); !done) {
            Error error = done.error();
            error.message += ", in the row of " + shown(row.front(), ViewType::text);
            return error;
        }
    }
    return entity;
}

template <class E>
Result<std::vector<E>> KindTable<E>::entities_in(const std::vector<SqlRow>& rows) const {
    std::vector<E> entities;
    entities.reserve(rows.size());
    for (const SqlRow& row : rows) {
        TRY_ASSIGN(entity, entity_in(row));
        entities.push_back(std::move(entity));
    }
    return entities;
}

template <class E>
std::vector<SqlValue> KindTable<E>::inserted(const E& entity) const {
    std::vector<SqlValue> values;
    values.reserve(kind_.columns.size());
    for (const KindColumn<E>& column : kind_.columns) values.push_back(column.value(entity));
    return values;
}

template <class E>
std::vector<SqlValue> KindTable<E>::key(const E& entity) const {
    std::vector<SqlValue> values;
    for (std::size_t i = 0; i < kind_.key_columns; ++i) {
        values.push_back(kind_.columns[i].value(entity));
    }
    return values;
}

template <class E>
std::vector<SqlValue> KindTable<E>::updated(const E& entity) const {
    std::vector<SqlValue> values;
    for (const KindColumn<E>& column : kind_.columns) {
        if (column.changes) values.push_back(column.value(entity));
    }
    for (SqlValue& part : key(entity)) values.push_back(std::move(part));
    return values;
}

template <class E>
SqlRow KindTable<E>::row(const E& entity) const {
    SqlRow row;
    row.reserve(shown_.size());
    for (const std::size_t place : shown_) row.push_back(kind_.columns[place].value(entity));
    return row;
}

template <class E>
View KindTable<E>::view() const {
    View view{.name = kind_.view,
              .table = "baton_" + to_lower(kind_.view),
              .entity = kind_.entity,
              .key_columns = kind_.key_columns,
              .meaning = kind_.meaning};
    const std::string prefix = kind_.alias.empty() ? "" : std::string(kind_.alias) + ".";
    std::string list;
    for (const std::size_t place : shown_) {
        view.columns.push_back(kind_.columns[place].view);
        list += (list.empty() ? "" : ", ") + prefix + kind_.columns[place].name;
    }
    for (const Derived& one : kind_.derived) {
        view.columns.push_back({.name = one.name,
                                .type = one.type,
                                .derived = true,
                                .brief = one.brief,
                                .meaning = one.meaning});
        list += ", " + one.expression + " AS " + to_lower(one.name);
    }
    view.definition = "SELECT " + list + " FROM " + std::string(kind_.table);
    for (const std::string_view more : {kind_.alias, kind_.joined}) {
        if (!more.empty()) view.definition += " " + std::string(more);
    }
    return view;
}

template <class E>
std::string KindTable<E>::create_table() const {
    std::string text = "CREATE TABLE " + std::string(kind_.table) + " (";
    std::string separator = "\n    ";
    for (const KindColumn<E>& column : kind_.columns) {
        if (column.version > kind_.since) continue;
        text += separator + column.name + " " + column.definition;
        separator = ",\n    ";
    }
    for (const std::string_view constraint : kind_.constraints) {
        text += separator + std::string(constraint);
    }
    text += "\n) " + std::string(kind_.storage) + ";\n" + kind_.indexes;
    for (const auto& [name, statements] : kind_.companions) text += statements;
    return text;
}

template <class E>
std::string KindTable<E>::statements(std::int64_t version) const {
    if (version == kind_.since) return create_table();
    std::string text;
    for (const KindColumn<E>& column : kind_.columns) {
        if (column.version != version || version < kind_.since) continue;
        text += "ALTER TABLE " + std::string(kind_.table) + " ADD COLUMN " + column.name + " " +
                column.definition + ";\n";
    }
    return text;
}

template <class E>
std::int64_t KindTable<E>::version() const {
    std::int64_t last = kind_.since;
    for (const KindColumn<E>& column : kind_.columns) last = std::max(last, column.version);
    return last;
}

}  // namespace baton::kinds
