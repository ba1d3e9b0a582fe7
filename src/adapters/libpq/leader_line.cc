#include "adapters/libpq/leader_line.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <libpq-fe.h>
#include <poll.h>

namespace baton::libpq {

namespace {

using Connection = std::unique_ptr<pg_conn, ConnFinish>;
using std::chrono::steady_clock;

// How soon it is noticed that nobody wants the answer any more.
constexpr std::chrono::milliseconds kSlice{50};

Error cannot_connect(std::string why) {
    return {.code = ErrorCode::cannot_connect, .message = std::move(why)};
}

struct HostPort {
    std::string host;
    std::string port;
};

// "[::1]:5433"
HostPort host_port_of(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos) return {.host = address, .port = "5433"};
    std::string host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return {.host = std::move(host), .port = address.substr(colon + 1)};
}

Connection begin(const std::string& address, const LeaderLineOptions& options) {
    const HostPort at = host_port_of(address);
    const std::array keys = {"host",
                             "port",
                             "user",
                             "password",
                             "dbname",
                             "sslmode",
                             "sslrootcert",
                             "gssencmode",
                             "fallback_application_name",
                             "keepalives_idle",
                             "keepalives_interval",
                             "keepalives_count",
                             static_cast<const char*>(nullptr)};
    const std::array values = {at.host.c_str(),
                               at.port.c_str(),
                               options.user.c_str(),
                               options.password.c_str(),
                               "baton",
                               options.sslmode.c_str(),
                               options.ca.c_str(),
                               "disable",
                               "baton",
                               "5",
                               "2",
                               "3",
                               static_cast<const char*>(nullptr)};
    return Connection(PQconnectStartParams(keys.data(), values.data(), 0));
}

}  // namespace

// One order on its way, with its time.
class PgLeaderLine::Attempt {
public:
    Attempt(Duration patience, const std::function<bool()>& given_up)
        : until_(steady_clock::now() + patience), given_up_(given_up) {}

    // Null, with the reason in `why`.
    [[nodiscard]] Connection connect(const std::string& address, const LeaderLineOptions& options,
                                     Error& why) {
        const auto until = std::min(until_, steady_clock::now() + options.connect_timeout);
        Connection conn = begin(address, options);
        PostgresPollingStatusType state = PGRES_POLLING_WRITING;
        while (PQstatus(conn.get()) != CONNECTION_BAD && state != PGRES_POLLING_OK) {
            if (state == PGRES_POLLING_FAILED) break;
            const short wanted = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
            if (!wait(*conn, wanted, until)) {
                why = cannot_connect("it took too long to connect");
                return nullptr;
            }
            state = PQconnectPoll(conn.get());
        }
        if (state != PGRES_POLLING_OK) {
            why = cannot_connect(message_of(conn.get()));
            if (PQconnectionUsedPassword(conn.get()) != 0) why.code = ErrorCode::not_authenticated;
            return nullptr;
        }
        if (PQconnectionUsedPassword(conn.get()) == 0) {
            why = {.code = ErrorCode::not_authenticated,
                   .message = "what is there does not ask who we are, so it is no coordinator"};
            return nullptr;
        }
        (void)PQsetnonblocking(conn.get(), 1);
        return conn;
    }

    // True: all of it is on its way. Otherwise the other end cannot have read it.
    [[nodiscard]] bool send(pg_conn& conn, const std::string& order) {
        if (PQsendQuery(&conn, order.c_str()) == 0) return false;
        for (;;) {
            const int left = PQflush(&conn);
            if (left <= 0) return left == 0;
            if (!wait(conn, POLLOUT | POLLIN, until_)) return false;
            if (PQconsumeInput(&conn) == 0) return false;
        }
    }

