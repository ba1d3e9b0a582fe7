// Connection is the server's side of one connection of PostgreSQL's protocol 3.0.
//
// Input:   bytes of the client, and the results of earlier effects: a verifier, a session, a
//          statement's rows and end.
// Output:  bytes for the client, and effects: run this text, bind that statement, stop reading.
//
// Around it stand a transport (a socket, with or without TLS), the server (which knows users, and
// all connections by process and key) and a runner (one session, which may block on a thread of its
// own). They post events one after the other and perform the effects in their order.
//
// Rules:
//   - One thing at a time: LookUpVerifier, OpenSession, Prepare, BindPortal, RunSimple, RunPortal
//     and EndSeries are each answered before the next is asked for. Messages that come meanwhile
//     wait. So answers need no numbers, and replies have the order of the requests.
//   - It reads no SQL. The runner reports the parts of a text as it runs them.
//   - Every Query and every Sync is answered by exactly one ReadyForQuery. After an error in
//     between, all is skipped until Sync.
//   - Portals end with the transaction: at ReadyForQuery, unless a transaction is open and well.
//   - The queues are bounded: one unfinished message and the input that a client may be ahead
//     (PauseReading), and output up to its limit and the rows under way (PauseRows). With too much
//     output no further message is taken either.
//   - A statement that never ends is ended by CancelAsked (Interrupt, then the runner's Failed) or
//     by Vanished (Interrupt and EndSession). While one runs the connection still reads from its
//     client, to notice when it is gone; only a client that has sent far ahead is noticed by
//     writing.
//   - Before TLS nothing that came with the request for it is used, and until the client has proved
//     who it is it can make us keep little.
//   - After HangUp nothing matters. An event that does not fit is a defect of the caller.
// Pure: no sockets, no threads, no clock; secrets are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "doors/pg/wire/connection_events.h"
#include "doors/pg/wire/messages.h"
#include "doors/pg/wire/replies.h"
#include "doors/pg/wire/scram.h"
#include "doors/pg/wire/values.h"

namespace baton::pgwire {

enum class Tls : std::uint8_t { off, offered, required };
enum class Authentication : std::uint8_t { trust, scram };

struct ConnectionOptions {
    Tls tls = Tls::off;
    Authentication authentication = Authentication::scram;
    // The user that proves a password even where others are trusted; empty: none.
    std::string always_proves;
    ScramServer::Secrets scram;  // not for trust
    std::uint32_t process = 0;   // for cancel requests: unique among connections,
    std::uint32_t key = 0;       // and unpredictable
    std::string version;         // of Baton
    FrameLimits frames;
    std::size_t parameters_max = 65'535;
    std::size_t prepared_max = 4096;
    std::size_t portals_max = 4096;
    // The memory that they take. The largest message fits when there is nothing else.
    std::size_t prepared_bytes_max = std::size_t{17} << 20U;
    std::size_t portal_bytes_max = std::size_t{32} << 20U;
    std::size_t input_bytes_ahead_max = 65'536;
    std::size_t output_bytes_max = std::size_t{1} << 20U;
};

class Connection {
public:
    explicit Connection(ConnectionOptions options);

    [[nodiscard]] std::vector<connection::Effect> step(connection::Event event);

    [[nodiscard]] bool is_closed() const { return std::holds_alternative<Closed>(state_); }
    [[nodiscard]] TransactionStatus status() const { return status_; }
    // Whether the client has begun to prove who it is.
    [[nodiscard]] bool proves() const {
        const auto* login = std::get_if<Authenticating>(&state_);
        return login != nullptr && login->first_done;
    }
    [[nodiscard]] std::size_t input_waiting() const { return reader_.buffered(); }
    // The memory that the client makes us keep: messages that arrived and are not done, prepared
    // statements and portals. 0 if that is as little as every client may.
    [[nodiscard]] std::size_t bytes_kept() const;
    [[nodiscard]] std::size_t output_waiting() const { return unsent_ + out_.size(); }

private:
    using Effects = std::vector<connection::Effect>;
    using Columns = std::optional<std::vector<Column>>;

    struct Statement {
        PreparedId id;
        std::vector<TypeId> parameter_types;
        Columns columns;
        std::size_t bytes = 0;
    };
    struct Portal {
        PortalId id;
        PreparedId prepared;
        Columns columns;
        std::vector<Format> formats;
        bool ended = false;
        std::size_t bytes = 0;       // in all
        std::size_t rows_bytes = 0;  // of the rows that it was suspended with
    };

    struct Starting {
        bool ssl_asked = false;
        bool gss_asked = false;
    };
    struct Handshaking {};
    struct LookingUp {};
    struct Authenticating {
        ScramServer scram;
        bool first_done = false;
    };
    struct Opening {};
    struct Ready {};
    struct Skipping {};  // until Sync
    struct Preparing {
        std::string name;
        PreparedId id;
        std::size_t bytes;
    };
    struct Binding {
        std::string name;
        Portal portal;
    };
    struct Running {
        // Of the present statement. copy_in: rows come from the client; copied: all have come.
        enum class Phase : std::uint8_t { fresh, rows, copy, copy_in, copied };
        std::optional<std::string> portal;  // none: a text
        std::uint32_t rows_max = 0;
        std::size_t rows = 0;
        Phase phase = Phase::fresh;
        bool completed = false;  // one statement at least
        bool paused = false;
    };
    struct Settling {};  // a series is being ended
    struct Closed {};
    using State = std::variant<Starting, Handshaking, LookingUp, Authenticating, Opening, Ready,
                               Skipping, Preparing, Binding, Running, Settling, Closed>;

