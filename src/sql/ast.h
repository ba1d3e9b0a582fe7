// The tree of a statement: what was written, typed, with positions, before any name is resolved.
//
// Names are already folded: an unquoted identifier is in upper case, a quoted one as written.
// Trees compare by content; positions never count (see Position). Trees are plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "model/schema.h"
#include "model/states.h"
#include "model/table.h"
#include "sql/ast_queries.h"

namespace baton::sql {

struct CreateLogicalSource {
    bool if_not_exists = false;
    std::string name;
    Schema schema;

    friend bool operator==(const CreateLogicalSource&, const CreateLogicalSource&) = default;
};

struct CreatePhysicalSource {
    std::string logical;
    std::string type;
    std::vector<Setting> settings;

    friend bool operator==(const CreatePhysicalSource&, const CreatePhysicalSource&) = default;
};

struct CreateSink {
    bool if_not_exists = false;
    std::string name;
    Schema schema;
    std::string type;
    std::vector<Setting> settings;

    friend bool operator==(const CreateSink&, const CreateSink&) = default;
};

struct CreateWorker {
    std::string address;  // as written; "host:port"
    std::vector<Setting> settings;

    friend bool operator==(const CreateWorker&, const CreateWorker&) = default;
};

// CREATE TASK LIST [IF NOT EXISTS] name PARTITIONS n
struct CreateTaskList {
    bool if_not_exists = false;
    std::string name;
    std::uint64_t partitions = 0;

    friend bool operator==(const CreateTaskList&, const CreateTaskList&) = default;
};

// Text that trees carry along: like a Position, it never counts.
struct Written {
    std::string text;

    friend bool operator==(const Written&, const Written&) { return true; }
};

// CREATE TABLE [IF NOT EXISTS] name ( col TYPE [NOT NULL], .. ) [SET (..)]
// CREATE TABLE [IF NOT EXISTS] name TYPE type [SET (..)]
// CREATE TABLE [IF NOT EXISTS] name [SET (..)] AS question
struct CreateTable {
    bool if_not_exists = false;
    std::string name;
    SqlColumns columns;
    std::optional<std::string> type;  // as written
    std::vector<Setting> settings;
    std::optional<std::string> question;

    friend bool operator==(const CreateTable&, const CreateTable&) = default;
};

// INSERT INTO table [(cols)] [SET (..)] { VALUES .. | question }
struct Insert {
    std::string table;
    std::vector<std::string> columns;  // none: all, in the order of the table
    std::vector<Setting> settings;
    // Rows of constants, each as long as the first; or a question.
    std::variant<std::vector<std::vector<Literal>>, std::string> source;

    friend bool operator==(const Insert&, const Insert&) = default;
};

struct Vacuum {
    std::string table;

    friend bool operator==(const Vacuum&, const Vacuum&) = default;
};

// CREATE QUERY name [SET (..)] AS SELECT .. INTO sink, or SELECT .. INTO sink [SET (..)].
struct CreateQuery {
    std::optional<std::string> name;
    std::vector<Setting> settings;
    Query query;
    SinkTarget sink;

    friend bool operator==(const CreateQuery&, const CreateQuery&) = default;
};

// A SELECT without INTO: its rows go to the client that asks. Over a view of schema BATON they are
// those that are there, over streams they go on coming.
struct SelectOnce {
    Query query;
    std::optional<std::uint64_t> limit;  // 1 or more
    Written written;                     // it may be a question, too: all depends on its relations

    friend bool operator==(const SelectOnce&, const SelectOnce&) = default;
};

// A SELECT, WITH or VALUES beyond the grammar of streams: in the SQL of questions, which the
// question engine parses.
struct Question {
    std::string text;
    Error otherwise;  // why the grammar of streams does not take it

    friend bool operator==(const Question& a, const Question& b) { return a.text == b.text; }
};

// Coordinators send its numbers to each other: a kind that is added comes last.
enum class EntityKind : std::uint8_t {
    logical_source,
    physical_source,
    sink,
    worker,
    query,
    task_list,
    table,
};

// `attr = const`
struct AttributeIs {
    std::string attribute;
    Literal value;

    friend bool operator==(const AttributeIs&, const AttributeIs&) = default;
};

// A name ('quoted', "quoted" or plain), a number, or WHERE attr = const.
using Target = std::variant<std::string, std::uint64_t, AttributeIs>;

struct Drop {
    EntityKind kind = EntityKind::query;
    bool if_exists = false;
    Target target;
    std::optional<StopMode> mode;  // queries only

