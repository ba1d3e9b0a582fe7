// How a connection begins: TLS, version, parameters, login. The rest is in connection.cc.
#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "doors/pg/wire/connection.h"
#include "doors/pg/wire/sqlstate.h"

namespace baton::pgwire {

using namespace connection;  // NOLINT: its own events and effects

namespace {

constexpr std::string_view kProtocolOption = "_pq_.";

Report violation(std::string message) {
    return {.sqlstate = "08P01", .message = std::move(message)};
}

// The name that we report for it; none if it is another encoding than ours.
std::optional<std::string> encoding_of(std::string_view given) {
    std::string name;
    for (const char c : to_upper(given)) {
        if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) name += c;
    }
    if (name == "UTF8" || name == "UNICODE") return "UTF8";
    if (name == "SQLASCII") return "SQL_ASCII";  // bytes as they are, says psql in the C locale
    return std::nullopt;
}

}  // namespace

void Connection::take(const SslRequest& /*request*/, Effects& effects) {
    auto& starting = std::get<Starting>(state_);
    if (std::exchange(starting.ssl_asked, true)) {
        return die(violation("TLS was asked for twice"), effects);
    }
    if (options_.tls == Tls::off) {
        out_ += 'N';
        return;
    }
    // What is already here came without TLS, perhaps from somebody in between: never use it.
    if (reader_.buffered() != 0) return hang_up(effects);
    out_ += 'S';
    send_now(effects);
    effects.emplace_back(StartTls{});
    state_ = Handshaking{};
}

void Connection::take(const GssEncRequest& /*request*/, Effects& effects) {
    auto& starting = std::get<Starting>(state_);
    if (std::exchange(starting.gss_asked, true)) {
        return die(violation("GSS encryption was asked for twice"), effects);
    }
    out_ += 'N';
}

void Connection::take(const CancelRequest& request, Effects& effects) {
    effects.emplace_back(Cancel{.process = request.process, .key = request.key});
    hang_up(effects);  // without a word, so that nobody learns whether the key was right
}

void Connection::take(const OtherProtocol& request, Effects& effects) {
    die({.sqlstate = "0A000",
         .message = "protocol " + std::to_string(request.major) + "." +
                    std::to_string(request.minor) + " is not supported, only 3.0"},
        effects);
}

void Connection::take(const StartupMessage& startup, Effects& effects) {
    if (options_.tls == Tls::required && !encrypted_) {
        return die({.sqlstate = "28000",
                    .message = "connections without TLS are not allowed",
                    .hint = "connect with sslmode=require"},
                   effects);
    }
    negotiate(startup);
    if (auto objection = keep_parameters(startup)) return die(*std::move(objection), effects);
    const bool proves =
        options_.authentication == Authentication::scram ||
        (!options_.always_proves.empty() && session_.user == options_.always_proves);
    if (!proves) return let_in(effects);
    effects.emplace_back(LookUpVerifier{session_.user});
    state_ = LookingUp{};
}

void Connection::negotiate(const StartupMessage& startup) {
    std::vector<std::string> unknown;
    for (const auto& [name, value] : startup.parameters) {
        if (name.starts_with(kProtocolOption)) unknown.push_back(name);
    }
    if (startup.minor == 0 && unknown.empty()) return;
    append_negotiate_protocol_version(out_, 0, unknown);
}

std::optional<Report> Connection::keep_parameters(const StartupMessage& startup) {
    for (const auto& [name, value] : startup.parameters) {
        if (name == "user") {
            session_.user = value;
        } else if (name == "database") {
            session_.database = value;
        } else if (name == "client_encoding") {
            const auto encoding = encoding_of(value);
            if (!encoding) {
                return Report{
                    .sqlstate = "22023",
                    .message = "client encoding " + in_quotes(value) + " is not supported",
                    .hint = "use UTF8"};
            }
            client_encoding_ = *encoding;
        } else if (!name.starts_with(kProtocolOption)) {
            if (name == "application_name") application_name_ = value;
            session_.parameters.emplace_back(name, value);
        }
    }
    if (session_.user.empty()) {
        return Report{.sqlstate = "28000", .message = "the start-up message names no user"};
    }
    if (session_.database.empty()) session_.database = session_.user;
    return std::nullopt;
}

void Connection::on(const VerifierLookedUp& event, Effects& /*effects*/) {
    CHECK(std::holds_alternative<LookingUp>(state_));
    state_ = Authenticating{.scram = {session_.user, event.verifier, options_.scram}};
    append_authentication_sasl(out_, std::array{kScramMechanism});
}

void Connection::authenticate(const Frame& frame, Effects& effects) {
    if (frame.type == 'X') return hang_up(effects);
    if (frame.type != 'p') {
        return die(violation("a password is expected, not a message of type " +
                             in_quotes(std::string(1, frame.type))),
                   effects);
    }
    auto& login = std::get<Authenticating>(state_);
    if (login.first_done) return answer_scram(login, frame.body, effects);

    const auto response = sasl_initial_response_of(frame.body);
    if (!response) return die(report_of(response.error()), effects);
    if (response->mechanism != kScramMechanism || !response->data) {
        return die(violation("only " + std::string(kScramMechanism) + " was offered"), effects);
    }
    const auto reply = login.scram.first(*response->data);
    if (!reply) return die(report_of(reply.error()), effects);
    login.first_done = true;
    append_authentication_sasl_continue(out_, *reply);
}

void Connection::answer_scram(Authenticating& login, std::string_view body, Effects& effects) {
    const auto outcome = login.scram.final(body);
    if (!outcome) return die(report_of(outcome.error()), effects);
    const auto* accepted = std::get_if<ScramServer::Accepted>(&*outcome);
    if (accepted == nullptr) {
        effects.emplace_back(LoginRefused{session_.user});
        return die(
            {.sqlstate = "28P01",
             .message = "password authentication failed for user " + in_quotes(session_.user)},
            effects);
    }
    append_authentication_sasl_final(out_, accepted->message);
    let_in(effects);
}

void Connection::let_in(Effects& effects) {
    append_authentication_ok(out_);
    reader_.authenticated(!options_.always_proves.empty() &&
                          session_.user == options_.always_proves);
    has_session_ = true;
    effects.emplace_back(session_);
    state_ = Opening{};
}

void Connection::on(const SessionOpened& event, Effects& effects) {
    CHECK(std::holds_alternative<Opening>(state_));
    const std::array<std::pair<std::string_view, std::string>, 10> parameters = {{
        {"server_version", "15.0 (Baton " + options_.version + ")"},
        {"server_encoding", "UTF8"},
        {"client_encoding", client_encoding_},
        {"DateStyle", "ISO, MDY"},
        {"integer_datetimes", "on"},
        // A backslash escapes in our strings: clients that quote values must know.
        {"standard_conforming_strings", "off"},
        {"TimeZone", "UTC"},
        {"application_name", application_name_},
        // By these two libpq finds who leads, for those who ask for that (target_session_attrs).
        {"default_transaction_read_only", "off"},
        {"in_hot_standby", event.stands_by ? "on" : "off"},
    }};
    for (const auto& [name, value] : parameters) append_parameter_status(out_, name, value);
    append_backend_key_data(out_, options_.process, options_.key);
    become_ready(effects);
}

}  // namespace baton::pgwire
