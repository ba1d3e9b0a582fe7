// WorkerHost runs a worker: its one thread owns the machine that decides (Station), passes it the
// messages of coordinators and the reports of the engine, and performs its effects.
//
// Rules:
//   - Other threads only put events into its mailbox. Reports of the engine are always accepted,
//     because the orders to the engine bound their number; a session with too many messages waiting
//     is hung up on.
//   - A catalog and an epoch are durable before a coordinator is welcomed under them.
//   - The host listens to all doors from start to end, and obeys the newest coordinator, whichever
//     door it came in by.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "core/worker/station.h"
#include "ports/clock.h"
#include "ports/engine.h"
#include "ports/epoch_store.h"
#include "ports/partition_user.h"
#include "ports/sessions.h"
#include "threads/mailbox.h"

namespace baton::worker {

struct WorkerHostOptions {
    Incarnation incarnation;            // unlike that of any process of this worker before
    std::size_t waiting_max = 100'000;  // messages of sessions that wait to be heard
    // Gets lines that an operator may want to read, from the host's thread.
    std::function<void(const std::string&)> log;
};

class WorkerHost {
public:
    struct World {
        Engine& engine;
        std::vector<Sessions*> doors;
        const Clock& clock;
        EpochStore* epochs = nullptr;         // none: what is kept ends with the process
        PartitionUser* partitions = nullptr;  // none: they are not used here
    };

    // Everything in `world` outlives the host. Fails if the epoch that was kept cannot be read.
    [[nodiscard]] static Result<std::unique_ptr<WorkerHost>> start(const WorkerHostOptions& options,
                                                                   const World& world);
    // Ends the thread. Fragments go on until the engine ends.
    ~WorkerHost();
    WorkerHost(const WorkerHost&) = delete;
    WorkerHost& operator=(const WorkerHost&) = delete;

    // Takes no new fragments from now on, and reports so. Waits until no fragment lives and a
    // coordinator that listens knows how they ended; false if that takes longer than `patience`.
    [[nodiscard]] bool drain(Duration patience);

private:
    struct FromDoor {
        std::size_t door = 0;
        sessions::Event event;
    };
    using Letter = std::variant<FromDoor, fragments::Event, PartitionKey, station::Leaving>;
    // A session as its door counts it.
    using DoorSession = std::pair<std::size_t, sessions::Session>;

    WorkerHost(const WorkerHostOptions& options, World world, control::Allegiance kept);
    void listen();

    // Any thread.
    void post(Letter letter);

    // The host's thread.
    void run();
    void take(const FromDoor& letter);
    void take(const fragments::Event& event);
    void take(const PartitionKey& released);
    void take(const station::Leaving& leaving);
    void step(const station::Event& event);
    void perform(const station::Effect& effect);
    void release(const PartitionKey& partition);
    // Until time has come for what the machine waits for; none: for ever.
    [[nodiscard]] std::optional<Duration> patience() const;
    void hang_up_before(sessions::Session newest);
    void keep(const control::Allegiance& allegiance);
    void reply(const station::Reply& reply);
    void log(const std::string& line) const;

    const WorkerHostOptions options_;
    const World world_;
    Station machine_;
    sessions::Session last_session_ = 0;
    std::map<sessions::Session, DoorSession> doors_;  // of sessions that are there
    std::map<DoorSession, sessions::Session> sessions_;
    bool leaving_ = false;
    std::vector<PartitionKey> released_;  // that had no user

    threads::Mailbox<Letter> letters_;
    std::mutex mutex_;
    std::condition_variable rested_;  // it may leave
    std::size_t from_doors_ = 0;      // of the letters
    bool may_leave_ = true;           // as the machine said after the last letter
    bool left_ = false;               // Leaving was taken
    std::thread thread_;              // last: it uses everything above
};

}  // namespace baton::worker
