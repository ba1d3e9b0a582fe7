#include "adapters/postgres/signals.h"

#include <array>
#include <chrono>
#include <string_view>

#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapters/postgres/wire.h"
#include "adapters/server_sql/place.h"
#include "base/check.h"
#include "base/one_line.h"

namespace baton::postgres {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class PostgresSignals final : public SqlSignals {
public:
    explicit PostgresSignals(std::string url)
        : url_(std::move(url)), woken_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        CHECK(woken_ >= 0);
    }
    ~PostgresSignals() override {
        conn_.reset();
        (void)close(woken_);
    }
    PostgresSignals(const PostgresSignals&) = delete;
    PostgresSignals& operator=(const PostgresSignals&) = delete;

    [[nodiscard]] Result<SqlSignal> wait(Duration at_most) override {
        if (!conn_) {
            TRY(connect());
            return SqlSignal{.commit = true, .lease = true};
        }
        const auto deadline = steady_clock::now() + at_most;
        for (;;) {
            const SqlSignal signal = taken();
            if (signal.commit || signal.lease) return signal;
            const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
            if (left.count() <= 0) return SqlSignal{};
            std::array<pollfd, 2> ends = {
                pollfd{.fd = PQsocket(conn_.get()), .events = POLLIN, .revents = 0},
                pollfd{.fd = woken_, .events = POLLIN, .revents = 0}};
            (void)::poll(ends.data(), ends.size(), static_cast<int>(left.count()));
            if (ends[1].revents != 0) {
                std::uint64_t count = 0;
                (void)!read(woken_, &count, sizeof count);
                return SqlSignal{};
            }
            if (ends[0].revents != 0 && PQconsumeInput(conn_.get()) == 0) return lost();
        }
    }

    void interrupt() override {
        const std::uint64_t one = 1;
        (void)!write(woken_, &one, sizeof one);
    }

private:
    struct Finish {
        void operator()(PGconn* conn) const { PQfinish(conn); }
    };

    Result<Done> connect() {
        // What the URL says wins over what stands before it. A server that is gone is given up.
        const std::array keys = {"connect_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "fallback_application_name",
                                 "dbname",
                                 static_cast<const char*>(nullptr)};
        const std::array values = {
            "2", "5", "2", "3", "baton", url_.c_str(), static_cast<const char*>(nullptr)};
        conn_.reset(PQconnectdbParams(keys.data(), values.data(), 1));
        if (PQstatus(conn_.get()) != CONNECTION_OK) return lost();
        PQsetNoticeProcessor(
            conn_.get(), [](void*, const char*) {}, nullptr);
        const std::string listen = std::string("LISTEN ") + kSignalChannel;
        PGresult* done = PQexec(conn_.get(), listen.c_str());
        const bool listens = PQresultStatus(done) == PGRES_COMMAND_OK;
        PQclear(done);
        if (!listens) return lost();
        return Done{};
    }

    SqlSignal taken() {
        SqlSignal signal;
        while (PGnotify* told = PQnotifies(conn_.get())) {
            const std::string_view word = told->extra;
            signal.commit = signal.commit || word == kCommitSignal;
            signal.lease = signal.lease || word == kLeaseSignal;
            PQfreemem(told);
        }
        return signal;
    }

    Error lost() {
        Error error{.code = ErrorCode::catalog_unavailable,
                    .message = "lost the connection to the catalog " +
                               server_sql::without_password(url_) + ": " +
                               one_line(PQerrorMessage(conn_.get()))};
        conn_.reset();
        return error;
    }

    const std::string url_;
    const int woken_;
    std::unique_ptr<PGconn, Finish> conn_;  // none: not connected
};

}  // namespace

std::unique_ptr<SqlSignals> listen_to_postgres(const std::string& url) {
    return std::make_unique<PostgresSignals>(url);
}

}  // namespace baton::postgres
