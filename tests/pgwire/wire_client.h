// WireClient runs the statements of a script as a client of PostgreSQL does: with libpq, over TCP,
// at a server of its own.
//
// What is refused over the wire is asked again of a session in this process. Nothing has happened,
// so it must be refused there with the same number, in the same words and at the same place; if
// not, the error is `defect` and says what differs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <libpq-fe.h>

#include "doors/desk/desk.h"
#include "doors/pg/server/server.h"
#include "slt/client.h"

namespace baton {

class WireClient : public slt::Client {
public:
    enum class Protocol : std::uint8_t {
        simple,    // a text
        extended,  // parse, bind, describe, execute
    };
    // The coordinator outlives it.
    [[nodiscard]] static Result<std::unique_ptr<slt::Client>> open(
        coordinator::CoordinatorRuntime& coordinator, Duration patience, Protocol protocol);
    ~WireClient() override;

    [[nodiscard]] Result<Answered> run(const std::string& text) override;
    [[nodiscard]] Result<std::optional<Ended>> end_of(std::uint64_t query) override;

private:
    struct Freed {
        void operator()(PGresult* result) const { PQclear(result); }
    };
    using Rows = std::unique_ptr<PGresult, Freed>;
    // An error, a warning or a notice of the present statement.
    struct Notice {
        bool warns = false;      // which has no place in the text
        bool own_words = false;  // where PostgreSQL knows more than our dialect: SHOW parameter
        std::string message;
        Error error;
        std::optional<std::uint32_t> position;
    };

    WireClient(coordinator::CoordinatorRuntime& coordinator, Duration patience, Protocol protocol);
    static void take_notice(void* self, const PGresult* result);
    [[nodiscard]] static Notice notice_of(const PGresult* result);
    [[nodiscard]] Rows send(const std::string& text);
    [[nodiscard]] Error refused(const std::string& sent, const Notice& told);

    coordinator::CoordinatorRuntime& coordinator_;
    const Duration patience_;
    const Protocol protocol_;
    desk::Desk desk_;
    desk::Metrics metrics_;
    std::unique_ptr<pgserver::Server> server_;
    PGconn* connection_ = nullptr;
    std::optional<Notice> notice_;
};

}  // namespace baton
