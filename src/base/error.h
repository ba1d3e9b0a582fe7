// Error names the attempt, its object, the reason of the failure and the way out, under a number
// that never changes.
//
// The numbers are one list for the whole of Baton (error.cc) and a contract with every client: a
// number is never reused and never changes its meaning. Code acts on the `Reaction` of an error,
// never on its text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

enum class ErrorCode : std::uint16_t {
    // 1xxx: configuration
    invalid_configuration = 1000,
    missing_configuration = 1001,
    unreadable_configuration = 1002,
    // 2xxx: the statement
    syntax = 2000,
    not_supported = 2001,
    arity = 2002,
    schema = 2003,
    unknown_field = 2004,
    too_large = 2005,
    type_mismatch = 2006,
    type_inference = 2007,
    transaction_state = 2010,
    unknown_source = 2030,
    source_exists = 2031,
    source_in_use = 2032,
    unknown_sink = 2033,
    sink_exists = 2034,
    sink_in_use = 2035,
    unknown_query = 2040,
    query_exists = 2041,
    query_state = 2042,
    unknown_task_list = 2050,
    task_list_exists = 2051,
    unknown_lock = 2060,
    lock_held = 2061,
    lock_lost = 2062,
    lock_not_active = 2063,
    unknown_table = 2070,
    table_exists = 2071,
    table_in_use = 2072,
    unknown_function = 2080,
    function_refused = 2081,
    ambiguous_name = 2082,
    invalid_question = 2083,
    unknown_cursor = 2090,
    cursor_exists = 2091,
    unknown_sink_type = 2106,
    unknown_source_type = 2107,
    unknown_sink_format = 2108,
    unknown_source_format = 2109,
    placement = 2300,
    invalid_address = 2301,
    unknown_worker = 2302,
    invalid_topology = 2303,
    worker_unreachable = 2304,
    worker_exists = 2305,
    worker_in_use = 2306,
    // 3xxx: run time
    arithmetic = 3013,
    late_row = 3014,
    out_of_memory = 3015,
    cannot_convert = 3016,
    not_null_violation = 3017,
    // 4xxx: data of sources and sinks
    cannot_open = 4000,
    cannot_read = 4001,
    cannot_write = 4002,
    cannot_format = 4003,
    cannot_connect = 4004,
    damaged_file = 4005,
    store_unavailable = 4010,
    store_refused = 4011,
    store_unfit = 4012,
    store_full = 4013,
    damaged_table = 4020,
    table_not_supported = 4021,
    // 5xxx: the API
    slow_down = 5000,
    conflict = 5001,
    cancelled = 5002,
    not_permitted = 5003,
    not_authenticated = 5004,
    wait_timed_out = 5006,
    malformed_message = 5010,
    // 6xxx: the catalog
    catalog_unavailable = 6000,
    write_rejected = 6001,
    catalog_full = 6002,
    catalog_corrupt = 6003,
    catalog_version = 6004,
    catalog_in_use = 6005,
    unknown_outcome = 6006,
    fenced = 6007,
    unique_violation = 6010,
    foreign_key_violation = 6011,
    // 9xxx: a defect of ours
    defect = 9000,
};

// A reaction exists only where some caller behaves differently.
enum class Reaction : std::uint8_t {
    invalid,          // the request can never succeed as asked
    not_found,        // the named object does not exist
    conflict,         // someone else got there first: read again, then decide
    unavailable,      // nothing happened: try again later
    unknown_outcome,  // it may or may not have happened: read before trying again
};

struct ErrorEntry {
    ErrorCode code;
    Reaction reaction;
    std::string_view name;     // "unknown_source"
    std::string_view meaning;  // one line for the manual
};

// Every error Baton can give, in the order of the numbers.
[[nodiscard]] std::span<const ErrorEntry> error_list();
[[nodiscard]] const ErrorEntry& entry_of(ErrorCode code);
[[nodiscard]] constexpr unsigned number(ErrorCode code) {
    return static_cast<unsigned>(code);
}
// None: a number of another version, or of nothing.
[[nodiscard]] std::optional<ErrorCode> error_numbered(std::uint64_t number);

// A place in the text of a statement; line and column count from 1, in bytes. Two trees that differ
// only in where they were written are equal, so positions always compare equal.
struct Position {
    std::uint32_t offset = 0;
    std::uint32_t line = 1;
    std::uint32_t column = 1;

    friend constexpr bool operator==(const Position&, const Position&) { return true; }
};

struct Error {
    ErrorCode code = ErrorCode::defect;
    std::string message;         // lower case, no full stop, names in quotes
    std::optional<Position> at;  // where in the statement
    std::string hint;            // what to do: expected words, the nearest known name
    std::vector<std::string>
        related;  // the entities that stand in the way, e.g. the queries in use

    [[nodiscard]] Reaction reaction() const { return entry_of(code).reaction; }
    friend bool operator==(const Error&, const Error&) = default;
};

// "error 2030 at 1:15: unknown source "ORDRES"; did you mean "ORDERS"?"
[[nodiscard]] std::string to_string(const Error& error);

}  // namespace baton
