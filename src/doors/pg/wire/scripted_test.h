// For tests: the messages of a client, and a transport, a server and a runner that answer a
// Connection as a script says.
//
// The text of a statement is its script; a text holds any number of them, with semicolons after
// each: "rows 3", "copy 2", "set", "begin", "commit", "notice", "forever" (rows until it is
// interrupted), "fail". A parameter is "$", a column is given by "rows" only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/overload.h"
#include "doors/pg/wire/connection.h"

namespace baton::pgwire::testing {

// ---- the client ---------------------------------------------------------------------------------

inline std::string startup_packet(std::string_view body) {
    std::string bytes;
    { Message(bytes, ' ').bytes(body); }
    return bytes.substr(1);  // a packet has no type
}
inline std::string startup(
    const std::vector<std::pair<std::string, std::string>>& parameters = {{"user", "ann"}},
    char minor = 0) {
    std::string body = {0, 3, 0, minor};
    for (const auto& [name, value] : parameters) {
        body += name + '\0';
        body += value + '\0';
    }
    return startup_packet(body + '\0');
}
inline std::string ssl_request() {
    return startup_packet("\x04\xd2\x16\x2f");
}
inline std::string gss_request() {
    return startup_packet("\x04\xd2\x16\x30");
}
inline std::string frame(char type, std::string_view body = {}) {
    std::string bytes;
    { Message(bytes, type).bytes(body); }
    return bytes;
}
inline std::string query(std::string_view text) {
    return frame('Q', std::string(text) + '\0');
}
inline std::string parse(std::string_view name, std::string_view text,
                         const std::vector<TypeId>& types = {}) {
    std::string bytes;
    {
        Message message(bytes, 'P');
        message.string(name).string(text).int16(static_cast<std::uint16_t>(types.size()));
        for (const TypeId type : types) message.int32(type);
    }
    return bytes;
}
struct Binding {
    std::vector<std::optional<std::string>> parameters;
    std::vector<std::uint16_t> parameter_formats;
    std::vector<std::uint16_t> result_formats;
};
inline std::string bound(std::string_view portal, std::string_view statement,
                         const Binding& binding = {}) {
    std::string bytes;
    {
        Message message(bytes, 'B');
        const auto formats = [&](const std::vector<std::uint16_t>& list) {
            message.int16(static_cast<std::uint16_t>(list.size()));
            for (const std::uint16_t format : list) message.int16(format);
        };
        message.string(portal).string(statement);
        formats(binding.parameter_formats);
        message.int16(static_cast<std::uint16_t>(binding.parameters.size()));
        for (const auto& parameter : binding.parameters) {
            message.int32(parameter ? static_cast<std::uint32_t>(parameter->size()) : UINT32_MAX);
            message.bytes(parameter.value_or(""));
        }
        formats(binding.result_formats);
    }
    return bytes;
}
inline std::string execute(std::string_view portal, char rows_max = 0) {
    return frame('E', std::string(portal) + '\0' + std::string(3, '\0') + rows_max);
}
inline std::string describe(char target, std::string_view name) {
    return frame('D', target + std::string(name) + '\0');
}
inline std::string close(char target, std::string_view name) {
    return frame('C', target + std::string(name) + '\0');
}
inline std::string sync() {
    return frame('S');
}
inline std::string flush() {
    return frame('H');
}
inline std::string terminate() {
    return frame('X');
}

// ---- the runner ---------------------------------------------------------------------------------

// Answers at once, but for a statement that runs for ever.
class ScriptedRunner {
public:
    using Events = std::vector<connection::Event>;

