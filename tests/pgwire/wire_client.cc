#include "pgwire/wire_client.h"

#include <charconv>
#include <thread>

#include "base/text.h"
#include "doors/pg/wire/sqlstate.h"
#include "model/states.h"

namespace baton {

namespace {

constexpr Duration kPause = std::chrono::milliseconds(2);

std::string field_of(const PGresult* result, int field) {
    const char* value = PQresultErrorField(result, field);
    return value == nullptr ? "" : value;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<std::uint32_t> position_of(const Error& error, std::string_view text) {
    if (!error.at || error.at->offset > text.size()) return std::nullopt;
    return pgwire::character_at(text, error.at->offset);
}

std::string in_words(const Error& error, std::optional<std::uint32_t> position) {
    return to_string(error) + (position ? " at " + std::to_string(*position) : " nowhere");
}

// CREATE QUERY Q (id 17), or CREATE QUERY "17" if it was given no name.
std::optional<std::uint64_t> id_in(const std::string& notice) {
    for (const std::string_view before : {"(id ", "CREATE QUERY \""}) {
        const std::size_t at = notice.find(before);
        if (at == std::string::npos) continue;
        const std::string_view rest = std::string_view(notice).substr(at + before.size());
        return number_of<std::uint64_t>(rest.substr(0, rest.find_first_not_of("0123456789")));
    }
    return std::nullopt;
}

std::string text_of(const PGresult* result) {
    std::string text;
    for (int row = 0; row < PQntuples(result); ++row) {
        for (int column = 0; column < PQnfields(result); ++column) {
            text += PQgetvalue(result, row, column);
        }
        text += "\n";
    }
    return text;
}

}  // namespace

WireClient::WireClient(coordinator::CoordinatorRuntime& coordinator, Duration patience,
                       Protocol protocol)
    : coordinator_(coordinator), patience_(patience), protocol_(protocol), desk_(coordinator) {}

WireClient::~WireClient() {
    PQfinish(connection_);
}

Result<std::unique_ptr<slt::Client>> WireClient::open(coordinator::CoordinatorRuntime& coordinator,
                                                      Duration patience, Protocol protocol) {
    std::unique_ptr<WireClient> client(new WireClient(coordinator, patience, protocol));
    pgserver::ServerOptions options;
    options.port = 0;
    TRY_ASSIGN(server,
               pgserver::Server::open(client->desk_, desk::Access(), client->metrics_, options));
    client->server_ = std::move(server);
    const std::string where = "host=127.0.0.1 user=ann dbname=baton client_encoding=UTF8 port=" +
                              std::to_string(client->server_->port());
    client->connection_ = PQconnectdb(where.c_str());
    if (PQstatus(client->connection_) != CONNECTION_OK) {
        return Error{.code = ErrorCode::cannot_open,
                     .message = PQerrorMessage(client->connection_)};
    }
    PQsetNoticeReceiver(client->connection_, take_notice, client.get());
    return std::unique_ptr<slt::Client>(std::move(client));
}

void WireClient::take_notice(void* self, const PGresult* result) {
    static_cast<WireClient*>(self)->notice_ = notice_of(result);
}

WireClient::Notice WireClient::notice_of(const PGresult* result) {
    const bool warns = field_of(result, PG_DIAG_SEVERITY_NONLOCALIZED) == "WARNING";
    Notice notice{.warns = warns, .message = field_of(result, PG_DIAG_MESSAGE_PRIMARY)};
    const auto line = number_of<std::uint16_t>(field_of(result, PG_DIAG_SOURCE_LINE));
    const bool ours = field_of(result, PG_DIAG_SOURCE_FILE) == "baton";
    notice.error = {.code = ours && line ? ErrorCode{*line} : ErrorCode::defect,
                    .message = notice.message,
                    .hint = field_of(result, PG_DIAG_MESSAGE_HINT)};
    notice.own_words = warns || (notice.error.code == ErrorCode::syntax &&
                                 field_of(result, PG_DIAG_SQLSTATE) == "42704");
    notice.position = number_of<std::uint32_t>(field_of(result, PG_DIAG_STATEMENT_POSITION));
    return notice;
}

WireClient::Rows WireClient::send(const std::string& text) {
    notice_.reset();
    if (protocol_ == Protocol::simple) return Rows(PQexec(connection_, text.c_str()));
    return Rows(PQexecParams(connection_, text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0));
}

Result<slt::Client::Answered> WireClient::run(const std::string& text) {
    const Rows rows = send(text);
    const auto status = PQresultStatus(rows.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) {
        return refused(text, notice_of(rows.get()));
    }
    // What our dialect refuses and PostgreSQL only warns of.
    if (notice_ && notice_->warns) return refused(text, *notice_);
    slt::Client::Answered answered;
    answered.created = std::string_view(PQcmdStatus(rows.get())).starts_with("CREATE") &&
                       !(notice_ && notice_->message.ends_with("nothing was done"));
    if (notice_) answered.id = id_in(notice_->message);
    answered.text = text_of(rows.get());
    return answered;
}

Error WireClient::refused(const std::string& sent, const Notice& told) {
    // The door takes texts apart at their semicolons, so its parser sees none.
    const std::string text = sent.substr(0, sent.find_last_not_of("; \n") + 1);
    coordinator::Session session(coordinator_, "ann");
    const coordinator::Execution again = session.execute(text);
    if (!again.error) {
        return {.code = ErrorCode::defect,
                .message = "refused over the wire, and not by a session: " +
                           in_words(told.error, told.position)};
    }
    const auto position = position_of(*again.error, text);
    const bool same_place = told.warns || told.position == position;
    const bool same_words = told.own_words || (told.error.message == again.error->message &&
                                               told.error.hint == again.error->hint);
    if (told.error.code == again.error->code && same_place && same_words) return told.error;
    return {.code = ErrorCode::defect,
            .message = "over the wire " + in_words(told.error, told.position) + "; by a session " +
                       in_words(*again.error, position)};
}

Result<std::optional<slt::Client::Ended>> WireClient::end_of(std::uint64_t query) {
    const std::string text =
        "SELECT STATE, REASON, REASON_ERROR FROM baton.queries WHERE ID = " + std::to_string(query);
    const Instant deadline = coordinator_.clock().now() + patience_;
    while (coordinator_.clock().now() < deadline) {
        const Rows rows = send(text);
        if (PQresultStatus(rows.get()) != PGRES_TUPLES_OK) return notice_of(rows.get()).error;
        if (PQntuples(rows.get()) == 0) return std::optional<Ended>();
        const auto state = state_of<QueryState>(PQgetvalue(rows.get(), 0, 0));
        if (state && has_ended(*state)) {
            Reason reason{.text = PQgetvalue(rows.get(), 0, 1)};
            if (PQgetisnull(rows.get(), 0, 2) == 0) {
                reason.error = static_cast<std::uint32_t>(std::stoul(PQgetvalue(rows.get(), 0, 2)));
            }
            return std::optional(Ended{.state = *state, .reason = std::move(reason)});
        }
        std::this_thread::sleep_for(kPause);
    }
    return Error{.code = ErrorCode::wait_timed_out,
                 .message = "query " + std::to_string(query) + " has not ended"};
}

}  // namespace baton
