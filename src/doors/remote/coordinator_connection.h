// CoordinatorConnection is one connection to a coordinator's door for PostgreSQL's clients, by
// libpq. It knows PostgreSQL's protocol and our values, but not the meaning of statements.
//
// Used by one thread at a time, except for cancel().
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "catalog/views/view_query.h"

struct pg_cancel;
struct pg_conn;
struct pg_result;

namespace baton::remote {

// Asks for a password if the coordinator wants one and the address has none; none: there is none.
using AskPassword = std::function<std::optional<std::string>()>;

struct ConnFinish {
    void operator()(pg_conn* conn) const;
};
struct ResultClear {
    void operator()(pg_result* result) const;
};
struct CancelFree {
    void operator()(pg_cancel* cancel) const;
};
using Answer = std::unique_ptr<pg_result, ResultClear>;

// The last error of the connection, on one line.
[[nodiscard]] std::string message_of(const pg_conn* conn);

class CoordinatorConnection {
public:
    // `address` is a URL (postgres://user@host:5433) or host:port. `first` is run at the beginning
    // of each connection, if it is not empty. Fails with cannot_connect or not_authenticated.
    [[nodiscard]] static Result<std::unique_ptr<CoordinatorConnection>> open(
        const std::string& address, const AskPassword& ask_password, std::string first = {});

    // Sends a text of statements; their rows come one by one. Reconnects first if the connection
    // was lost since the last one: an open transaction is then gone, and reported as such.
    [[nodiscard]] Result<Done> send(const std::string& text);
    // The same for one statement, whose columns come first.
    [[nodiscard]] Result<std::vector<views::TableColumn>> send_described(const std::string& text);

    // The next answer; null: there are no more. Waits.
    [[nodiscard]] Result<Answer> next();
    // The same, waiting until the time is over: none, nothing came.
    [[nodiscard]] Result<std::optional<Answer>> next(Duration patience);
    // All that COPY gives, after an answer that says so.
    [[nodiscard]] std::string copied();
    // Reads the rest of the answers, and forgets them.
    void drain();
    // Makes what runs end. Any thread.
    void cancel();

    [[nodiscard]] bool in_transaction() const;
    // The notices beside the answers since the last call.
    [[nodiscard]] std::vector<std::string> take_notices();

private:
    CoordinatorConnection(std::unique_ptr<pg_conn, ConnFinish> conn, std::string first);
    [[nodiscard]] Result<Done> begin();
    [[nodiscard]] Result<Done> revive();
    [[nodiscard]] Error lost() const;

    std::unique_ptr<pg_conn, ConnFinish> conn_;
    const std::string first_;
    std::mutex cancel_mutex_;
    std::unique_ptr<pg_cancel, CancelFree> cancel_;
    std::vector<std::string> notices_;
    bool was_in_transaction_ = false;
};

[[nodiscard]] std::vector<views::TableColumn> columns_of(const pg_result& answer);
// All rows of an answer.
[[nodiscard]] std::vector<SqlRow> rows_of(const pg_result& answer);
// Why it failed, with the place in `text`; none: it did not.
[[nodiscard]] std::optional<Error> error_of(const pg_result& answer, std::string_view text);

}  // namespace baton::remote
