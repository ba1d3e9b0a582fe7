// Journal writes to the log what happens to workers, queries and fragments, as the catalog records
// it: each event once, after it is durable, whatever caused it.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "base/result.h"
#include "coordinator/coordinator_runtime.h"
#include "ports/log.h"
#include "threads/doorbell.h"

namespace baton::front {

class Journal {
public:
    // From now on. Both outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Journal>> open(CoordinatorRuntime& coordinator,
                                                               Log& log);
    // Events that are durable by then are written.
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

private:
    Journal(CoordinatorRuntime& coordinator, Log& log) : coordinator_(coordinator), log_(log) {}
    [[nodiscard]] Result<Done> watch(const std::string& statement, Entity entity);
    void run();
    struct Words;
    struct Watched {
        Entity entity;
        std::unique_ptr<Watch> watch;
    };

    void write_news();
    // False if there is nothing more.
    [[nodiscard]] bool write_some(const Watched& watched);
    void write(Entity entity, const WatchChange& change);
    [[nodiscard]] static const Words& words_of(Entity entity);

    CoordinatorRuntime& coordinator_;
    Log& log_;
    Doorbell news_;  // before the watches, which ring it
    std::vector<Watched> watched_;
    std::atomic<bool> closing_ = false;
    std::thread thread_;
};

}  // namespace baton::front
