#include "doors/remote/remote.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include <libpq-fe.h>

#include "base/overload.h"
#include "sql/parser.h"

namespace baton::remote {

namespace {

using shell::Replies;
using shell::Reply;

constexpr std::size_t kRowsAtATime = 1'000;

// What still comes of one statement. It is cancelled with its object, if it has not ended.
class Coming {
public:
    Coming(CoordinatorConnection& link, std::string text) : link_(link), text_(std::move(text)) {}
    Coming(const Coming&) = delete;
    Coming& operator=(const Coming&) = delete;
    ~Coming() {
        if (ended_) return;
        link_.cancel();
        link_.drain();
    }

    // What has come: waits for the first, and takes what is there with it.
    Result<coordinator::FedRows> next(Duration patience) {
        coordinator::FedRows fed{.rows = {}, .ended = ended_};
        while (!fed.ended && fed.rows.size() < kRowsAtATime) {
            auto answer = link_.next(fed.rows.empty() ? patience : Duration(0));
            if (!answer) {
                ended_ = true;
                return std::move(answer.error());
            }
            if (!*answer) break;  // nothing now
            TRY_ASSIGN(over, take(**answer, fed.rows));
            fed.ended = over;
        }
        return fed;
    }

private:
    // True: it was the end.
    Result<bool> take(const Answer& answer, std::vector<SqlRow>& rows) {
        if (answer == nullptr) return ended_ = true;
        if (auto error = error_of(*answer, text_)) {
            ended_ = true;
            link_.drain();
            return *std::move(error);
        }
        for (SqlRow& row : rows_of(*answer)) rows.push_back(std::move(row));
        if (PQresultStatus(answer.get()) == PGRES_SINGLE_TUPLE) return false;
        ended_ = true;
        link_.drain();
        return true;
    }

    CoordinatorConnection& link_;
    const std::string text_;
    bool ended_ = false;
};

class RemoteRows final : public shell::ComingRows {
public:
    RemoteRows(CoordinatorConnection& link, std::string text,
               std::vector<views::TableColumn> columns)
        : columns_(std::move(columns)), coming_(link, std::move(text)) {}
    [[nodiscard]] const std::vector<views::TableColumn>& columns() const override {
        return columns_;
    }
    [[nodiscard]] Result<coordinator::FedRows> next(Duration patience) override {
        return coming_.next(patience);
    }

private:
    const std::vector<views::TableColumn> columns_;
    Coming coming_;
};

// Rows of a watch have OP and REVISION before the others; those of a snapshot come together.
class RemoteEvents final : public shell::ComingEvents {
public:
    RemoteEvents(CoordinatorConnection& link, std::string text,
                 std::vector<views::TableColumn> columns)
        : columns_(columns.begin() + std::min<std::ptrdiff_t>(2, std::ssize(columns)),
                   columns.end()),
          coming_(link, std::move(text)) {}
    [[nodiscard]] std::vector<views::TableColumn> columns() const override { return columns_; }
    [[nodiscard]] std::optional<Revision> revision() const override { return revision_; }

    [[nodiscard]] Result<std::vector<coordinator::WatchEvent>> next(Duration patience) override {
        TRY_ASSIGN(fed, coming_.next(patience));
        std::vector<coordinator::WatchEvent> events;
        for (SqlRow& row : fed.rows) append(events, std::move(row));
        if (fed.ended) {
            return Error{.code = ErrorCode::cannot_connect,
                         .message = "the coordinator has ended the watch",
                         .hint = "watch again, SINCE REVISION of the last event"};
        }
        return events;
    }

private:
    void append(std::vector<coordinator::WatchEvent>& events, SqlRow row) {
        const auto* op = std::get_if<std::string>(row.data());
        const auto* number = std::get_if<std::int64_t>(&row[1]);
        if (op == nullptr || number == nullptr) return;
        revision_ = Revision(static_cast<std::uint64_t>(*number));
        const std::string what = *op;
        row.erase(row.begin(), row.begin() + 2);
        if (what == "snapshot") {
            auto* last =
                events.empty() ? nullptr : std::get_if<coordinator::WatchSnapshot>(&events.back());
            if (last == nullptr || last->revision != *revision_) {
                events.emplace_back(coordinator::WatchSnapshot{
                    .revision = *revision_, .table = {columns_, {}}, .reason = {}});
                last = &std::get<coordinator::WatchSnapshot>(events.back());
            }
            last->table.rows.push_back(std::move(row));
            return;
        }
        ChangeOp change = ChangeOp::update;
        if (what == "create") change = ChangeOp::create;
        if (what == "drop") change = ChangeOp::drop;
        events.emplace_back(coordinator::WatchChange{
            .revision = *revision_, .op = change, .key = {}, .row = std::move(row)});
    }

    const std::vector<views::TableColumn> columns_;
    std::optional<Revision> revision_;
    Coming coming_;
};

std::optional<sql::OutputFormat> format_of(const sql::Statement& statement) {
    if (const auto* show = std::get_if<sql::Show>(&statement.node)) return show->format;
    if (const auto* explain = std::get_if<sql::Explain>(&statement.node)) return explain->format;
    const auto* watch = std::get_if<sql::Watch>(&statement.node);
    const auto* show = watch != nullptr ? std::get_if<sql::Show>(&watch->source) : nullptr;
    return show != nullptr ? show->format : std::nullopt;
}

bool streams(const sql::Statement& statement) {
    const auto* select = std::get_if<sql::SelectOnce>(&statement.node);
    return select != nullptr && !views::asks_views(select->query);
}

// What was told of a statement without rows. Changes are told in words, by notices that may be read
// before the answers that they belong to.
std::string words_of(const Answer& answer, std::deque<std::string>& notices) {
    std::string line = PQcmdStatus(answer.get());
    if (!notices.empty() && notices.front().starts_with(line)) {
        line = std::move(notices.front());
        notices.pop_front();
    }
    return line;
}

class Remote final : public shell::Counterpart {
public:
    Remote(std::unique_ptr<CoordinatorConnection> link, std::string address,
           AskPassword ask_password)
        : address_(std::move(address)),
          ask_password_(std::move(ask_password)),
          link_(std::move(link)) {}

