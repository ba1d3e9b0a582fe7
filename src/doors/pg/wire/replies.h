// The messages of the server in PostgreSQL's protocol 3.0, written as bytes.
//
// Input:   the values that a message carries. Output: the message, appended to the output.
//
// Every text that is written as a string ends at its first zero, if it has one: the protocol cannot
// say more. Pure: no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "doors/pg/wire/messages.h"

namespace baton::pgwire {

enum class TransactionStatus : std::uint8_t { idle, open, failed };
enum class Format : std::uint8_t { text, binary };
enum class Severity : std::uint8_t { error, fatal, panic, warning, notice, info, log, debug };

// The contents of ErrorResponse and NoticeResponse.
struct Report {
    Severity severity = Severity::error;
    std::string sqlstate = "XX000";
    std::string message;
    std::string detail;
    std::string hint;
    std::optional<std::uint32_t> position;  // in the text of the query, in characters from 1
    // Sent as file "baton", line and routine, which drivers show to their users.
    std::optional<ErrorCode> code;
    friend bool operator==(const Report&, const Report&) = default;
};

struct FieldDescription {
    std::string_view name;
    TypeId type = 0;
    std::int16_t size = -1;      // of the type; -1: it varies
    std::int32_t modifier = -1;  // of the type; -1: none
    Format format = Format::text;
};

// Begins a message and gives it its size when it is destroyed.
class Message {
public:
    Message(std::string& out, char type);
    ~Message();
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    Message& byte(char value);
    Message& int16(std::uint16_t value);
    Message& int32(std::uint32_t value);
    Message& string(std::string_view text);  // and its zero
    Message& bytes(std::string_view raw);

private:
    std::string& out_;
    std::size_t start_;  // of the size
};

void append_authentication_ok(std::string& out);
void append_authentication_sasl(std::string& out, std::span<const std::string_view> mechanisms);
void append_authentication_sasl_continue(std::string& out, std::string_view data);
void append_authentication_sasl_final(std::string& out, std::string_view data);
void append_negotiate_protocol_version(std::string& out, std::uint16_t newest_minor,
                                       std::span<const std::string> unknown_options);
void append_parameter_status(std::string& out, std::string_view name, std::string_view value);
void append_backend_key_data(std::string& out, std::uint32_t process, std::uint32_t key);
void append_ready_for_query(std::string& out, TransactionStatus status);

void append_error(std::string& out, const Report& report);
void append_notice(std::string& out, const Report& report);

void append_row_description(std::string& out, std::span<const FieldDescription> fields);
void append_command_complete(std::string& out, std::string_view tag);
void append_empty_query_response(std::string& out);
void append_parse_complete(std::string& out);
void append_bind_complete(std::string& out);
void append_close_complete(std::string& out);
void append_parameter_description(std::string& out, std::span<const TypeId> types);
void append_no_data(std::string& out);
void append_portal_suspended(std::string& out);

void append_copy_out_response(std::string& out, std::uint16_t columns, Format format);
void append_copy_in_response(std::string& out, std::uint16_t columns, Format format);
void append_copy_data(std::string& out, std::string_view bytes);
void append_copy_done(std::string& out);

}  // namespace baton::pgwire