    Events answer(const connection::Effect& effect) {
        using namespace connection;  // NOLINT: its events and effects
        return std::visit(
            Overload{
                [&](const LookUpVerifier&) { return Events{VerifierLookedUp{verifier}}; },
                [](const OpenSession&) { return Events{SessionOpened{}}; },
                [&](const RunSimple& e) { return run(e.text); },
                [&](const Prepare& e) { return prepare(e); },
                [&](const BindPortal& e) {
                    portals_[e.portal] = {.text = texts_.at(e.prepared), .formats = e.formats};
                    return Events{Bound{}};
                },
                [&](const RunPortal& e) { return run_portal(portals_.at(e.portal), e.rows_max); },
                [&](const ClosePrepared& e) {
                    CHECK(texts_.erase(e.prepared) == 1);
                    return Events{};
                },
                [&](const ClosePortal& e) {
                    CHECK(portals_.erase(e.portal) == 1);
                    return Events{};
                },
                [&](const EndSeries& e) {
                    if (e.failed && status_ == TransactionStatus::open) fail_transaction();
                    return Events{Ended{status_}};
                },
                [&](const Interrupt&) {
                    if (!std::exchange(runs_for_ever_, false)) return Events{};
                    return Events{failed("57014")};
                },
                [](const auto&) { return Events{}; },
            },
            effect);
    }

    std::optional<ScramVerifier> verifier;

private:
    struct Portal {
        std::string text;
        std::vector<Format> formats;
        std::size_t given = 0;
    };

    static std::vector<Column> columns() {
        return {{"n", ColumnType::integer}, {"t", ColumnType::text}};
    }
    static std::size_t count_in(std::string_view statement) {
        std::size_t count = 0;
        for (const char c : statement) {
            if (c >= '0' && c <= '9') count = count * 10 + static_cast<std::size_t>(c - '0');
            count = count > 50 ? 50 : count;
        }
        return count;
    }
    static EncodedRows rows(std::size_t from, std::size_t to, std::vector<Format> formats) {
        const auto shape = columns();
        RowWriter writer(shape, std::move(formats));
        for (std::size_t i = from; i < to; ++i) {
            const std::vector<Value> row = {static_cast<std::int64_t>(i), std::string(i, 'x')};
            CHECK(writer.append(row));
        }
        return writer.take();
    }
    static std::vector<std::string> statements_in(std::string_view text) {
        std::vector<std::string> statements;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find(';'), text.size());
            std::string_view statement = text.substr(0, end);
            while (statement.starts_with(' ')) statement.remove_prefix(1);
            if (!statement.empty()) statements.emplace_back(statement);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return statements;
    }

    void fail_transaction() {
        if (status_ == TransactionStatus::open) status_ = TransactionStatus::failed;
    }
    connection::Failed failed(std::string sqlstate) {
        fail_transaction();
        return {.report = {.sqlstate = std::move(sqlstate), .message = "as the script says"},
                .status = status_};
    }

    // Whether the statement came to its end.
    bool run_other(const std::string& statement, Events& events) {
        using namespace connection;  // NOLINT: its events and effects
        if (statement.starts_with("fail")) {
            events.emplace_back(failed("42601"));
            return false;
        }
        if (statement.starts_with("begin")) status_ = TransactionStatus::open;
        if (statement.starts_with("commit")) status_ = TransactionStatus::idle;
        if (statement.starts_with("set")) {
            events.emplace_back(ParameterChanged{.name = "application_name", .value = "x"});
        }
        if (statement.starts_with("notice")) {
            events.emplace_back(
                Noticed{{.severity = Severity::notice, .sqlstate = "00000", .message = "hear"}});
        }
        if (statement.starts_with("copy")) {
            events.emplace_back(CopyBegan{.columns = 2, .format = Format::text});
            events.emplace_back(CopyCame{std::vector<std::string>(count_in(statement), "a\tb\n")});
        }
        events.emplace_back(StatementCompleted{statement.substr(0, statement.find(' '))});
        return true;
    }

    Events run(std::string_view text) {
        using namespace connection;  // NOLINT: its events and effects
        Events events;
        for (const std::string& statement : statements_in(text)) {
            const bool for_ever = statement.starts_with("forever");
            if (for_ever || statement.starts_with("rows")) {
                events.emplace_back(RowsBegan{columns()});
                events.emplace_back(RowsCame{rows(0, count_in(statement), {})});
                runs_for_ever_ = for_ever;
                if (for_ever) return events;
                events.emplace_back(StatementCompleted{"SELECT"});
            } else if (!run_other(statement, events)) {
                return events;
            }
        }
        events.emplace_back(Ended{status_});
        return events;
    }

