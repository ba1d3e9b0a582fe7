// A Plan is a query as operators: a tree whose root is the sink and whose leaves are sources.
//
//   logical      what the query means, as it was written; its sources are logical sources
//   optimised    the same rows with less work
//   distributed  one tree per worker: cut where data passes from one worker to another, with a
//                Send as the root above the cut and a Receive as the leaf below it; its sources are
//                physical ones
//
// Every node knows the schema of the rows it gives, so that the engine infers nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "model/config.h"
#include "model/expression.h"
#include "model/schema.h"

namespace baton {

struct PlanNode;

// ---- leaves -------------------------------------------------------------------------------------

// All physical sources of a logical source. The node's schema names the columns that are wanted, in
// the order of the source's own.
struct LogicalScan {
    std::string source;

    friend bool operator==(const LogicalScan&, const LogicalScan&) = default;
};

// One physical source, or an inline one (no id), on a worker.
struct SourceScan {
    std::optional<PhysicalSourceId> id;
    std::string logical;  // empty: inline
    std::string worker;
    std::string type;
    Config source;
    Config format;
    // The columns that are wanted, in the order of the source's own schema. The source parses that
    // schema, and gives the node's.
    Schema parsed;
    std::vector<std::size_t> wanted;

    friend bool operator==(const SourceScan&, const SourceScan&) = default;
};

// Rows that arrive through an exchange; ends when every sender has ended.
struct Receive {
    std::uint64_t exchange = 0;        // unique within the query
    std::vector<std::string> senders;  // workers, sorted

    friend bool operator==(const Receive&, const Receive&) = default;
};

// ---- one input ----------------------------------------------------------------------------------

struct Filter {
    Expression predicate;  // BOOLEAN; keeps what is TRUE

    friend bool operator==(const Filter&, const Filter&) = default;
};

// One output column per expression; their names are in the schema of the node.
struct Project {
    std::vector<Expression> expressions;

    friend bool operator==(const Project&, const Project&) = default;
};

// In milliseconds. Aligned to 0; tumbling if advance equals size. Never 0.
struct WindowSpec {
    std::uint64_t size = 0;
    std::uint64_t advance = 0;

    friend bool operator==(const WindowSpec&, const WindowSpec&) = default;
};

enum class AggregateFunction : std::uint8_t {
    count_all,  // no argument
    count,
    count_distinct,
    sum,
    min,
    max,
    avg,
    median,
    stddev,
    variance,
    first,
    last,
};

struct Aggregate {
    AggregateFunction function = AggregateFunction::count_all;
    std::vector<Expression> argument;  // one, or none for count_all
    DataType type = DataType::uint64;  // of the result
    bool nullable = false;

    friend bool operator==(const Aggregate&, const Aggregate&) = default;
};

enum class AggregateStage : std::uint8_t {
    whole,  // rows in, results out
    // Rows in, states out, by window and key. It may give several states for one window and key,
    // and nothing is too late for it: what is, only the final can tell, which knows all sources.
    partial,
    final,  // states in, results out
};

// Output columns: START, END (UINT64, ms), the keys, then one per aggregate. A partial gives START,
// END, the keys, then the columns of each state in the order of `states_of` (aggregate_state.h); a
// final's keys and states are its input columns in that order: its keys are the columns from 2 on,
// and its aggregates have no arguments.
struct WindowAggregate {
    AggregateStage stage = AggregateStage::whole;
    WindowSpec window;
    // The column with the event time, in ms. None: the time of arrival; a final has none, the
    // windows being given.
    std::optional<std::size_t> time;
    std::vector<Expression> keys;
    std::vector<Aggregate> aggregates;

    friend bool operator==(const WindowAggregate&, const WindowAggregate&) = default;
};

// Where data leaves for another worker; the root of its fragment. Same schema as its input.
struct Send {
    std::uint64_t exchange = 0;
    std::string to;       // worker
    std::string address;  // where it takes data, "host:port"; empty: it is embedded

    friend bool operator==(const Send&, const Send&) = default;
};

// A sink that no descriptor knows, so that no statement can name it: keeps the rows for the client
// that asked, which knows the token.
inline constexpr const char* kResultsSink = "Results";
inline constexpr const char* kResultsToken = "TOKEN";

// Same schema as its input, which equals that of the sink but for names.
struct SinkWrite {
    std::optional<std::string> name;  // none: inline
    std::string worker;
    std::string type;
    Config sink;
    Config format;

    friend bool operator==(const SinkWrite&, const SinkWrite&) = default;
};

// ---- several inputs -----------------------------------------------------------------------------

enum class JoinSides : std::uint8_t { inner, left, right, full };

// Pairs of rows of the same window. Output columns: START, END (UINT64, ms), left, right.
struct WindowJoin {
    JoinSides sides = JoinSides::inner;
    Expression predicate;  // over the left columns, then the right ones
    WindowSpec window;
    std::optional<std::size_t> left_time;  // columns of the inputs; none: the time of arrival
    std::optional<std::size_t> right_time;

    friend bool operator==(const WindowJoin&, const WindowJoin&) = default;
};

// A bag: all rows of all inputs, whose schemas have the same types.
struct UnionAll {
    friend bool operator==(const UnionAll&, const UnionAll&) = default;
};

using Operator = std::variant<LogicalScan, SourceScan, Receive, Filter, Project, WindowAggregate,
                              WindowJoin, UnionAll, Send, SinkWrite>;

struct PlanNode {
    Operator op;
    std::vector<PlanNode> inputs;
    Schema schema;  // of the rows it gives

    friend bool operator==(const PlanNode&, const PlanNode&) = default;
};

// One worker's part of one query: a tree for each stream that leaves it, whose roots are Sends, or
// the sink. A worker that only relays data has Receives right below its Sends.
struct FragmentPlan {
    std::string worker;
    std::vector<PlanNode> roots;  // one or more
    Config settings;              // QUERY.*

    friend bool operator==(const FragmentPlan&, const FragmentPlan&) = default;
};

}  // namespace baton
