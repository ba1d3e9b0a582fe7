// Client runs the statements of a script: a session in this process, or a client of a door.
//
// Every client must give the same answers: results, numbers of errors, and their positions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"
#include "model/states.h"

namespace baton::slt {

class Client {
public:
    Client() = default;
    virtual ~Client() = default;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    struct Answered {
        bool created = false;             // something that was not there before
        std::optional<std::uint64_t> id;  // of the query
        std::string text;                 // the values of the rows, a line for each row
    };
    // Runs one statement; a query that it creates has settled, one that it drops is gone.
    [[nodiscard]] virtual Result<Answered> run(const std::string& text) = 0;

    struct Ended {
        QueryState state = QueryState::terminated;
        Reason reason;
    };
    // Waits for that; none: the query is no longer there.
    [[nodiscard]] virtual Result<std::optional<Ended>> end_of(std::uint64_t query) = 0;
};

// In this process. The coordinator outlives it. `patience` is for one statement.
class SessionClient : public Client {
public:
    SessionClient(coordinator::CoordinatorRuntime& coordinator, Duration patience);
    [[nodiscard]] Result<Answered> run(const std::string& text) override;
    [[nodiscard]] Result<std::optional<Ended>> end_of(std::uint64_t query) override;

private:
    coordinator::CoordinatorRuntime& coordinator_;
    coordinator::Session session_;
    const Duration patience_;
};

}  // namespace baton::slt