    Events prepare(const connection::Prepare& effect) {
        using namespace connection;  // NOLINT: its events and effects
        const auto statements = statements_in(effect.text);
        if (statements.size() > 1) return {failed("42601")};
        const std::string text = statements.empty() ? "" : statements.front();
        texts_[effect.prepared] = text;
        Prepared prepared{.parameter_types = effect.parameter_types, .columns = {}};
        const auto parameters = static_cast<std::size_t>(std::count(text.begin(), text.end(), '$'));
        prepared.parameter_types.resize(std::max(parameters, prepared.parameter_types.size()));
        if (text.starts_with("rows") || text.starts_with("forever")) prepared.columns = columns();
        return {prepared};
    }

    Events run_portal(Portal& portal, std::size_t rows_max) {
        using namespace connection;  // NOLINT: its events and effects
        Events events;
        const bool for_ever = portal.text.starts_with("forever");
        if (!for_ever && !portal.text.starts_with("rows")) {
            if (portal.text.empty() || run_other(portal.text, events)) {
                events.emplace_back(Ended{status_});
            }
            return events;
        }
        const std::size_t all = for_ever ? SIZE_MAX : count_in(portal.text);
        std::size_t to = all;
        if (for_ever) to = portal.given + 3;
        if (rows_max != 0 && rows_max < all - portal.given) to = portal.given + rows_max;
        events.emplace_back(RowsCame{rows(std::min<std::size_t>(portal.given, 50),
                                          std::min<std::size_t>(to, 50), portal.formats)});
        portal.given = to;
        if (rows_max != 0 && to < all) {
            events.emplace_back(Suspended{status_});
        } else if (for_ever) {
            runs_for_ever_ = true;
        } else {
            events.emplace_back(StatementCompleted{"SELECT"});
            events.emplace_back(Ended{status_});
        }
        return events;
    }

    TransactionStatus status_ = TransactionStatus::idle;
    bool runs_for_ever_ = false;
    std::map<PreparedId, std::string> texts_;
    std::map<PortalId, Portal> portals_;
};

// ---- all of them --------------------------------------------------------------------------------

class Scripted {
public:
    explicit Scripted(ConnectionOptions options) : machine(std::move(options)) {}

    // Steps and, unless answers are held back, goes on with what the runner answers.
    void step(connection::Event event) {
        apply(std::move(event));
        if (!answers_held) answer();
    }
    void receive(std::string_view bytes) { step(connection::Received{std::string(bytes)}); }
    // Steps with at most so many of the answers that wait.
    void answer(std::size_t count = SIZE_MAX) {
        for (; count > 0 && !answers_.empty(); --count) {
            connection::Event event = std::move(answers_.front());
            answers_.pop_front();
            apply(std::move(event));
        }
    }
    [[nodiscard]] bool has_answers() const { return !answers_.empty(); }

    Connection machine;
    ScriptedRunner runner;
    std::string sent;
    std::vector<std::string> wanted;  // of the server and the runner
    bool reading = true;
    bool acknowledges = true;  // that bytes were written
    bool answers_held = false;

private:
    void apply(connection::Event event) {
        std::size_t written = 0;
        for (const connection::Effect& effect : machine.step(std::move(event))) {
            if (const auto* send = std::get_if<connection::Send>(&effect)) {
                written += send->bytes.size();
            }
            perform(effect);
        }
        if (written != 0 && acknowledges) apply(connection::Written{written});
    }
    void perform(const connection::Effect& effect) {
        using namespace connection;  // NOLINT: its events and effects
        if (const auto* send = std::get_if<Send>(&effect)) {
            sent += send->bytes;
            return;
        }
        if (std::holds_alternative<PauseReading>(effect)) reading = false;
        if (std::holds_alternative<ResumeReading>(effect)) reading = true;
        const bool of_flow = std::holds_alternative<PauseReading>(effect) ||
                             std::holds_alternative<ResumeReading>(effect) ||
                             std::holds_alternative<PauseRows>(effect) ||
                             std::holds_alternative<ResumeRows>(effect);
        if (!of_flow) wanted.push_back(to_string(effect));
        if (std::holds_alternative<StartTls>(effect)) answers_.emplace_back(TlsStarted{});
        for (Event& event : runner.answer(effect)) answers_.push_back(std::move(event));
    }

    std::deque<connection::Event> answers_;
};

}  // namespace baton::pgwire::testing