    [[nodiscard]] Replies execute(std::string_view given) override {
        const std::string text(given);
        // Only to know how the answers are to be taken: what cannot be read here, the coordinator
        // refuses, or it is newer than this.
        const auto parsed = sql::parse(text);
        const std::vector<sql::Statement> none;
        const std::vector<sql::Statement>& statements = parsed ? *parsed : none;
        if (statements.size() == 1) {
            const bool watches = std::holds_alternative<sql::Watch>(statements[0].node);
            if (watches || streams(statements[0])) return follow(text, statements[0], watches);
        }
        Replies replies;
        if (const auto sent = link_->send(text); !sent) {
            replies.error = sent.error();
            return replies;
        }
        gather(text, statements, replies);
        return replies;
    }
    [[nodiscard]] bool in_transaction() const override { return link_->in_transaction(); }
    void interrupt() override { link_->cancel(); }

    [[nodiscard]] Result<views::Table> look(std::string_view question) override {
        const std::lock_guard lock(beside_mutex_);
        if (!beside_) {
            TRY_ASSIGN(beside, CoordinatorConnection::open(address_, ask_password_));
            beside_ = std::move(beside);
        }
        const std::string text(question);
        TRY(beside_->send(text));
        views::Table table;
        for (;;) {
            TRY_ASSIGN(answer, beside_->next());
            for (std::string& notice : beside_->take_notices()) table.note = std::move(notice);
            if (answer == nullptr) return table;
            if (auto error = error_of(*answer, text)) {
                beside_->drain();
                return *std::move(error);
            }
            take_rows(*answer, table);
        }
    }

private:
    static void take_rows(const pg_result& answer, views::Table& table) {
        table.columns = columns_of(answer);
        for (SqlRow& row : rows_of(answer)) table.rows.push_back(std::move(row));
    }

    Replies follow(const std::string& text, const sql::Statement& statement, bool watches) {
        Replies replies;
        auto columns = link_->send_described(text);
        if (!columns) {
            replies.error = std::move(columns.error());
            return replies;
        }
        Reply reply{.value = {}, .format = format_of(statement)};
        if (watches) {
            reply.value = std::make_unique<RemoteEvents>(*link_, text, *std::move(columns));
        } else {
            reply.value = std::make_unique<RemoteRows>(*link_, text, *std::move(columns));
        }
        replies.done.push_back(std::move(reply));
        return replies;
    }

    void gather(const std::string& text, const std::vector<sql::Statement>& statements,
                Replies& replies) {
        views::Table table;
        std::deque<std::string> notices;
        const auto add = [&](auto value) {
            const std::size_t at = replies.done.size();
            Reply reply{.value = std::move(value), .format = {}};
            if (at < statements.size()) reply.format = format_of(statements[at]);
            replies.done.push_back(std::move(reply));
        };
        for (;;) {
            auto answer = link_->next();
            if (!answer) {
                replies.error = std::move(answer.error());
                return;
            }
            for (std::string& notice : link_->take_notices()) notices.push_back(std::move(notice));
            if (*answer == nullptr) break;
            if (auto error = error_of(**answer, text)) {
                replies.error = std::move(error);
                return link_->drain();
            }
            const ExecStatusType status = PQresultStatus(answer->get());
            if (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK) {
                take_rows(**answer, table);
                if (status != PGRES_TUPLES_OK) continue;
                // What is told of rows comes before them.
                if (!notices.empty() && notices.front().find(" is away: ") != std::string::npos) {
                    table.note = std::move(notices.front());
                    notices.pop_front();
                }
                add(std::exchange(table, {}));
            } else if (status == PGRES_COPY_OUT) {
                add(link_->copied());
            } else if (status == PGRES_COMMAND_OK) {
                add(words_of(*answer, notices));
            }
        }
        for (std::string& notice : notices) {
            replies.done.push_back({.value = std::move(notice), .format = {}});
        }
    }

    const std::string address_;
    const AskPassword ask_password_;
    std::unique_ptr<CoordinatorConnection> link_;
    std::mutex beside_mutex_;
    std::unique_ptr<CoordinatorConnection> beside_;  // for what is asked while the other waits
};

std::string settings_for(const Wait& wait) {
    std::string text = "SET baton.notices = 'all';";
    if (wait.until == Wait::Until::steady) text += "SET baton.wait = 'running';";
    if (wait.until == Wait::Until::ended) text += "SET baton.wait = 'ended';";
    if (wait.timeout) {
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(*wait.timeout);
        text += "SET baton.wait_timeout = '" + std::to_string(ms.count()) + "';";
    }
    return text;
}

}  // namespace

Result<std::unique_ptr<shell::Counterpart>> remote(const std::string& address, const Wait& wait,
                                                   const AskPassword& ask_password) {
    // Whoever is asked twice, for the second connection, need not answer twice.
    auto known = std::make_shared<std::optional<std::string>>();
    const AskPassword once = [known, ask_password]() -> std::optional<std::string> {
        if (!*known && ask_password) *known = ask_password();
        return *known;
    };
    TRY_ASSIGN(link, CoordinatorConnection::open(address, once, settings_for(wait)));
    return std::unique_ptr<shell::Counterpart>(
        std::make_unique<Remote>(std::move(link), address, once));
}

}  // namespace baton::remote