    friend bool operator==(const Drop&, const Drop&) = default;
};

struct StopQuery {
    Target target;  // never AttributeIs
    std::optional<StopMode> mode;

    friend bool operator==(const StopQuery&, const StopQuery&) = default;
};

struct DrainWorker {
    std::string name;

    friend bool operator==(const DrainWorker&, const DrainWorker&) = default;
};

struct ResumeWorker {
    std::string name;

    friend bool operator==(const ResumeWorker&, const ResumeWorker&) = default;
};

enum class OutputFormat : std::uint8_t { text, json };

enum class ShowWhat : std::uint8_t {
    queries,
    fragments,
    workers,
    links,
    logical_sources,
    physical_sources,
    sinks,
    statements,
    counters,
    task_lists,
    partitions,
    locks,
    tables,
    segments,  // the objects of a table, or of all
    version,
    source_types,  // SHOW SOURCE TYPES: the descriptors
    sink_types,    // SHOW SINK TYPES
    format_types,  // SHOW FORMAT TYPES
};

struct Show {
    ShowWhat what = ShowWhat::queries;
    std::optional<std::string> for_name;  // physical sources and segments only
    std::optional<Expr> where;
    std::optional<OutputFormat> format;

    friend bool operator==(const Show&, const Show&) = default;
};

enum class ExplainLevel : std::uint8_t { logical, optimized, distributed };
struct Explain {
    std::vector<ExplainLevel> levels;  // in the order written, none twice; none: all
    std::optional<OutputFormat> format;
    Query query;
    std::optional<SinkTarget> sink;
    std::vector<Setting> settings;

    friend bool operator==(const Explain&, const Explain&) = default;
};

// WATCH { SHOW .. | SELECT cols FROM baton.view [WHERE ..] } [SINCE REVISION n]
struct Watch {
    std::variant<Show, Query> source;
    std::optional<std::uint64_t> since;

    friend bool operator==(const Watch&, const Watch&) = default;
};

struct Begin {
    friend bool operator==(Begin, Begin) = default;
};
struct Commit {
    friend bool operator==(Commit, Commit) = default;
};
struct Rollback {
    friend bool operator==(Rollback, Rollback) = default;
};

enum class CancelWhat : std::uint8_t { query, connection };
struct Cancel {
    CancelWhat what = CancelWhat::query;
    Target target;  // never AttributeIs

    friend bool operator==(const Cancel&, const Cancel&) = default;
};

struct WaitForQuery {
    Target target;  // never AttributeIs
    std::optional<QueryState> state;
    std::optional<TimeSpan> timeout;

    friend bool operator==(const WaitForQuery&, const WaitForQuery&) = default;
};

// Statements of the lock service: a client that has a lock is known by its owner and epoch.
namespace lock {

// ACQUIRE LOCK name OWNER 'text' TTL 30 SEC
struct Acquire {
    std::string owner;
    TimeSpan ttl;

    friend bool operator==(const Acquire&, const Acquire&) = default;
};
// RENEW LOCK name OWNER 'text' EPOCH 7 TTL 30 SEC
struct Renew {
    std::string owner;
    std::uint64_t epoch = 0;
    TimeSpan ttl;

    friend bool operator==(const Renew&, const Renew&) = default;
};
// RELEASE LOCK name OWNER 'text' EPOCH 7
struct Release {
    std::string owner;
    std::uint64_t epoch = 0;

    friend bool operator==(const Release&, const Release&) = default;
};
struct Enable {
    friend bool operator==(Enable, Enable) = default;
};
struct Disable {
    friend bool operator==(Disable, Disable) = default;
};
struct Drop {
    friend bool operator==(Drop, Drop) = default;
};

}  // namespace lock

struct LockStatement {
    std::string name;
    std::variant<lock::Acquire, lock::Renew, lock::Release, lock::Enable, lock::Disable, lock::Drop>
        act;

    friend bool operator==(const LockStatement&, const LockStatement&) = default;
};

struct Statement {
    std::variant<CreateLogicalSource, CreatePhysicalSource, CreateSink, CreateWorker,
                 CreateTaskList, CreateTable, CreateQuery, SelectOnce, Question, Insert, Vacuum,
                 Drop, StopQuery, DrainWorker, ResumeWorker, Show, Explain, Watch, Begin, Commit,
                 Rollback, Cancel, WaitForQuery, LockStatement>
        node;
    Position at;

    friend bool operator==(const Statement&, const Statement&) = default;
};

}  // namespace baton::sql
