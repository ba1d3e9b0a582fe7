// The text of a client, taken apart into statements, each with its answerer: a session of ours, the
// catalog that PostgreSQL's clients ask about, or the runner itself if the statement belongs to
// PostgreSQL's dialect and not to ours.
//
// Input:   any text. Output: its statements in order, empty ones dropped.
// Pure: nothing is run, and nothing is known of sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "doors/pg/catalog/tokens.h"
#include "doors/pg/wire/replies.h"

namespace baton::pgserver {

struct CopyFormat {
    bool csv = false;
    bool header = false;
    char delimiter = '\t';
    std::string null = "\\N";
    char quote = '"';
    char escape = '"';
    bool binary = false;
    friend bool operator==(const CopyFormat&, const CopyFormat&) = default;
};

struct ForSession {
    bool watches = false;  // it begins with WATCH
    friend bool operator==(const ForSession&, const ForSession&) = default;
};
struct ForCatalog {           // a SELECT over pg_catalog or information_schema, or over nothing
    bool calculates = false;  // over nothing, and more than values: a question, if there are any
    friend bool operator==(const ForCatalog&, const ForCatalog&) = default;
};
struct EndTransaction {  // COMMIT or ROLLBACK, which PostgreSQL also takes when nothing is open
    bool commit = true;
    friend bool operator==(const EndTransaction&, const EndTransaction&) = default;
};
struct SetParameter {
    std::string name;                  // in lower case
    std::optional<std::string> value;  // none: its default
    std::string tag;                   // "SET" or "RESET"
    friend bool operator==(const SetParameter&, const SetParameter&) = default;
};
struct ShowParameter {
    std::string name;  // in lower case; "all"
    friend bool operator==(const ShowParameter&, const ShowParameter&) = default;
};
struct Forget {  // everything that was set; or nothing, where there is nothing to do
    std::string tag;
    bool parameters = false;
    friend bool operator==(const Forget&, const Forget&) = default;
};
struct CopyIn {  // the statement's text is an INSERT of one row, which others take the place of
    CopyFormat format;
    friend bool operator==(const CopyIn&, const CopyIn&) = default;
};
struct DeclareCursor {  // for the statement's text
    std::string name;
    bool holds = false;                 // WITH HOLD
    std::optional<ForCatalog> catalog;  // which answers that; none: the session
    friend bool operator==(const DeclareCursor&, const DeclareCursor&) = default;
};
struct FetchCursor {
    std::string name;
    std::size_t rows = 1;  // 0: all
    bool moves = false;    // MOVE
    friend bool operator==(const FetchCursor&, const FetchCursor&) = default;
};
struct CloseCursor {
    std::optional<std::string> name;  // none: all
    friend bool operator==(const CloseCursor&, const CloseCursor&) = default;
};
struct Refuse {
    pgwire::Report report;
    friend bool operator==(const Refuse&, const Refuse&) = default;
};
using Answerer = std::variant<ForSession, ForCatalog, EndTransaction, SetParameter, ShowParameter,
                              Forget, CopyIn, DeclareCursor, FetchCursor, CloseCursor, Refuse>;

struct Statement {
    std::string text;    // for its answerer
    std::size_t at = 0;  // added to a position in `text` it gives the position in the given text
    Answerer answerer;
    std::optional<CopyFormat> copy;  // its rows are wanted as a copy
};

[[nodiscard]] std::vector<Statement> statements_of(std::string_view text);

// The highest $n.
[[nodiscard]] std::size_t parameter_count(std::string_view text);

}  // namespace baton::pgserver
