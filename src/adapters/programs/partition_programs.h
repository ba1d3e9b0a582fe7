// PartitionPrograms runs a command for each partition that a worker holds: /bin/sh -c COMMAND, in a
// process group of its own, with BATON_LIST, BATON_PARTITION and BATON_EPOCH in its environment.
//
// When the partition is to be released the group gets SIGTERM, and SIGKILL when the grace is over;
// the listener is called when the command has ended. Processes that the command leaves behind in
// its group are killed. The command is killed when this process dies, however that happens; its own
// children are not, unless it replaced itself by one (`exec`).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include <sys/types.h>

#include "base/time.h"
#include "core/programs/programs.h"
#include "ports/clock.h"
#include "ports/partition_user.h"
#include "threads/mailbox.h"

namespace baton::processes {

struct PartitionProgramsOptions {
    std::string command;
    Duration grace{};
    // Called with events for people, from any thread.
    std::function<void(const std::string&)> log;
};

class PartitionPrograms final : public PartitionUser {
public:
    // `clock` outlives it.
    PartitionPrograms(PartitionProgramsOptions options, const Clock& clock);
    // Kills what still runs, and waits for its end.
    ~PartitionPrograms() override;
    PartitionPrograms(const PartitionPrograms&) = delete;
    PartitionPrograms& operator=(const PartitionPrograms&) = delete;

    [[nodiscard]] Duration release_time() const override;
    void listen(Listener listener) override;
    void take(const control::Grant& grant) override;
    void release(const PartitionKey& partition) override;

private:
    struct Process {
        pid_t pid = -1;
        int descriptor = -1;  // ready when it has ended
    };
    using TakeOrRelease = std::variant<control::Grant, PartitionKey>;

    void post(TakeOrRelease request);
    void wake() const;

    // The thread that is the parent of all processes.
    void run();
    [[nodiscard]] bool wait();  // false: it is over
    void obey_requests();
    void reap();
    void perform(const programs::Programs::Effects& effects);
    void start(const control::Grant& grant);
    void signal(const PartitionKey& partition, int number) const;
    void tell(const PartitionKey& released);
    void end_all();
    void log(const PartitionKey& partition, const std::string& what) const;

    const PartitionProgramsOptions options_;
    const Clock& clock_;
    const int woken_;  // an event of the kernel
    programs::Programs machine_;
    std::map<PartitionKey, Process> processes_;

    std::mutex listener_mutex_;
    Listener listener_;
    threads::Mailbox<TakeOrRelease> requests_;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::processes
