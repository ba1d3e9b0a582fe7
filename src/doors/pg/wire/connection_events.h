// The events of a Connection and its effects. The rules are in connection.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "doors/pg/wire/messages.h"
#include "doors/pg/wire/replies.h"
#include "doors/pg/wire/scram.h"
#include "doors/pg/wire/values.h"

namespace baton::pgwire {

// Counted by the connection and never used twice, unlike the client's names.
using PreparedId = Id<struct PreparedTag>;
using PortalId = Id<struct PortalTag>;

namespace connection {

// ---- events -------------------------------------------------------------------------------------

// Of the transport:
struct Received {
    std::string bytes;
};
struct Written {  // so many bytes of Send
    std::size_t bytes = 0;
};
struct TlsStarted {};  // as StartTls wanted, or before anything was received
struct Vanished {};    // the client closed, or cannot be reached

// Of the server:
struct Expelled {  // it shuts down, or the client was silent for too long
    Report report;
};
struct CancelAsked {};  // a caller that knows the key cancels what runs

// Answers to LookUpVerifier, OpenSession, Prepare and BindPortal, unless that is Failed:
struct VerifierLookedUp {
    std::optional<ScramVerifier> verifier;  // none: there is no such user, or one without password
};
struct SessionOpened {
    bool stands_by = false;  // it follows another that leads
};
struct Prepared {
    std::vector<TypeId> parameter_types;         // of all parameters that the text has
    std::optional<std::vector<Column>> columns;  // none: it gives no rows
};
struct Bound {};

// Of what RunSimple or RunPortal runs. A text gives for each of its statements, in order: the rows'
// columns and rows, or a copy, or nothing; then that it completed. A portal gives the same for its
// one statement, but not the columns, which are known.
struct RowsBegan {
    std::vector<Column> columns;
};
struct RowsCame {
    EncodedRows rows;
};
struct CopyBegan {
    std::uint16_t columns = 0;
    Format format = Format::text;  // CSV is text, too
};
struct CopyCame {
    std::vector<std::string> rows;  // with their line ends
};
struct CopyInBegan {  // the client is to send rows, which come as CopyGave
    std::uint16_t columns = 0;
    Format format = Format::text;
};
struct StatementCompleted {
    std::string tag;  // "SELECT 5"
};

// The last event of RunSimple, RunPortal or EndSeries. A text or portal of which nothing completed
// was empty.
struct Ended {
    TransactionStatus status = TransactionStatus::idle;
};
struct Suspended {  // a portal has given as many rows as were asked for, and may have more
    TransactionStatus status = TransactionStatus::idle;
    std::size_t bytes = 0;  // of rows that it keeps
};
// Instead of any answer. The statement or portal to be made then does not exist.
struct Failed {
    Report report;
    TransactionStatus status = TransactionStatus::idle;
};

// At any time while there is a session:
struct Noticed {
    Report report;
};
struct ParameterChanged {  // one that clients see
    std::string name;
    std::string value;
};

using Event = std::variant<Received, Written, TlsStarted, Vanished, Expelled, CancelAsked,
                           VerifierLookedUp, SessionOpened, Prepared, Bound, RowsBegan, RowsCame,
                           CopyBegan, CopyCame, CopyInBegan, StatementCompleted, Ended, Suspended,
                           Failed, Noticed, ParameterChanged>;

// ---- effects ------------------------------------------------------------------------------------

// To the transport:
struct Send {
    std::string bytes;
    friend bool operator==(const Send&, const Send&) = default;
};
struct StartTls {  // after earlier output; answered by TlsStarted or Vanished
    friend bool operator==(const StartTls&, const StartTls&) = default;
};
struct HangUp {  // after all earlier output; nothing follows, and events no longer matter
    friend bool operator==(const HangUp&, const HangUp&) = default;
};
struct PauseReading {  // until ResumeReading; at first there is reading
    friend bool operator==(const PauseReading&, const PauseReading&) = default;
};
struct ResumeReading {
    friend bool operator==(const ResumeReading&, const ResumeReading&) = default;
};

// To the server:
struct Cancel {  // CancelAsked for the connection that has this process and key, if there is one
    std::uint32_t process = 0;
    std::uint32_t key = 0;
    friend bool operator==(const Cancel&, const Cancel&) = default;
};
struct LookUpVerifier {
    std::string user;
    friend bool operator==(const LookUpVerifier&, const LookUpVerifier&) = default;
};
struct LoginRefused {  // news: a client did not prove to be this user
    std::string user;
    friend bool operator==(const LoginRefused&, const LoginRefused&) = default;
};

// To the runner of the session:
struct OpenSession {
    std::string user;
    std::string database;
    std::vector<std::pair<std::string, std::string>> parameters;  // the others, as given
    friend bool operator==(const OpenSession&, const OpenSession&) = default;
};
struct EndSession {  // rolls back what is open; everything that was prepared or bound is gone
    friend bool operator==(const EndSession&, const EndSession&) = default;
};
struct RunSimple {
    std::string text;
    friend bool operator==(const RunSimple&, const RunSimple&) = default;
};
struct Prepare {
    PreparedId prepared;
    std::string text;
    std::vector<TypeId> parameter_types;  // those that the client knows; 0 if it does not
    friend bool operator==(const Prepare&, const Prepare&) = default;
};
struct BindPortal {
    PortalId portal;
    PreparedId prepared;
    std::vector<Value> parameters;
    std::vector<Format> formats;  // one for each column
    friend bool operator==(const BindPortal&, const BindPortal&) = default;
};
struct RunPortal {  // from its start, or from where it was suspended
    PortalId portal;
    std::uint32_t rows_max = 0;  // 0: all
    friend bool operator==(const RunPortal&, const RunPortal&) = default;
};
// After CopyInBegan, until one of the two below or the answer. They need none by themselves.
struct GiveCopied {
    std::string bytes;
    friend bool operator==(const GiveCopied&, const GiveCopied&) = default;
};
struct EndCopied {                      // answered as the statement is
    std::optional<std::string> failed;  // why the client gives up; none: that was all
    friend bool operator==(const EndCopied&, const EndCopied&) = default;
};
// These two need no answer. A portal may outlive its statement, if that is the unnamed one.
struct ClosePrepared {
    PreparedId prepared;
    friend bool operator==(const ClosePrepared&, const ClosePrepared&) = default;
};
struct ClosePortal {
    PortalId portal;
    friend bool operator==(const ClosePortal&, const ClosePortal&) = default;
};
// The client's Sync: statements since the last one, outside of a transaction of its own, are kept,
// or undone if `failed`; a transaction of its own has then failed.
struct EndSeries {
    bool failed = false;
    friend bool operator==(const EndSeries&, const EndSeries&) = default;
};
// The statement that runs should end soon. It is answered as usual: by Failed with 57014 if it was
// in time.
struct Interrupt {
    friend bool operator==(const Interrupt&, const Interrupt&) = default;
};
// No more rows until ResumeRows, or until the answer. Those that are under way are taken.
struct PauseRows {
    friend bool operator==(const PauseRows&, const PauseRows&) = default;
};
struct ResumeRows {
    friend bool operator==(const ResumeRows&, const ResumeRows&) = default;
};

using Effect = std::variant<Send, StartTls, HangUp, PauseReading, ResumeReading, Cancel,
                            LookUpVerifier, LoginRefused, OpenSession, EndSession, RunSimple,
                            Prepare, BindPortal, RunPortal, GiveCopied, EndCopied, ClosePrepared,
                            ClosePortal, EndSeries, Interrupt, PauseRows, ResumeRows>;

// For tests: sent bytes appear as the types of their messages.
[[nodiscard]] std::string to_string(const Effect& effect);

}  // namespace connection

}  // namespace baton::pgwire
