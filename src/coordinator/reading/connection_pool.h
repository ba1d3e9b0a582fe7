// ConnectionPool lends connections to the catalog: they are made when they are needed, kept when
// they come back, and never more than some at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/sql.h"

namespace baton::coordinator {

class ConnectionPool {
public:
    enum class Urgency : std::uint8_t { ordinary, urgent };

    // The database outlives it. `busy` is the message after a wait in vain: "too many reads ..". Of
    // the connections, `reserve` are for the urgent alone.
    ConnectionPool(SqlDatabase& database, Access access, std::size_t connections_max,
                   std::string busy, std::size_t reserve = 0)
        : database_(database),
          access_(access),
          free_(connections_max),
          reserve_(reserve),
          busy_(std::move(busy)) {}

    // From any thread. Waits if all are lent; fails with slow_down if none comes back in time. A
    // connection is given back once, before the pool is gone.
    [[nodiscard]] Result<std::unique_ptr<Sql>> take(Urgency urgency = Urgency::ordinary);
    // Null: the connection is not to be used again.
    void give_back(std::unique_ptr<Sql> sql);

private:
    SqlDatabase& database_;
    const Access access_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Sql>> idle_;
    std::size_t free_;  // how many more may be lent
    const std::size_t reserve_;
    const std::string busy_;
};

}  // namespace baton::coordinator
