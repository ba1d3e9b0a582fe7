#include "doors/pg/wire/replies.h"

#include "base/check.h"

namespace baton::pgwire {

namespace {

constexpr std::uint32_t kAuthenticationOk = 0;
constexpr std::uint32_t kAuthenticationSasl = 10;
constexpr std::uint32_t kAuthenticationSaslContinue = 11;
constexpr std::uint32_t kAuthenticationSaslFinal = 12;
constexpr std::uint32_t kProtocolMajor = 3;

void append_number(std::string& out, std::uint32_t value, unsigned bytes) {
    for (unsigned shift = bytes * 8; shift > 0;) {
        shift -= 8;
        out += static_cast<char>(value >> shift & 0xffU);
    }
}

std::string_view word_of(Severity severity) {
    switch (severity) {
        case Severity::error:
            return "ERROR";
        case Severity::fatal:
            return "FATAL";
        case Severity::panic:
            return "PANIC";
        case Severity::warning:
            return "WARNING";
        case Severity::notice:
            return "NOTICE";
        case Severity::info:
            return "INFO";
        case Severity::log:
            return "LOG";
        case Severity::debug:
            return "DEBUG";
    }
    CHECK(false);
}

char letter_of(TransactionStatus status) {
    switch (status) {
        case TransactionStatus::idle:
            return 'I';
        case TransactionStatus::open:
            return 'T';
        case TransactionStatus::failed:
            return 'E';
    }
    CHECK(false);
}

void append_report(std::string& out, char type, const Report& report) {
    Message message(out, type);
    const auto field = [&](char name, std::string_view text) {
        if (!text.empty()) message.byte(name).string(text);
    };
    field('S', word_of(report.severity));
    field('V', word_of(report.severity));  // never translated
    field('C', report.sqlstate);
    message.byte('M').string(report.message);  // has to be there
    field('D', report.detail);
    field('H', report.hint);
    if (report.position) field('P', std::to_string(*report.position));
    if (report.code) {
        field('F', "baton");
        field('L', std::to_string(number(*report.code)));
        field('R', entry_of(*report.code).name);
    }
    message.byte('\0');
}

void append_authentication(std::string& out, std::uint32_t kind, std::string_view data) {
    Message(out, 'R').int32(kind).bytes(data);
}

}  // namespace

Message::Message(std::string& out, char type) : out_(out) {
    out_ += type;
    start_ = out_.size();
    append_number(out_, 0, 4);
}

Message::~Message() {
    std::string size;
    append_number(size, static_cast<std::uint32_t>(out_.size() - start_), 4);
    out_.replace(start_, 4, size);
}

Message& Message::byte(char value) {
    out_ += value;
    return *this;
}

Message& Message::int16(std::uint16_t value) {
    append_number(out_, value, 2);
    return *this;
}

Message& Message::int32(std::uint32_t value) {
    append_number(out_, value, 4);
    return *this;
}

Message& Message::string(std::string_view text) {
    out_ += text.substr(0, text.find('\0'));
    out_ += '\0';
    return *this;
}

Message& Message::bytes(std::string_view raw) {
    out_ += raw;
    return *this;
}

void append_authentication_ok(std::string& out) {
    append_authentication(out, kAuthenticationOk, {});
}

void append_authentication_sasl(std::string& out, std::span<const std::string_view> mechanisms) {
    Message message(out, 'R');
    message.int32(kAuthenticationSasl);
    for (const std::string_view mechanism : mechanisms) message.string(mechanism);
    message.byte('\0');
}

void append_authentication_sasl_continue(std::string& out, std::string_view data) {
    append_authentication(out, kAuthenticationSaslContinue, data);
}

void append_authentication_sasl_final(std::string& out, std::string_view data) {
    append_authentication(out, kAuthenticationSaslFinal, data);
}

void append_negotiate_protocol_version(std::string& out, std::uint16_t newest_minor,
                                       std::span<const std::string> unknown_options) {
    Message message(out, 'v');
    // The manual says "minor version"; servers send, and clients expect, the whole of it.
    message.int32(kProtocolMajor << 16U | newest_minor);
    message.int32(static_cast<std::uint32_t>(unknown_options.size()));
    for (const std::string& option : unknown_options) message.string(option);
}

void append_parameter_status(std::string& out, std::string_view name, std::string_view value) {
    Message(out, 'S').string(name).string(value);
}

void append_backend_key_data(std::string& out, std::uint32_t process, std::uint32_t key) {
    Message(out, 'K').int32(process).int32(key);
}

void append_ready_for_query(std::string& out, TransactionStatus status) {
    Message(out, 'Z').byte(letter_of(status));
}

void append_error(std::string& out, const Report& report) {
    append_report(out, 'E', report);
}

void append_notice(std::string& out, const Report& report) {
    append_report(out, 'N', report);
}

void append_row_description(std::string& out, std::span<const FieldDescription> fields) {
    Message message(out, 'T');
    message.int16(static_cast<std::uint16_t>(fields.size()));
    for (const FieldDescription& field : fields) {
        message.string(field.name)
            .int32(0)  // of no table,
            .int16(0)  // no column of one
            .int32(field.type)
            .int16(static_cast<std::uint16_t>(field.size))
            .int32(static_cast<std::uint32_t>(field.modifier))
            .int16(static_cast<std::uint16_t>(field.format));
    }
}

void append_command_complete(std::string& out, std::string_view tag) {
    Message(out, 'C').string(tag);
}

void append_empty_query_response(std::string& out) {
    Message(out, 'I');
}

void append_parse_complete(std::string& out) {
    Message(out, '1');
}

void append_bind_complete(std::string& out) {
    Message(out, '2');
}

void append_close_complete(std::string& out) {
    Message(out, '3');
}

void append_parameter_description(std::string& out, std::span<const TypeId> types) {
    Message message(out, 't');
    message.int16(static_cast<std::uint16_t>(types.size()));
    for (const TypeId type : types) message.int32(type);
}

void append_no_data(std::string& out) {
    Message(out, 'n');
}

void append_portal_suspended(std::string& out) {
    Message(out, 's');
}

namespace {

void append_copy_response(std::string& out, char type, std::uint16_t columns, Format format) {
    Message message(out, type);
    message.byte(static_cast<char>(format)).int16(columns);
    for (unsigned i = 0; i < columns; ++i) message.int16(static_cast<std::uint16_t>(format));
}

}  // namespace

void append_copy_out_response(std::string& out, std::uint16_t columns, Format format) {
    append_copy_response(out, 'H', columns, format);
}

void append_copy_in_response(std::string& out, std::uint16_t columns, Format format) {
    append_copy_response(out, 'G', columns, format);
}

void append_copy_data(std::string& out, std::string_view bytes) {
    Message(out, 'd').bytes(bytes);
}

void append_copy_done(std::string& out) {
    Message(out, 'c');
}

}  // namespace baton::pgwire
