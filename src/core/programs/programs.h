// Programs are what works on the partitions that a worker holds: a process for each of them.
//
// Input:   partitions to take and to release; that a process could not be started, or has ended;
//          the time.
// Output:  processes to start and to signal, and partitions that were released.
//
// Rules:
//   - A partition that is held has one process, never two: the next one is started when the last
//     has ended.
//   - A process that ends by itself, or cannot be started, is started again after a pause, which
//     doubles up to a bound; one that ran for longer than that bound begins anew with the shortest.
//   - A process whose partition is to be released is asked to end (SIGTERM), and killed (SIGKILL)
//     when its grace is over. The partition is released when the process has ended, and not before.
// Pure: the time is an argument.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/control.h"
#include "model/partition.h"

namespace baton::programs {

struct Start {  // answered by ended(), whether it could be started or not
    control::Grant grant;
    friend bool operator==(const Start&, const Start&) = default;
};
struct AskToEnd {
    PartitionKey partition;
    friend bool operator==(const AskToEnd&, const AskToEnd&) = default;
};
struct MakeEnd {
    PartitionKey partition;
    friend bool operator==(const MakeEnd&, const MakeEnd&) = default;
};
struct SayReleased {
    PartitionKey partition;
    friend bool operator==(const SayReleased&, const SayReleased&) = default;
};
using Effect = std::variant<Start, AskToEnd, MakeEnd, SayReleased>;

class Programs {
public:
    using Effects = std::vector<programs::Effect>;
    static constexpr Duration kPauseMin = std::chrono::seconds(1);
    static constexpr Duration kPauseMax = std::chrono::seconds(60);

    explicit Programs(Duration grace) : grace_(grace) {}

    // It is not held yet.
    [[nodiscard]] Effects take(Instant at, const control::Grant& grant);
    [[nodiscard]] Effects release(Instant at, const PartitionKey& partition);
    [[nodiscard]] Effects ended(Instant at, const PartitionKey& partition);
    [[nodiscard]] Effects tick(Instant at);
    [[nodiscard]] std::optional<Instant> wake_at() const;

    // When the process of this partition is started again; none: not before something happens.
    [[nodiscard]] std::optional<Instant> starts_at(const PartitionKey& partition) const;

private:
    struct Running {
        Instant since;
    };
    struct Pausing {
        Instant until;
    };
    struct Ending {
        std::optional<Instant> kill_at;  // none: it was killed
    };
    struct PartitionProgram {
        Epoch epoch;
        Duration pause = kPauseMin;  // before the next start
        std::variant<Running, Pausing, Ending> state;
    };

    const Duration grace_;
    std::map<PartitionKey, PartitionProgram> kept_;
};

}  // namespace baton::programs
