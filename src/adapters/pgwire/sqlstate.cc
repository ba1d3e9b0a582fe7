#include "adapters/pgwire/sqlstate.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton::pgwire {

namespace {

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

std::uint32_t character_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    return 1 + static_cast<std::uint32_t>(
                   std::count_if(before.begin(), before.end(), begins_character));
}

}  // namespace

std::string_view sqlstate_of(ErrorCode code, TransactionStatus status) {
    switch (code) {
        case ErrorCode::unreadable_configuration:
            return "F0000";  // configuration file error
        case ErrorCode::invalid_configuration:
        case ErrorCode::missing_configuration:
        case ErrorCode::invalid_address:
            return "22023";  // invalid parameter value
        case ErrorCode::syntax:
        case ErrorCode::arity:
            return "42601";
        case ErrorCode::not_supported:
            return "0A000";
        case ErrorCode::schema:
            return "42P16";  // invalid table definition
        case ErrorCode::unknown_field:
            return "42703";
        case ErrorCode::too_large:
            return "54000";  // program limit exceeded
        case ErrorCode::type_mismatch:
            return "42804";
        case ErrorCode::type_inference:
            return "42P18";  // indeterminate datatype
        case ErrorCode::transaction_state:
            return of_transaction_state(status);
        case ErrorCode::unknown_source:
        case ErrorCode::unknown_sink:
            return "42P01";  // undefined table
        case ErrorCode::source_exists:
        case ErrorCode::sink_exists:
            return "42P07";  // duplicate table
        case ErrorCode::source_in_use:
        case ErrorCode::sink_in_use:
        case ErrorCode::worker_in_use:
            return "2BP01";  // dependent objects still exist
        case ErrorCode::unknown_query:
        case ErrorCode::unknown_worker:
        case ErrorCode::unknown_sink_type:
        case ErrorCode::unknown_source_type:
        case ErrorCode::unknown_sink_format:
        case ErrorCode::unknown_source_format:
            return "42704";  // undefined object
        case ErrorCode::query_exists:
        case ErrorCode::worker_exists:
            return "42710";  // duplicate object
        case ErrorCode::query_state:
            return "55000";  // object not in prerequisite state
        case ErrorCode::invalid_topology:
            return "42P17";  // invalid object definition
        case ErrorCode::placement:
        case ErrorCode::slow_down:
            return "53000";  // insufficient resources
        case ErrorCode::out_of_memory:
            return "53200";
        case ErrorCode::catalog_full:
            return "53100";  // disk full
        case ErrorCode::arithmetic:
        case ErrorCode::late_row:
            return "22000";  // data exception
        case ErrorCode::cannot_format:
            return "22P04";  // bad copy file format
        case ErrorCode::cannot_open:
            return "58P01";  // undefined file
        case ErrorCode::cannot_read:
        case ErrorCode::cannot_write:
        case ErrorCode::cannot_connect:
            return "58030";  // I/O error
        case ErrorCode::worker_unreachable:
        case ErrorCode::catalog_unavailable:
        case ErrorCode::catalog_version:
            return "58000";  // system error
        case ErrorCode::damaged_file:
        case ErrorCode::catalog_corrupt:
            return "XX001";  // data corrupted
        case ErrorCode::conflict:
            return "40001";  // serialization failure
        case ErrorCode::unknown_outcome:
            return "40003";  // statement completion unknown
        case ErrorCode::cancelled:
        case ErrorCode::wait_timed_out:
            return "57014";  // query canceled
        case ErrorCode::fenced:
            return "57P03";  // cannot connect now: another coordinator can
        case ErrorCode::malformed_message:
            return "08P01";  // protocol violation
        case ErrorCode::write_rejected:
            return "23000";  // integrity constraint violation
        case ErrorCode::unique_violation:
            return "23505";
        case ErrorCode::foreign_key_violation:
            return "23503";
        case ErrorCode::catalog_in_use:
            return "55006";  // object in use
        case ErrorCode::defect:
            return "XX000";
    }
    CHECK(false);
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
