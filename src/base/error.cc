#include "base/error.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace baton {

namespace {

using enum ErrorCode;

constexpr ErrorEntry entry(ErrorCode code, Reaction reaction, std::string_view name,
                           std::string_view meaning) {
    return {.code = code, .reaction = reaction, .name = name, .meaning = meaning};
}

constexpr std::array kErrors = {
    entry(invalid_configuration, Reaction::invalid, "invalid_configuration",
          "a configuration key is unknown, given twice, or its value does not fit"),
    entry(missing_configuration, Reaction::invalid, "missing_configuration",
          "a configuration key that is needed was not given"),
    entry(unreadable_configuration, Reaction::invalid, "unreadable_configuration",
          "a configuration file cannot be read or is not of the known form"),
    entry(syntax, Reaction::invalid, "syntax", "the statement cannot be read"),
    entry(not_supported, Reaction::invalid, "not_supported",
          "the clause is known but not supported"),
    entry(arity, Reaction::invalid, "arity", "a function or list has the wrong number of parts"),
    entry(schema, Reaction::invalid, "schema",
          "a schema is empty, repeats a name, or does not fit"),
    entry(unknown_field, Reaction::not_found, "unknown_field",
          "a field of that name does not exist"),
    entry(too_large, Reaction::invalid, "too_large",
          "the statement, or a list or name in it, is too large"),
    entry(type_mismatch, Reaction::invalid, "type_mismatch", "another type is needed here"),
    entry(type_inference, Reaction::invalid, "type_inference", "no type fits this expression"),
    entry(transaction_state, Reaction::invalid, "transaction_state",
          "the statement does not fit the state of the transaction"),
    entry(unknown_source, Reaction::not_found, "unknown_source",
          "a source of that name does not exist"),
    entry(source_exists, Reaction::invalid, "source_exists", "such a source is already there"),
    entry(source_in_use, Reaction::invalid, "source_in_use", "the source is still referred to"),
    entry(unknown_sink, Reaction::not_found, "unknown_sink", "a sink of that name does not exist"),
    entry(sink_exists, Reaction::invalid, "sink_exists", "a sink of that name is already there"),
    entry(sink_in_use, Reaction::invalid, "sink_in_use", "the sink is still used by queries"),
    entry(unknown_query, Reaction::not_found, "unknown_query",
          "a query of that name does not exist"),
    entry(query_exists, Reaction::invalid, "query_exists", "a query of that name is already there"),
    entry(query_state, Reaction::invalid, "query_state", "the query's state does not allow this"),
    entry(unknown_task_list, Reaction::not_found, "unknown_task_list",
          "no task list has this name"),
    entry(task_list_exists, Reaction::invalid, "task_list_exists",
          "a task list with this name exists"),
    entry(unknown_lock, Reaction::not_found, "unknown_lock", "no lock has this name"),
    entry(lock_held, Reaction::conflict, "lock_held", "another owner holds the lock for a time"),
    entry(lock_lost, Reaction::invalid, "lock_lost",
          "the lock is not held by this owner under this epoch, and never will be again"),
    entry(lock_not_active, Reaction::invalid, "lock_not_active",
          "the lock is disabled, or to be removed: it can be neither taken nor renewed"),
    entry(unknown_table, Reaction::not_found, "unknown_table",
          "a table of that name does not exist"),
    entry(table_exists, Reaction::invalid, "table_exists", "a table of that name is already there"),
    entry(table_in_use, Reaction::invalid, "table_in_use", "the table is still used by queries"),
    entry(unknown_function, Reaction::not_found, "unknown_function",
          "a function of that name, or with these arguments, does not exist"),
    entry(function_refused, Reaction::invalid, "function_refused",
          "the function or relation reaches beyond the named tables and views"),
    entry(ambiguous_name, Reaction::invalid, "ambiguous_name",
          "a name fits more than one relation or column"),
    entry(invalid_question, Reaction::invalid, "invalid_question",
          "the parts of the question do not fit together"),
    entry(unknown_cursor, Reaction::not_found, "unknown_cursor",
          "a cursor of that name does not exist"),
    entry(cursor_exists, Reaction::invalid, "cursor_exists",
          "a cursor of that name is already there"),
    entry(unknown_sink_type, Reaction::not_found, "unknown_sink_type",
          "no sink type has that name"),
    entry(unknown_source_type, Reaction::not_found, "unknown_source_type",
          "no source type has that name"),
    entry(unknown_sink_format, Reaction::not_found, "unknown_sink_format",
          "no output format has that name"),
    entry(unknown_source_format, Reaction::not_found, "unknown_source_format",
          "no input format has that name"),
    entry(placement, Reaction::invalid, "placement", "no workers can run the query as things are"),
    entry(invalid_address, Reaction::invalid, "invalid_address", "not a host and port"),
    entry(unknown_worker, Reaction::not_found, "unknown_worker",
          "a worker of that name does not exist"),
    entry(invalid_topology, Reaction::invalid, "invalid_topology", "the links would form a cycle"),
    entry(worker_unreachable, Reaction::unavailable, "worker_unreachable",
          "the worker does not answer"),
    entry(worker_exists, Reaction::invalid, "worker_exists",
          "a worker of that name or address is there"),
    entry(worker_in_use, Reaction::invalid, "worker_in_use", "the worker is still referred to"),
    entry(arithmetic, Reaction::invalid, "arithmetic", "division by zero or a result out of range"),
    entry(late_row, Reaction::invalid, "late_row", "a row came too late for its window"),
    entry(out_of_memory, Reaction::invalid, "out_of_memory",
          "a query holds more rows than its worker may keep in memory"),
    entry(cannot_convert, Reaction::invalid, "cannot_convert",
          "a value cannot be converted to the type that is needed"),
    entry(not_null_violation, Reaction::invalid, "not_null_violation",
          "a column that must have a value has none"),
    entry(cannot_open, Reaction::invalid, "cannot_open",
          "the file of a source or sink cannot be opened"),
    entry(cannot_read, Reaction::unavailable, "cannot_read", "a source cannot be read any further"),
    entry(cannot_write, Reaction::unavailable, "cannot_write",
          "a sink cannot be written any further"),
    entry(cannot_format, Reaction::invalid, "cannot_format", "a row does not fit its format"),
    entry(cannot_connect, Reaction::unavailable, "cannot_connect",
          "the server or broker of a source or sink cannot be reached"),
    entry(damaged_file, Reaction::invalid, "damaged_file",
          "a file no longer has the bytes that were written to it"),
    entry(store_unavailable, Reaction::unavailable, "store_unavailable",
          "the object store does not answer"),
    entry(store_refused, Reaction::invalid, "store_refused",
          "the object store refuses the credentials or the request"),
    entry(store_unfit, Reaction::invalid, "store_unfit",
          "the object store does not keep a promise that tables need"),
    entry(store_full, Reaction::unavailable, "store_full", "no space is left in the object store"),
    entry(damaged_table, Reaction::invalid, "damaged_table",
          "the log or an object of a table is damaged or missing"),
    entry(table_not_supported, Reaction::invalid, "table_not_supported",
          "the table uses a feature that this version does not know"),
    entry(slow_down, Reaction::unavailable, "slow_down",
          "too many requests are waiting: try again later"),
    entry(ErrorCode::conflict, Reaction::conflict, "conflict",
          "the data that the request was based on has changed: run it again"),
    entry(cancelled, Reaction::invalid, "cancelled", "the request was cancelled"),
    entry(not_permitted, Reaction::invalid, "not_permitted",
          "the role of the user, or the worker that would do it, does not allow it"),
    entry(not_authenticated, Reaction::invalid, "not_authenticated",
          "the client has not proved its identity"),
    entry(wait_timed_out, Reaction::unavailable, "wait_timed_out",
          "the awaited state did not come in time, or no longer can"),
    entry(malformed_message, Reaction::invalid, "malformed_message",
          "a message of another process cannot be understood"),
    entry(catalog_unavailable, Reaction::unavailable, "catalog_unavailable",
          "the catalog does not answer"),
    entry(write_rejected, Reaction::invalid, "write_rejected", "the catalog refused the write"),
    entry(catalog_full, Reaction::unavailable, "catalog_full", "no space is left for the catalog"),
    entry(catalog_corrupt, Reaction::unavailable, "catalog_corrupt",
          "the catalog's file is damaged"),
    entry(catalog_version, Reaction::unavailable, "catalog_version",
          "the catalog was written by another version"),
    entry(catalog_in_use, Reaction::unavailable, "catalog_in_use",
          "another process holds the catalog"),
    entry(ErrorCode::unknown_outcome, Reaction::unknown_outcome, "unknown_outcome",
          "the request may or may not have happened: look before repeating it"),
    entry(fenced, Reaction::unavailable, "fenced", "another coordinator leads now"),
    entry(unique_violation, Reaction::invalid, "unique_violation", "a unique key is already there"),
    entry(foreign_key_violation, Reaction::invalid, "foreign_key_violation",
          "a reference would dangle"),
    entry(defect, Reaction::unavailable, "defect", "a defect of Baton: please report it"),
};

}  // namespace

std::span<const ErrorEntry> error_list() {
    return kErrors;
}

const ErrorEntry& entry_of(ErrorCode code) {
    const auto found = std::find_if(kErrors.begin(), kErrors.end(),
                                    [&](const ErrorEntry& e) { return e.code == code; });
    CHECK(found != kErrors.end());
    return *found;
}

std::optional<ErrorCode> error_numbered(std::uint64_t number) {
    const auto found = std::find_if(kErrors.begin(), kErrors.end(), [&](const ErrorEntry& e) {
        return baton::number(e.code) == number;
    });
    return found == kErrors.end() ? std::nullopt : std::optional(found->code);
}

std::string to_string(const Error& error) {
    std::string text = "error " + std::to_string(number(error.code));
    if (error.at) {
        text += " at " + std::to_string(error.at->line) + ":" + std::to_string(error.at->column);
    }
    text += ": " + error.message;
    if (!error.hint.empty()) text += "; " + error.hint;
    return text;
}

}  // namespace baton
