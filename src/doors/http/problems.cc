#include "doors/http/problems.h"

#include "base/text.h"
#include "base/utf8.h"

namespace baton::http {

namespace {

// Messages repeat what a client wrote, which need not be UTF-8; JSON has to be.
void append_text(std::string& to, std::string_view text) {
    std::string clean;
    while (!text.empty()) {
        const std::size_t size = utf8_character_size(text);
        if (size == 0) {
            clean += "\xEF\xBF\xBD";
            text.remove_prefix(1);
        } else {
            clean += text.substr(0, size);
            text.remove_prefix(size);
        }
    }
    append_json_string(to, clean);
}

void append_position(std::string& to, const Position& at) {
    to += ",\"position\":{\"line\":" + std::to_string(at.line) +
          ",\"column\":" + std::to_string(at.column) + ",\"offset\":" + std::to_string(at.offset) +
          "}";
}

}  // namespace

Error malformed(std::string message, std::string hint) {
    return {.code = ErrorCode::malformed_message,
            .message = std::move(message),
            .hint = std::move(hint)};
}

unsigned status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_configuration:
        case ErrorCode::missing_configuration:
        case ErrorCode::unreadable_configuration:
        case ErrorCode::syntax:
        case ErrorCode::not_supported:
        case ErrorCode::arity:
        case ErrorCode::schema:
        case ErrorCode::unknown_field:
        case ErrorCode::type_mismatch:
        case ErrorCode::type_inference:
        case ErrorCode::unknown_sink_type:
        case ErrorCode::unknown_source_type:
        case ErrorCode::unknown_sink_format:
        case ErrorCode::unknown_source_format:
        case ErrorCode::invalid_address:
        case ErrorCode::arithmetic:
        case ErrorCode::malformed_message:
        case ErrorCode::write_rejected:
        case ErrorCode::function_refused:
        case ErrorCode::ambiguous_name:
        case ErrorCode::invalid_question:
        case ErrorCode::cannot_convert:
        case ErrorCode::not_null_violation:
        case ErrorCode::table_not_supported:
            return 400;
        case ErrorCode::not_authenticated:
            return 401;
        case ErrorCode::not_permitted:
            return 403;
        case ErrorCode::unknown_source:
        case ErrorCode::unknown_sink:
        case ErrorCode::unknown_query:
        case ErrorCode::unknown_worker:
        case ErrorCode::unknown_task_list:
        case ErrorCode::unknown_lock:
        case ErrorCode::unknown_table:
        case ErrorCode::unknown_function:
        case ErrorCode::unknown_cursor:
            return 404;
        case ErrorCode::transaction_state:
        case ErrorCode::source_exists:
        case ErrorCode::source_in_use:
        case ErrorCode::sink_exists:
        case ErrorCode::sink_in_use:
        case ErrorCode::query_exists:
        case ErrorCode::query_state:
        case ErrorCode::placement:
        case ErrorCode::invalid_topology:
        case ErrorCode::worker_exists:
        case ErrorCode::task_list_exists:
        case ErrorCode::lock_held:
        case ErrorCode::lock_lost:
        case ErrorCode::lock_not_active:
        case ErrorCode::worker_in_use:
        case ErrorCode::conflict:
        case ErrorCode::table_exists:
        case ErrorCode::table_in_use:
        case ErrorCode::cursor_exists:
        case ErrorCode::unique_violation:
        case ErrorCode::foreign_key_violation:
            return 409;
        case ErrorCode::too_large:
            return 413;
        case ErrorCode::late_row:
        case ErrorCode::out_of_memory:
        case ErrorCode::cannot_open:
        case ErrorCode::cannot_read:
        case ErrorCode::cannot_write:
        case ErrorCode::cannot_format:
        case ErrorCode::damaged_file:
        case ErrorCode::store_refused:
        case ErrorCode::store_unfit:
        case ErrorCode::damaged_table:
        case ErrorCode::catalog_corrupt:
        case ErrorCode::catalog_version:
        case ErrorCode::unknown_outcome:
        case ErrorCode::defect:
            return 500;
        case ErrorCode::worker_unreachable:
        case ErrorCode::cannot_connect:
        case ErrorCode::store_unavailable:
        case ErrorCode::store_full:
        case ErrorCode::slow_down:
        case ErrorCode::cancelled:
        case ErrorCode::catalog_unavailable:
        case ErrorCode::catalog_full:
        case ErrorCode::catalog_in_use:
        case ErrorCode::fenced:
            return 503;
        case ErrorCode::wait_timed_out:
            return 504;
    }
    return 500;
}

Response problem(const Error& error, std::optional<unsigned> status, const std::string& more) {
    const ErrorEntry& entry = entry_of(error.code);
    Response response{.status = status.value_or(status_of(error.code)),
                      .content_type = "application/problem+json",
                      .headers = {},
                      .body = {}};
    std::string& body = response.body;
    body = "{\"type\":\"urn:baton:error:" + std::to_string(number(error.code)) + "\",\"title\":";
    append_json_string(body, entry.meaning);
    body += ",\"status\":" + std::to_string(response.status) + ",\"detail\":";
    append_text(body, error.message);
    body += ",\"code\":" + std::to_string(number(error.code)) + ",\"name\":";
    append_json_string(body, entry.name);
    if (error.at) append_position(body, *error.at);
    if (!error.hint.empty()) {
        body += ",\"hint\":";
        append_text(body, error.hint);
    }
    if (!error.related.empty()) {
        body += ",\"related\":[";
        for (const std::string& name : error.related) {
            if (&name != &error.related.front()) body += ',';
            append_text(body, name);
        }
        body += ']';
    }
    if (!more.empty()) body += "," + more;
    body += '}';
    if (response.status == 503) response.headers.emplace_back("Retry-After", "1");
    if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
}

}  // namespace baton::http
