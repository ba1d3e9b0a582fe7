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

namespace baton::desk {

class Journal {
public:
    // From now on. Both outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Journal>> open(
        coordinator::CoordinatorRuntime& coordinator, Log& log);
    // Events that are durable by then are written.
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

private:
    Journal(coordinator::CoordinatorRuntime& coordinator, Log& log)
        : coordinator_(coordinator), log_(log) {}
    [[nodiscard]] Result<Done> watch(const std::string& statement, kinds::Entity entity);
    void run();
    struct Words;
    struct Watched {
        kinds::Entity entity;
        std::unique_ptr<coordinator::Watch> watch;
    };

    void write_news();
    // False if there is nothing more.
    [[nodiscard]] bool write_some(const Watched& watched);
    void write(kinds::Entity entity, const coordinator::WatchChange& change);
    [[nodiscard]] static const Words& words_of(kinds::Entity entity);

    coordinator::CoordinatorRuntime& coordinator_;
    Log& log_;
    threads::Doorbell news_;  // before the watches, which ring it
    std::vector<Watched> watched_;
    std::atomic<bool> closing_ = false;
    std::thread thread_;
};

}  // namespace baton::desk
