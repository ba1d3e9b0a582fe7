// WorkerHost runs a worker: one thread owns the machine that decides (Station), hears what
// coordinators and the engine say, and performs what follows.
//
// Rules:
//   - Whoever tells it something only puts it into a mailbox. What the engine reports is always let
//     in, being bounded by what was ordered; a session of which too much waits is hung up on.
//   - A catalog and an epoch are durable before anybody is welcomed under them.
//   - Doors are listened to from the start to the end; the newest coordinator is obeyed, whichever
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

namespace baton {

struct WorkerHostOptions {
    Incarnation incarnation;            // unlike that of any process of this worker before
    std::size_t waiting_max = 100'000;  // messages of sessions that wait to be heard
    // Told what people may want to know, from the host's thread.
    std::function<void(const std::string&)> log;
};

class WorkerHost {
public:
    struct World {
        Engine& engine;
        std::vector<Sessions*> doors;
        const Clock& clock;
        EpochStore* epochs = nullptr;         // none: what is kept ends with the process
        PartitionUser* partitions = nullptr;  // none: nobody uses them here
    };

    // Everything of the world outlives it. Fails if the epoch that was kept cannot be read.
    [[nodiscard]] static Result<std::unique_ptr<WorkerHost>> start(const WorkerHostOptions& options,
                                                                   const World& world);
    // Ends the thread; fragments are left as they are, which ends with the engine.
    ~WorkerHost();
    WorkerHost(const WorkerHost&) = delete;
    WorkerHost& operator=(const WorkerHost&) = delete;

    // Takes no new fragments from now on, and says so. Waits until none lives and a coordinator
    // that listens knows how they ended, but no longer than `patience`; false if that is not so.
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
    std::vector<PartitionKey> released_;  // that nobody used

    Mailbox<Letter> letters_;
    std::mutex mutex_;
    std::condition_variable rested_;  // it may leave
    std::size_t from_doors_ = 0;      // of the letters
    bool may_leave_ = true;           // as the machine said after the last letter
    bool left_ = false;               // Leaving was taken
    std::thread thread_;              // last: it uses everything above
};

}  // namespace baton
