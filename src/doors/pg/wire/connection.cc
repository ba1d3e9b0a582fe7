#include "doors/pg/wire/connection.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/overload.h"
#include "doors/pg/wire/sqlstate.h"

namespace baton::pgwire {

using namespace connection;  // NOLINT: its own events and effects

namespace {

// "Z T D D C Z": the types of the messages; a lone byte is an answer to SslRequest.
std::string types_in(std::string_view bytes) {
    if (bytes.size() == 1) return std::string(bytes);
    std::string types;
    while (bytes.size() >= 5) {
        std::size_t size = 0;
        for (const char c : bytes.substr(1, 4)) size = size << 8U | static_cast<unsigned char>(c);
        types += (types.empty() ? "" : " ") + std::string(1, bytes[0]);
        if (bytes[0] == 'Z') types += bytes[5];
        bytes.remove_prefix(std::min(bytes.size(), size + 1));
    }
    return types;
}

}  // namespace

std::string connection::to_string(const Effect& effect) {
    const auto number = [](auto id) { return std::to_string(id.value()); };
    return std::visit(
        Overload{
            [](const Send& e) { return "send " + types_in(e.bytes); },
            [](const StartTls&) { return std::string("start TLS"); },
            [](const HangUp&) { return std::string("hang up"); },
            [](const PauseReading&) { return std::string("pause reading"); },
            [](const ResumeReading&) { return std::string("resume reading"); },
            [](const Cancel& e) {
                return "cancel " + std::to_string(e.process) + "/" + std::to_string(e.key);
            },
            [](const LookUpVerifier& e) { return "look up " + e.user; },
            [](const LoginRefused& e) { return "login refused to " + e.user; },
            [](const OpenSession& e) { return "open session " + e.user + "@" + e.database; },
            [](const EndSession&) { return std::string("end session"); },
            [](const RunSimple& e) { return "run [" + e.text + "]"; },
            [&](const Prepare& e) { return "prepare " + number(e.prepared) + " [" + e.text + "]"; },
            [&](const BindPortal& e) {
                return "bind " + number(e.portal) + " to " + number(e.prepared) + " with " +
                       std::to_string(e.parameters.size());
            },
            [](const GiveCopied& e) {
                return "give " + std::to_string(e.bytes.size()) + " copied bytes";
            },
            [](const EndCopied& e) { return "end copied" + (e.failed ? ": " + *e.failed : ""); },
            [&](const RunPortal& e) {
                return "run portal " + number(e.portal) + " for " + std::to_string(e.rows_max);
            },
            [&](const ClosePrepared& e) { return "close prepared " + number(e.prepared); },
            [&](const ClosePortal& e) { return "close portal " + number(e.portal); },
            [](const EndSeries& e) {
                return std::string(e.failed ? "end failed series" : "end series");
            },
            [](const Interrupt&) { return std::string("interrupt"); },
            [](const PauseRows&) { return std::string("pause rows"); },
            [](const ResumeRows&) { return std::string("resume rows"); },
        },
        effect);
}

Connection::Connection(ConnectionOptions options)
    : options_(std::move(options)), reader_(options_.frames) {}

std::vector<Effect> Connection::step(Event event) {
    Effects effects;
    if (is_closed()) return effects;
    std::visit([&](auto&& e) { on(std::forward<decltype(e)>(e), effects); }, std::move(event));
    advance(effects);
    regulate(effects);
    return effects;
}

// ---- the transport ------------------------------------------------------------------------------

void Connection::on(const Received& event, Effects& effects) {
    // The transport gives what came before TLS to us, or it goes to TLS: here it is too late.
    if (std::holds_alternative<Handshaking>(state_)) return hang_up(effects);
    reader_.feed(event.bytes);
}

void Connection::on(const Written& event, Effects& /*effects*/) {
    CHECK(event.bytes <= unsent_);
    unsent_ -= event.bytes;
}

void Connection::on(const TlsStarted& /*event*/, Effects& /*effects*/) {
    if (!std::holds_alternative<Handshaking>(state_)) {
        CHECK(std::holds_alternative<Starting>(state_) && reader_.buffered() == 0);
    }
    encrypted_ = true;
    state_ = Starting{.ssl_asked = true, .gss_asked = true};
}

void Connection::on(const Vanished& /*event*/, Effects& effects) {
    hang_up(effects);
}

void Connection::on(Expelled event, Effects& effects) {
    if (std::holds_alternative<Handshaking>(state_)) return hang_up(effects);
    die(std::move(event.report), effects);
}

void Connection::send_now(Effects& effects) {
    if (out_.empty()) return;
    unsent_ += out_.size();
    effects.emplace_back(Send{std::exchange(out_, {})});
}

void Connection::die(Report report, Effects& effects) {
    report.severity = Severity::fatal;
    append_error(out_, report);
    hang_up(effects);
}

void Connection::hang_up(Effects& effects) {
    if (awaits_runner() && !interrupted_) effects.emplace_back(Interrupt{});
    if (has_session_) effects.emplace_back(EndSession{});
    send_now(effects);
    effects.emplace_back(HangUp{});
    state_ = Closed{};
}

void Connection::on(const CancelAsked& /*event*/, Effects& effects) {
    if (!awaits_runner() || std::exchange(interrupted_, true)) return;
    effects.emplace_back(Interrupt{});
}

bool Connection::awaits_runner() const {
    return std::holds_alternative<Preparing>(state_) || std::holds_alternative<Binding>(state_) ||
           std::holds_alternative<Running>(state_);
}

std::size_t Connection::bytes_kept() const {
    constexpr std::size_t kSmallMessage = 65'536;
    constexpr std::size_t kFew = std::size_t{1} << 20U;
    const std::size_t messages = reader_.buffered() + (awaits_runner() ? message_bytes_ : 0);
    const std::size_t others = prepared_bytes_ + portal_bytes_;
    return (messages > kSmallMessage ? messages : 0) + (others > kFew ? others : 0);
}

// ---- taking turns -------------------------------------------------------------------------------

bool Connection::takes_messages() const {
    if (output_waiting() > options_.output_bytes_max) return false;
    return std::holds_alternative<Starting>(state_) ||
           std::holds_alternative<Authenticating>(state_) ||
           std::holds_alternative<Ready>(state_) || std::holds_alternative<Skipping>(state_) ||
           copies_in();
}

void Connection::advance(Effects& effects) {
    bool more = true;
    while (more && takes_messages()) {
        const bool starting = std::holds_alternative<Starting>(state_);
        more = starting ? take_packet(effects) : take_frame(effects);
    }
}

bool Connection::take_packet(Effects& effects) {
    const auto body = reader_.next_packet();
    if (!body) {
        die(report_of(body.error()), effects);
        return true;
    }
    if (!body->has_value()) return false;
    const auto packet = packet_of(**body);
    if (!packet) {
        die(report_of(packet.error()), effects);
        return true;
    }
    std::visit([&](const auto& p) { take(p, effects); }, *packet);
    return true;
}

bool Connection::take_frame(Effects& effects) {
    const auto frame = reader_.next_frame();
    if (!frame) {
        die(report_of(frame.error()), effects);
        return true;
    }
    if (!frame->has_value()) return false;
    if (std::holds_alternative<Authenticating>(state_)) {
        authenticate(**frame, effects);
    } else {
        look_into(**frame, effects);
    }
    return true;
}

// What has to be answered by ReadyForQuery even if it cannot be read.
void Connection::look_into(const Frame& frame, Effects& effects) {
    message_bytes_ = frame.body.size();
    const bool skipping = std::holds_alternative<Skipping>(state_);
    if (skipping && frame.type != 'S' && frame.type != 'X') return;
    if (copies_in()) {
        if (frame.type == 'H' || frame.type == 'S') return;  // they mean nothing here
        const bool of_copy = std::string_view("dcfX").find(frame.type) != std::string_view::npos;
        if (!of_copy) return end_copy("another message came in the middle of the rows", effects);
    }
    auto message = message_of(frame, options_.parameters_max);
    if (message) {
        std::visit([&](auto&& m) { take(std::forward<decltype(m)>(m), effects); },
                   *std::move(message));
        return;
    }
    if (frame.type == 'X') return hang_up(effects);
    if (copies_in()) return end_copy(message.error().message, effects);
    if (frame.type == 'c' || frame.type == 'f') return;  // of a copy that is over
    refuse(report_of(message.error()));
    if (frame.type == 'Q' || frame.type == 'S') end_series(true, effects);
}

bool Connection::copies_in() const {
    const auto* run = std::get_if<Running>(&state_);
    return run != nullptr && run->phase == Running::Phase::copy_in;
}

void Connection::end_copy(std::optional<std::string> failed, Effects& effects) {
    running().phase = Running::Phase::copied;
    effects.emplace_back(EndCopied{std::move(failed)});
}

void Connection::regulate(Effects& effects) {
    reader_.compact();
    if (is_closed()) return;
    send_now(effects);
    if (auto* run = std::get_if<Running>(&state_)) {
        const bool too_much = output_waiting() > options_.output_bytes_max;
        const bool little = output_waiting() <= options_.output_bytes_max / 2;
        if (too_much && !run->paused) {
            run->paused = true;
            effects.emplace_back(PauseRows{});
        } else if (little && run->paused) {
            run->paused = false;
            effects.emplace_back(ResumeRows{});
        }
    }
    const bool wanted = takes_messages() || reader_.buffered() < options_.input_bytes_ahead_max;
    if (wanted == reading_) return;
    reading_ = wanted;
    wanted ? effects.emplace_back(ResumeReading{}) : effects.emplace_back(PauseReading{});
}

}  // namespace baton::pgwire
