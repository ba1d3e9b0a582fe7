#include "adapters/sqlite/statements.h"

#include <utility>

#include <sqlite3.h>

namespace baton::sqlite {

void Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

sqlite3_stmt* Statements::find(std::string_view sql) {
    const auto found = by_sql_.find(sql);
    if (found == by_sql_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->statement.get();
}

sqlite3_stmt* Statements::keep(std::string_view sql, Statement statement) {
    if (entries_.size() == kStatementsMax) {
        by_sql_.erase(entries_.back().sql);
        entries_.pop_back();
    }
    entries_.push_front({std::string(sql), std::move(statement)});
    by_sql_.emplace(entries_.front().sql, entries_.begin());
    return entries_.front().statement.get();
}

}  // namespace baton::sqlite
