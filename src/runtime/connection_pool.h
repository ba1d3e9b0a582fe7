// ConnectionPool lends connections to the catalog: they are made when they are needed, kept when
// they come back, and never more than some at once.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/sql.h"

namespace baton {

class ConnectionPool {
public:
    // The database outlives it. `busy` is what whoever waits in vain is told: "too many reads ..".
    ConnectionPool(SqlDatabase& database, Access access, std::size_t connections_max,
                   std::string busy)
        : database_(database), access_(access), free_(connections_max), busy_(std::move(busy)) {}

    // From any thread. Waits if all are lent; fails with slow_down if none comes back in time. What
    // was taken is given back once, before the pool is gone.
    [[nodiscard]] Result<std::unique_ptr<Sql>> take();
    // Null: the connection is not to be used again.
    void give_back(std::unique_ptr<Sql> sql);

private:
    SqlDatabase& database_;
    const Access access_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Sql>> idle_;
    std::size_t free_;  // how many more may be lent
    const std::string busy_;
};

}  // namespace baton
