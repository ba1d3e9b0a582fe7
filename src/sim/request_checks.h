// RequestChecks test the rules that users may rely on, whichever coordinator they ask: a request
// that was acknowledged happened exactly once, one that was refused did not happen, the outcome is
// unknown only if something was lost, and each request is answered in time. Where requests are
// forwarded, none is refused for want of a leader before it has waited for one. They see the
// answers that users get, the orders on the lines between coordinators, and the log of statements
// in the catalog, each line of which is written together with the changes of its statement.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "coordinator/commit/bundle.h"
#include "ports/sql.h"
#include "sim/world.h"

namespace baton::sim {

class RequestChecks {
public:
    // Whether the process that was asked has been there all the time since then, and not paused.
    using Undisturbed = std::function<bool(std::size_t coordinator, Instant since)>;

    // `disk` is read without faults. `forwards`: coordinators that follow do.
    RequestChecks(World& world, SqlDatabase& disk, bool forwards, Undisturbed undisturbed)
        : world_(world),
          sql_(*disk.connect(Access::read)),
          forwards_(forwards),
          undisturbed_(std::move(undisturbed)) {}

    // A user asks the coordinator of this number and address. Returns a name for the user, which no
    // other request has.
    [[nodiscard]] std::string asked(std::size_t coordinator, const std::string& address);
    void arrived(const std::string& user);  // at the coordinator
    // The coordinator answers, though the answer may be lost on its way.
    void answered(const std::string& user, const coordinator::Outcome& outcome);
    // A commit whose outcome is unknown.
    void commit_lost() { commits_lost_ += 1; }

    // ---- called by the lines between coordinators -----------------------------------------------
    void sent(const std::string& from, const std::string& order);
    // None: the order was not sent. Empty: no answer came.
    void came_back(const std::string& order, const std::optional<std::string>& answer);

    // After the world has healed and all has come to rest.
    void check_all();

    [[nodiscard]] std::uint64_t forwarded() const { return forwarded_; }
    [[nodiscard]] std::uint64_t unknown() const { return unknown_; }

private:
    struct Request {
        std::size_t coordinator = 0;
        std::string address;             // of that coordinator
        std::uint64_t commits_lost = 0;  // before it was asked
        Instant arrived;
        bool may_be_sent = true;  // no order of it may have been read
        bool lost = false;        // what became of its order is not known
        std::optional<coordinator::Outcome> outcome;
    };

    [[nodiscard]] std::uint64_t times(const std::string& user);
    void check(const std::string& user, const Request& request);
    void check_time(const std::string& user, Instant arrived);

    World& world_;
    std::unique_ptr<Sql> sql_;
    const bool forwards_;
    const Undisturbed undisturbed_;
    std::map<std::string, Request> requests_;  // by users
    std::uint64_t commits_lost_ = 0;
    std::uint64_t forwarded_ = 0;
    std::uint64_t unknown_ = 0;
};

}  // namespace baton::sim
