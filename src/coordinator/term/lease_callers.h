// LeaseCallers make the calls of an election on threads of their own, so that one that hangs delays
// neither the thread that decides nor the next call.
//
// Calls are made one after the other on one connection. A call that is abandoned while under way
// leaves its thread and its connection behind; another thread with a new connection goes on. At
// most `kCallersMax` threads are there; when all of them hang, further calls fail at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "coordinator/term/lease_calls.h"
#include "core/election/election.h"
#include "ports/sql.h"

namespace baton::coordinator {

class LeaseCallers {
public:
    static constexpr std::size_t kCallersMax = 4;
    // Called on the thread of a caller, or of call(); it does not wait.
    using Answer = std::function<void(election::Event event)>;

    // The database outlives it.
    LeaseCallers(SqlDatabase& database, LeaseClaim claim, Answer answer);
    // Waits for the calls under way; their database bounds them.
    ~LeaseCallers();
    LeaseCallers(const LeaseCallers&) = delete;
    LeaseCallers& operator=(const LeaseCallers&) = delete;

    // Answered once, whatever happens, unless it is abandoned before it was begun.
    void call(const LeaseCall& call);
    void abandon(election::Call number);

private:
    struct Caller {
        std::thread thread;
        election::Call making = 0;  // under way; 0 if none is
        bool abandoned = false;
        bool ended = false;
    };

    void run(Caller& me);
    [[nodiscard]] std::optional<LeaseCall> next(Caller& me);
    // Whether this caller goes on.
    [[nodiscard]] bool finish(Caller& me, std::unique_ptr<Sql>& sql);
    [[nodiscard]] std::size_t ready() const;  // callers that are not left behind
    void add_caller();
    [[nodiscard]] election::Event make(std::unique_ptr<Sql>& sql, const LeaseCall& call) const;

    SqlDatabase& database_;
    const LeaseClaim claim_;
    const Answer answer_;
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<LeaseCall> calls_;
    std::list<Caller> callers_;
    bool stopped_ = false;
};

}  // namespace baton::coordinator
