// Statements keeps what was prepared on one connection, by its text.
//
// Bounded: beyond `kStatementsMax` texts the one not used for longest is dropped. The lookup
// allocates nothing.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace baton::sqlite {

inline constexpr std::size_t kStatementsMax = 256;

struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

class Statements {
public:
    // The statement kept for `sql`, now the most recently used; null if there is none.
    [[nodiscard]] sqlite3_stmt* find(std::string_view sql);
    // May drop another statement: none may be in use.
    sqlite3_stmt* keep(std::string_view sql, Statement statement);
    [[nodiscard]] bool has(std::string_view sql) const { return by_sql_.contains(sql); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        std::string sql;
        Statement statement;
    };
    using Entries = std::list<Entry>;

    Entries entries_;                                                 // most recently used first
    std::unordered_map<std::string_view, Entries::iterator> by_sql_;  // keys live in entries_
};

}  // namespace baton::sqlite
