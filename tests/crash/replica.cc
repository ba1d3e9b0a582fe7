#include "crash/replica.h"

#include "base/check.h"
#include "catalog/reader.h"
#include "catalog/views/views.h"

namespace baton::crash {

namespace {

std::string value_in(kinds::Entity entity, const SqlRow& row, std::string_view column) {
    const kinds::View& view = views::view_of(entity);
    const std::size_t at = *view.column(column);
    return shown(row.at(at), view.columns.at(at).type);
}

// The name in the row that says whose it is.
std::string name_in(kinds::Entity entity, const SqlRow& row, const Rows& rows) {
    if (entity == kinds::Entity::fragment) {
        const auto query = rows.find({kinds::Entity::query, value_in(entity, row, "QUERY")});
        return query == rows.end() ? "T0_F?"
                                   : value_in(kinds::Entity::query, query->second, "NAME");
    }
    for (const std::string_view column : {"NAME", "LIST", "UPSTREAM", "LOGICAL"}) {
        if (views::view_of(entity).column(column)) return value_in(entity, row, column);
    }
    CHECK(false && "an unknown kind");
}

char letter_of(kinds::Entity entity) {
    constexpr std::string_view kLetters = "WKLPSQF";  // in the order of Entity
    return kLetters.at(static_cast<std::size_t>(entity));
}

std::string described(const catalog::Change& change) {
    return "change " + to_string(change.revision) + "/" + std::to_string(change.ordinal) + " (" +
           std::string(to_string(change.op)) + " of " + std::string(to_string(change.entity)) +
           " " + change.key + ") ";
}

}  // namespace

Result<Replica> Replica::of_tables(Sql& sql) {
    Replica replica;
    for (const kinds::View& view : views::views()) {
        if (!view.entity) continue;
        std::string columns;
        for (std::size_t i = 0; i < view.own_columns(); ++i) {
            columns += (i > 0 ? ", \"" : "\"") + std::string(view.columns[i].name) + "\"";
        }
        TRY_ASSIGN(rows, sql.query("SELECT " + columns + " FROM " + std::string(view.table)));
        for (SqlRow& row : rows) {
            const std::string key = kinds::key_of(view, row);
            replica.rows_.insert({{*view.entity, key}, std::move(row)});
        }
    }
    TRY_ASSIGN(revision, catalog::Reader(sql).revision());
    replica.revision_ = revision;
    return replica;
}

std::string Replica::follow(const catalog::Change& change) {
    const bool next = change.revision == revision_.next() && change.ordinal == 0;
    const bool same = change.revision == revision_ && change.ordinal == next_ordinal_;
    if (!next && !same) return described(change) + "leaves a gap after " + to_string(revision_);
    revision_ = change.revision;
    next_ordinal_ = change.ordinal + 1;

    const auto found = rows_.find({change.entity, change.key});
    const bool is_there = found != rows_.end();
    if (is_there != (change.op != ChangeOp::create)) {
        return described(change) + (is_there ? "is of what exists" : "is of what is not there");
    }
    if (is_there != (change.old != nullptr) || (is_there && *change.old != found->second)) {
        return described(change) + "does not start from the row as it was";
    }
    if ((change.op == ChangeOp::drop) != (change.row == nullptr)) {
        return described(change) + "has the wrong rows";
    }
    if (change.row != nullptr) {
        rows_[{change.entity, change.key}] = *change.row;
    } else {
        rows_.erase(found);
    }
    return {};
}

Facts Replica::facts_of(int thread) const {
    const std::string prefix = "T" + std::to_string(thread) + "_";
    Facts facts;
    for (const auto& [id, row] : rows_) {
        const kinds::Entity entity = id.first;
        const std::string name = name_in(entity, row, rows_);
        if (!name.starts_with(prefix)) continue;
        const std::string slot = name.substr(prefix.size() + 1);
        const auto note = [&](char letter) {
            // Nothing of the load is there twice; if it is, the facts show it.
            if (!facts.insert(letter + slot).second) facts.insert(letter + slot + " twice");
        };
        note(letter_of(entity));
        if (entity == kinds::Entity::worker && value_in(entity, row, "DRAINING") == "true")
            note('D');
        if (entity == kinds::Entity::query && value_in(entity, row, "STATE") == "STOPPED")
            note('X');
    }
    return facts;
}

std::string Replica::difference(const Replica& other) const {
    for (const auto& [id, row] : rows_) {
        const auto found = other.rows_.find(id);
        const std::string what = std::string(to_string(id.first)) + " " + id.second;
        if (found == other.rows_.end()) return what + " is in one only";
        if (found->second != row) return what + " differs";
    }
    for (const auto& [id, row] : other.rows_) {
        if (!rows_.contains(id)) {
            return std::string(to_string(id.first)) + " " + id.second + " is in the other only";
        }
    }
    return {};
}

}  // namespace baton::crash
