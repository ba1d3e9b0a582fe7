// Store is an SQLite database in memory for one question. Internal to pg_catalog.
//
// Before lock() everything can be done to it; after that a statement can only read, for a bounded
// time.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "doors/pg/catalog/pg_catalog.h"
#include "ports/sql.h"

namespace baton::pg {

class Store {
public:
    // As SQLite's functions see it: arguments in, a value out.
    using Function = std::function<SqlValue(std::span<const SqlValue>)>;
    using Cell = std::pair<std::string_view, SqlValue>;

    // Work on it ends early, with cancelled, once `halt` is true; null: it does not.
    [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::atomic<bool>* halt);
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // With any number of arguments, unless one is given.
    void define(const std::string& name, Function function, int arguments = -1);
    [[nodiscard]] Result<Done> execute(const std::string& statements);
    [[nodiscard]] Result<Done> insert(std::string_view table, std::initializer_list<Cell> row);
    void lock();
    // Fails with not_supported if it cannot be understood, too_large if it goes on for too long.
    [[nodiscard]] Result<Rows> select(const std::string& statement,
                                      std::span<const SqlValue> parameters);

private:
    Store();
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace baton::pg
