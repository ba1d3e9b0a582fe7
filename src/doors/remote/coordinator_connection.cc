#include "doors/remote/coordinator_connection.h"

#include <array>
#include <cerrno>
#include <utility>

#include <libpq-fe.h>
#include <poll.h>

#include "base/one_line.h"

namespace baton::remote {

std::string message_of(const pg_conn* conn) {
    return one_line(PQerrorMessage(conn));
}

void ConnFinish::operator()(pg_conn* conn) const {
    PQfinish(conn);
}
void ResultClear::operator()(pg_result* result) const {
    PQclear(result);
}
void CancelFree::operator()(pg_cancel* cancel) const {
    PQfreeCancel(cancel);
}

namespace {

using Connection = std::unique_ptr<pg_conn, ConnFinish>;

Connection connect(const std::string& address, const std::optional<std::string>& password) {
    const bool url = address.find("://") != std::string::npos;
    const std::string whole = url ? address : "postgres://" + address;
    // What the URL says wins over what stands before it. One whose machine is gone is given up.
    const std::array<const char*, 10> keys = {"port",
                                              "connect_timeout",
                                              "keepalives_idle",
                                              "keepalives_interval",
                                              "keepalives_count",
                                              "fallback_application_name",
                                              "client_encoding",
                                              "dbname",
                                              "password",
                                              nullptr};
    const std::array<const char*, 10> values = {
        "5433", "10",          "20",
        "5",    "4",           "baton",
        "UTF8", whole.c_str(), password ? password->c_str() : nullptr,
        nullptr};
    return Connection(PQconnectdbParams(keys.data(), values.data(), 1));
}

bool is_refused_login(const pg_conn* conn) {
    return PQconnectionUsedPassword(conn) != 0 || PQconnectionNeedsPassword(conn) != 0;
}

}  // namespace

CoordinatorConnection::CoordinatorConnection(Connection conn, std::string first)
    : conn_(std::move(conn)), first_(std::move(first)), cancel_(PQgetCancel(conn_.get())) {
    PQsetNoticeReceiver(
        conn_.get(),
        [](void* self, const pg_result* notice) {
            const char* text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
            if (text != nullptr)
                static_cast<CoordinatorConnection*>(self)->notices_.emplace_back(text);
        },
        this);
}

Result<std::unique_ptr<CoordinatorConnection>> CoordinatorConnection::open(
    const std::string& address, const AskPassword& ask_password, std::string first) {
    Connection conn = connect(address, std::nullopt);
    if (PQstatus(conn.get()) != CONNECTION_OK && PQconnectionNeedsPassword(conn.get()) != 0 &&
        ask_password) {
        if (const auto password = ask_password()) conn = connect(address, password);
    }
    if (PQstatus(conn.get()) != CONNECTION_OK) {
        const bool login = is_refused_login(conn.get());
        return Error{.code = login ? ErrorCode::not_authenticated : ErrorCode::cannot_connect,
                     .message = "cannot connect to the coordinator: " + message_of(conn.get()),
                     .hint = login ? "a password is read from the URL, PGPASSWORD or ~/.pgpass"
                                   : "`baton serve` listens at 127.0.0.1:5433 unless set "
                                     "otherwise"};
    }
    std::unique_ptr<CoordinatorConnection> link(
        new CoordinatorConnection(std::move(conn), std::move(first)));
    TRY(link->begin());
    return link;
}

Result<Done> CoordinatorConnection::begin() {
    if (first_.empty()) return Done{};
    const Answer answer(PQexec(conn_.get(), first_.c_str()));
    if (auto error = error_of(*answer, first_)) return *std::move(error);
    return Done{};
}

Error CoordinatorConnection::lost() const {
    return {.code = ErrorCode::unknown_outcome,
            .message = "the connection to the coordinator was lost: " + message_of(conn_.get()),
            .hint = "look before it is tried again: it may or may not have happened"};
}

Result<Done> CoordinatorConnection::revive() {
    if (PQstatus(conn_.get()) == CONNECTION_OK) return Done{};
    PQreset(conn_.get());
    if (PQstatus(conn_.get()) != CONNECTION_OK) {
        return Error{
            .code = ErrorCode::cannot_connect,
            .message = "cannot connect to the coordinator again: " + message_of(conn_.get()),
            .hint = "nothing has happened; try again when it is there"};
    }
    {
        const std::lock_guard lock(cancel_mutex_);
        cancel_.reset(PQgetCancel(conn_.get()));
    }
    TRY(begin());
    if (!std::exchange(was_in_transaction_, false)) return Done{};
    return Error{
        .code = ErrorCode::transaction_state,
        .message = "the connection was lost with a transaction open: nothing of it happened",
        .hint = "begin it again"};
}

Result<Done> CoordinatorConnection::send(const std::string& text) {
    TRY(revive());
    if (PQsendQuery(conn_.get(), text.c_str()) == 0) return lost();
    (void)PQsetSingleRowMode(conn_.get());
    return Done{};
}

Result<std::vector<views::TableColumn>> CoordinatorConnection::send_described(
    const std::string& text) {
    TRY(revive());
    const Answer prepared(PQprepare(conn_.get(), "", text.c_str(), 0, nullptr));
    if (auto error = error_of(*prepared, text)) return *std::move(error);
    const Answer described(PQdescribePrepared(conn_.get(), ""));
    if (auto error = error_of(*described, text)) return *std::move(error);
    if (PQsendQueryPrepared(conn_.get(), "", 0, nullptr, nullptr, nullptr, 0) == 0) return lost();
    (void)PQsetSingleRowMode(conn_.get());
    return columns_of(*described);
}

Result<Answer> CoordinatorConnection::next() {
    for (;;) {
        TRY_ASSIGN(answer, next(std::chrono::hours(1)));
        if (answer) return std::move(*answer);
    }
}

Result<std::optional<Answer>> CoordinatorConnection::next(Duration patience) {
    if (PQisBusy(conn_.get()) != 0) {
        pollfd socket{.fd = PQsocket(conn_.get()), .events = POLLIN, .revents = 0};
        const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
        const int ready = ::poll(&socket, 1, static_cast<int>(wait.count()));
        if (ready < 0 && errno != EINTR) return lost();
        if (ready <= 0) return std::optional<Answer>();
        if (PQconsumeInput(conn_.get()) == 0) return lost();
        if (PQisBusy(conn_.get()) != 0) return std::optional<Answer>();
    }
    was_in_transaction_ = in_transaction();
    return std::optional<Answer>(PQgetResult(conn_.get()));
}

std::string CoordinatorConnection::copied() {
    std::string text;
    char* line = nullptr;
    for (int size = 0; (size = PQgetCopyData(conn_.get(), &line, 0)) > 0; PQfreemem(line)) {
        text.append(line, static_cast<std::size_t>(size));
    }
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

void CoordinatorConnection::drain() {
    while (const Answer answer{PQgetResult(conn_.get())}) continue;
    was_in_transaction_ = in_transaction();
}

void CoordinatorConnection::cancel() {
    std::array<char, 256> why{};
    const std::lock_guard lock(cancel_mutex_);
    if (cancel_) (void)PQcancel(cancel_.get(), why.data(), static_cast<int>(why.size()));
}

bool CoordinatorConnection::in_transaction() const {
    const PGTransactionStatusType status = PQtransactionStatus(conn_.get());
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

std::vector<std::string> CoordinatorConnection::take_notices() {
    return std::exchange(notices_, {});
}

}  // namespace baton::remote
