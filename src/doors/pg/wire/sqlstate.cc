#include "doors/pg/wire/sqlstate.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton::pgwire {

namespace {

// By class, for those that mean the same to a client; a test finds one that is missing.
struct Entry {
    ErrorCode code;
    std::string_view state;
};

constexpr std::array kStates = {
    Entry{ErrorCode::unreadable_configuration, "F0000"},  // configuration file error
    Entry{ErrorCode::invalid_configuration, "22023"},     // invalid parameter value
    Entry{ErrorCode::missing_configuration, "22023"},     // invalid parameter value
    Entry{ErrorCode::invalid_address, "22023"},           // invalid parameter value
    Entry{ErrorCode::syntax, "42601"},
    Entry{ErrorCode::arity, "42601"},
    Entry{ErrorCode::not_supported, "0A000"},
    Entry{ErrorCode::schema, "42P16"},  // invalid table definition
    Entry{ErrorCode::unknown_field, "42703"},
    Entry{ErrorCode::too_large, "54000"},  // program limit exceeded
    Entry{ErrorCode::type_mismatch, "42804"},
    Entry{ErrorCode::type_inference, "42P18"},     // indeterminate datatype
    Entry{ErrorCode::unknown_source, "42P01"},     // undefined table
    Entry{ErrorCode::unknown_sink, "42P01"},       // undefined table
    Entry{ErrorCode::source_exists, "42P07"},      // duplicate table
    Entry{ErrorCode::sink_exists, "42P07"},        // duplicate table
    Entry{ErrorCode::source_in_use, "2BP01"},      // dependent objects still exist
    Entry{ErrorCode::sink_in_use, "2BP01"},        // dependent objects still exist
    Entry{ErrorCode::worker_in_use, "2BP01"},      // dependent objects still exist
    Entry{ErrorCode::unknown_query, "42704"},      // undefined object
    Entry{ErrorCode::unknown_task_list, "42704"},  // undefined object
    Entry{ErrorCode::task_list_exists, "42710"},   // duplicate object
    Entry{ErrorCode::unknown_lock, "42704"},
    Entry{ErrorCode::lock_held, "55P03"},  // lock not available
    Entry{ErrorCode::lock_lost, "55000"},  // object not in prerequisite state
    Entry{ErrorCode::lock_not_active, "55000"},
    Entry{ErrorCode::unknown_table, "42P01"},          // undefined table
    Entry{ErrorCode::table_exists, "42P07"},           // duplicate table
    Entry{ErrorCode::table_in_use, "2BP01"},           // dependent objects still exist
    Entry{ErrorCode::unknown_function, "42883"},       // undefined function
    Entry{ErrorCode::function_refused, "42501"},       // insufficient privilege
    Entry{ErrorCode::ambiguous_name, "42702"},         // ambiguous column
    Entry{ErrorCode::invalid_question, "42803"},       // grouping error, and the like
    Entry{ErrorCode::unknown_cursor, "34000"},         // invalid cursor name
    Entry{ErrorCode::cursor_exists, "42P03"},          // duplicate cursor
    Entry{ErrorCode::cannot_convert, "22P02"},         // invalid text representation
    Entry{ErrorCode::not_null_violation, "23502"},     // not null violation
    Entry{ErrorCode::store_unavailable, "58000"},      // system error
    Entry{ErrorCode::store_refused, "58030"},          // I/O error
    Entry{ErrorCode::store_unfit, "58030"},            // I/O error
    Entry{ErrorCode::store_full, "53100"},             // disk full
    Entry{ErrorCode::damaged_table, "XX001"},          // data corrupted
    Entry{ErrorCode::table_not_supported, "0A000"},    // feature not supported
    Entry{ErrorCode::unknown_worker, "42704"},         // undefined object
    Entry{ErrorCode::unknown_sink_type, "42704"},      // undefined object
    Entry{ErrorCode::unknown_source_type, "42704"},    // undefined object
    Entry{ErrorCode::unknown_sink_format, "42704"},    // undefined object
    Entry{ErrorCode::unknown_source_format, "42704"},  // undefined object
    Entry{ErrorCode::query_exists, "42710"},           // duplicate object
    Entry{ErrorCode::worker_exists, "42710"},          // duplicate object
    Entry{ErrorCode::query_state, "55000"},            // object not in prerequisite state
    Entry{ErrorCode::invalid_topology, "42P17"},       // invalid object definition
    Entry{ErrorCode::placement, "53000"},              // insufficient resources
    Entry{ErrorCode::slow_down, "53000"},              // insufficient resources
    Entry{ErrorCode::out_of_memory, "53200"},
    Entry{ErrorCode::catalog_full, "53100"},         // disk full
    Entry{ErrorCode::arithmetic, "22000"},           // data exception
    Entry{ErrorCode::late_row, "22000"},             // data exception
    Entry{ErrorCode::cannot_format, "22P04"},        // bad copy file format
    Entry{ErrorCode::cannot_open, "58P01"},          // undefined file
    Entry{ErrorCode::cannot_read, "58030"},          // I/O error
    Entry{ErrorCode::cannot_write, "58030"},         // I/O error
    Entry{ErrorCode::cannot_connect, "58030"},       // I/O error
    Entry{ErrorCode::worker_unreachable, "58000"},   // system error
    Entry{ErrorCode::catalog_unavailable, "58000"},  // system error
    Entry{ErrorCode::catalog_version, "58000"},      // system error
    Entry{ErrorCode::damaged_file, "XX001"},         // data corrupted
    Entry{ErrorCode::catalog_corrupt, "XX001"},      // data corrupted
    Entry{ErrorCode::conflict, "40001"},             // serialization failure
    Entry{ErrorCode::unknown_outcome, "40003"},      // statement completion unknown
    Entry{ErrorCode::cancelled, "57014"},            // query canceled
    Entry{ErrorCode::not_permitted, "42501"},        // insufficient privilege
    Entry{ErrorCode::not_authenticated, "28000"},    // invalid authorization specification
    Entry{ErrorCode::wait_timed_out, "57014"},       // query canceled
    Entry{ErrorCode::fenced, "57P03"},               // cannot connect now: another coordinator can
    Entry{ErrorCode::malformed_message, "08P01"},    // protocol violation
    Entry{ErrorCode::write_rejected, "23000"},       // integrity constraint violation
    Entry{ErrorCode::unique_violation, "23505"},
    Entry{ErrorCode::foreign_key_violation, "23503"},
    Entry{ErrorCode::catalog_in_use, "55006"},  // object in use
};

std::string_view of_transaction_state(TransactionStatus status) {
    switch (status) {
        case TransactionStatus::idle:
            return "25P01";  // no active transaction
        case TransactionStatus::open:
            return "25001";  // active transaction
        case TransactionStatus::failed:
            return "25P02";  // in failed transaction
    }
    CHECK(false);
}

}  // namespace

std::uint32_t character_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    return 1 + static_cast<std::uint32_t>(
                   std::count_if(before.begin(), before.end(), begins_character));
}

std::string_view sqlstate_of(ErrorCode code, TransactionStatus status) {
    if (code == ErrorCode::transaction_state) return of_transaction_state(status);
    const auto found = std::find_if(kStates.begin(), kStates.end(),
                                    [&](const Entry& entry) { return entry.code == code; });
    return found != kStates.end() ? found->state : "XX000";  // internal error: only a defect
}

Report report_of(const Error& error, std::string_view text, TransactionStatus status) {
    Report report{.sqlstate = std::string(sqlstate_of(error.code, status)),
                  .message = error.message,
                  .hint = error.hint,
                  .code = error.code};
    if (!error.related.empty()) report.detail = "it concerns " + enumerate(error.related);
    if (error.at && error.at->offset <= text.size()) {
        report.position = character_at(text, error.at->offset);
    }
    return report;
}

}  // namespace baton::pgwire