    void on(const connection::Received& event, Effects& effects);
    void on(const connection::Written& event, Effects& effects);
    void on(const connection::TlsStarted& event, Effects& effects);
    void on(const connection::Vanished& event, Effects& effects);
    void on(connection::Expelled event, Effects& effects);
    void on(const connection::CancelAsked& event, Effects& effects);
    void on(const connection::VerifierLookedUp& event, Effects& effects);
    void on(const connection::SessionOpened& event, Effects& effects);
    void on(connection::Prepared event, Effects& effects);
    void on(const connection::Bound& event, Effects& effects);
    void on(const connection::RowsBegan& event, Effects& effects);
    void on(connection::RowsCame event, Effects& effects);
    void on(const connection::CopyBegan& event, Effects& effects);
    void on(const connection::CopyCame& event, Effects& effects);
    void on(const connection::CopyInBegan& event, Effects& effects);
    void on(const connection::StatementCompleted& event, Effects& effects);
    void on(const connection::Ended& event, Effects& effects);
    void on(const connection::Suspended& event, Effects& effects);
    void on(connection::Failed event, Effects& effects);
    void on(const connection::Noticed& event, Effects& effects);
    void on(const connection::ParameterChanged& event, Effects& effects);

    // ---- start-up ----
    void take(const StartupMessage& startup, Effects& effects);
    void take(const SslRequest& request, Effects& effects);
    void take(const GssEncRequest& request, Effects& effects);
    void take(const CancelRequest& request, Effects& effects);
    void take(const OtherProtocol& request, Effects& effects);
    void negotiate(const StartupMessage& startup);
    // Why these parameters cannot be had; none if they can.
    [[nodiscard]] std::optional<Report> keep_parameters(const StartupMessage& startup);
    void authenticate(const Frame& frame, Effects& effects);
    void answer_scram(Authenticating& login, std::string_view body, Effects& effects);
    void let_in(Effects& effects);

    // ---- queries ----
    void take(Query query, Effects& effects);
    void take(Parse parse, Effects& effects);
    void take(const Bind& bind, Effects& effects);
    void take(const Describe& describe, Effects& effects);
    void take(const Execute& execute, Effects& effects);
    void take(const Close& close, Effects& effects);
    void take(const Flush& flush, Effects& effects);
    void take(const Sync& sync, Effects& effects);
    void take(const Terminate& terminate, Effects& effects);
    void take(const LoginResponse& response, Effects& effects);
    void take(CopyData data, Effects& effects);
    void take(const CopyDone& done, Effects& effects);
    void take(const CopyFail& fail, Effects& effects);
    void take(const FunctionCall& call, Effects& effects);

    // Takes what has come while it can be acted upon.
    void advance(Effects& effects);
    [[nodiscard]] bool takes_messages() const;
    [[nodiscard]] bool take_packet(Effects& effects);  // false: there is none yet
    [[nodiscard]] bool take_frame(Effects& effects);
    // Whether rows of a copy come from the client, and nothing else does.
    [[nodiscard]] bool copies_in() const;
    void end_copy(std::optional<std::string> failed, Effects& effects);
    void look_into(const Frame& frame, Effects& effects);
    void regulate(Effects& effects);

    void refuse(const Report& report);  // an extended message: skips until Sync
    void end_series(bool failed, Effects& effects);
    void become_ready(Effects& effects);
    void close_prepared(const std::string& name, Effects& effects);
    void close_portal(const std::string& name, Effects& effects);
    void close_portals_of(PreparedId prepared, Effects& effects);
    void describe_rows(const Columns& columns, const std::vector<Format>& formats);

    [[nodiscard]] bool awaits_runner() const;  // for something that can be interrupted
    [[nodiscard]] Running& running();
    void portal_ended(const std::string& name);
    void send_now(Effects& effects);
    void die(Report report, Effects& effects);
    void hang_up(Effects& effects);

    const ConnectionOptions options_;
    FrameReader reader_;
    State state_ = Starting{};
    bool encrypted_ = false;
    bool reading_ = true;
    bool has_session_ = false;
    connection::OpenSession session_;  // as the start-up message says
    std::string client_encoding_ = "UTF8";
    std::string application_name_;

    TransactionStatus status_ = TransactionStatus::idle;
    bool ran_ = false;  // a portal, since the last ReadyForQuery
    bool interrupted_ = false;
    std::map<std::string, Statement> prepared_;  // by the client's names
    std::map<std::string, Portal> portals_;
    PreparedId last_prepared_;
    PortalId last_portal_;

    std::size_t prepared_bytes_ = 0;
    std::size_t portal_bytes_ = 0;
    std::size_t message_bytes_ = 0;  // of the last one that was taken

    std::string out_;         // of this step
    std::size_t unsent_ = 0;  // given to the transport and not written
};

}  // namespace baton::pgwire