    [[nodiscard]] LineAnswer receive(pg_conn& conn) {
        std::optional<LineAnswer> answer;
        for (;;) {
            while (PQisBusy(&conn) != 0) {
                if (!wait(conn, POLLIN, until_)) return NoAnswer{late()};
                if (PQconsumeInput(&conn) == 0) return NoAnswer{lost(conn)};
            }
            const Answer result(PQgetResult(&conn));
            if (!result) break;
            if (!answer) answer = answer_of(*result, conn);
        }
        return answer ? *std::move(answer) : LineAnswer(NoAnswer{lost(conn)});
    }

private:
    // False: the time is over, or nobody wants it any more.
    [[nodiscard]] bool wait(const pg_conn& conn, short wanted, steady_clock::time_point until) {
        for (;;) {
            const auto left = until - steady_clock::now();
            if (left <= left.zero() || given_up_()) return false;
            pollfd socket{.fd = PQsocket(&conn), .events = wanted, .revents = 0};
            const auto slice = std::chrono::ceil<std::chrono::milliseconds>(
                std::min<steady_clock::duration>(left, kSlice));
            if (::poll(&socket, 1, static_cast<int>(slice.count())) > 0) return true;
        }
    }

    static LineAnswer answer_of(const pg_result& result, const pg_conn& conn) {
        if (PQresultStatus(&result) == PGRES_TUPLES_OK && PQntuples(&result) == 1) {
            return std::string(PQgetvalue(&result, 0, 0),
                               static_cast<std::size_t>(PQgetlength(&result, 0, 0)));
        }
        auto error = error_of(result, {});
        if (!error || PQstatus(&conn) != CONNECTION_OK) return NoAnswer{lost(conn)};
        // Too much waits there, or it does not understand orders: nothing has happened.
        const bool refused = error->code == ErrorCode::slow_down ||
                             error->code == ErrorCode::syntax ||
                             error->code == ErrorCode::not_supported;
        if (refused) return NotSent{*std::move(error)};
        return NoAnswer{*std::move(error)};
    }

    static Error lost(const pg_conn& conn) {
        return {.code = ErrorCode::unknown_outcome,
                .message = "the connection was lost: " + message_of(&conn)};
    }
    [[nodiscard]] Error late() const {
        if (given_up_()) return {.code = ErrorCode::cancelled, .message = "it was cancelled"};
        return {.code = ErrorCode::unknown_outcome, .message = "it took too long"};
    }

    const steady_clock::time_point until_;
    const std::function<bool()>& given_up_;
};

LineAnswer PgLeaderLine::ask(const std::string& address, const std::string& order,
                             Duration patience, const std::function<bool()>& given_up) {
    Attempt attempt(patience, given_up);
    Connection conn = kept(address);
    if (!conn) {
        Error why;
        conn = attempt.connect(address, options_, why);
        if (!conn) return NotSent{std::move(why)};
    }
    if (!attempt.send(*conn, order)) return NotSent{cannot_connect(message_of(conn.get()))};
    LineAnswer answer = attempt.receive(*conn);
    if (!std::holds_alternative<NoAnswer>(answer)) keep(address, std::move(conn));
    return answer;
}

PgLeaderLine::Connection PgLeaderLine::kept(const std::string& address) {
    for (;;) {
        Connection conn;
        {
            const std::lock_guard lock(mutex_);
            if (address != address_ || idle_.empty()) return nullptr;
            conn = std::move(idle_.back());
            idle_.pop_back();
        }
        // What has come meanwhile is most often the end.
        pollfd socket{.fd = PQsocket(conn.get()), .events = POLLIN, .revents = 0};
        if (::poll(&socket, 1, 0) == 0) return conn;
        if (PQconsumeInput(conn.get()) != 0 && PQisBusy(conn.get()) == 0 &&
            PQstatus(conn.get()) == CONNECTION_OK) {
            return conn;
        }
    }
}

void PgLeaderLine::keep(const std::string& address, Connection connection) {
    std::vector<Connection> closed;  // without the lock
    const std::lock_guard lock(mutex_);
    if (address != address_) {
        closed.swap(idle_);
        address_ = address;
    }
    if (idle_.size() < options_.idle_max) idle_.push_back(std::move(connection));
}

}  // namespace baton::libpq
