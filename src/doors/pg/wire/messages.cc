#include "doors/pg/wire/messages.h"

#include <array>
#include <cstdio>

#include "base/check.h"
#include "base/utf8.h"

namespace baton::pgwire {

namespace {

constexpr std::string_view kTypes = "QPBDECHSXpdcfF";
constexpr std::size_t kSizeBytes = 4;
constexpr std::uint16_t kRequestMajor = 1234;  // not a version, but a request
constexpr std::uint16_t kCancelMinor = 5678;
constexpr std::uint16_t kSslMinor = 5679;
constexpr std::uint16_t kGssEncMinor = 5680;

Error malformed(std::string message) {
    return {.code = ErrorCode::malformed_message, .message = std::move(message)};
}

Error over_limit(const std::string& what, std::size_t size, std::size_t limit) {
    return {.code = ErrorCode::too_large,
            .message = what + " of " + std::to_string(size) + " bytes is too large, the limit is " +
                       std::to_string(limit)};
}

std::string printed(char type) {
    if (type > ' ' && type <= '~') return {'"', type, '"'};
    std::array<char, 8> text{};
    (void)std::snprintf(text.data(), text.size(), "0x%02x", static_cast<unsigned char>(type));
    return text.data();
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (const char c : bytes.substr(at, size)) {
        value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
}

// Takes the fields of a body one after the other. After the first that is not there everything is
// empty; end() then tells which one it was.
class Fields {
public:
    Fields(std::string_view what, std::string_view body) : what_(what), rest_(body) {}

    std::uint32_t number(std::size_t size, std::string_view field) {
        if (rest_.size() < size) {
            miss(field);
            return 0;
        }
        const std::uint32_t value = number_at(rest_, 0, size);
        rest_.remove_prefix(size);
        return value;
    }
    std::uint16_t number16(std::string_view field) {
        return static_cast<std::uint16_t>(number(2, field));
    }
    std::string string(std::string_view field) {
        const std::size_t end = rest_.find('\0');
        if (end == std::string_view::npos) {
            miss(field);
            return {};
        }
        std::string text(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        if (!is_valid_utf8(text)) fail(std::string(field) + " is not UTF-8");
        return text;
    }
    // As many bytes as the number before them says; none if that is -1.
    std::optional<std::string> sized(std::string_view field) {
        const std::uint32_t size = number(kSizeBytes, field);
        if (size == UINT32_MAX) return std::nullopt;
        if (size > rest_.size()) {
            miss(field);
            return std::nullopt;
        }
        std::string bytes(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return bytes;
    }
    std::string rest() { return std::string(std::exchange(rest_, {})); }
    [[nodiscard]] bool ok() const { return !error_; }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

    void fail(std::string why) {
        if (!error_) error_ = malformed(std::string(what_) + " message: " + std::move(why));
        rest_ = {};
    }
    template <class Message>
    Result<Message> end(Message message) {
        if (!rest_.empty()) {
            fail(std::to_string(rest_.size()) + " bytes follow after the end");
        }
        if (error_) return *std::move(error_);
        return message;
    }

private:
    void miss(std::string_view field) { fail("it ends within its " + std::string(field)); }

    std::string_view what_;
    std::string_view rest_;
    std::optional<Error> error_;
};

std::vector<std::uint16_t> formats_of(Fields& fields, std::string_view field) {
    std::vector<std::uint16_t> formats;
    const std::uint16_t count = fields.number16(field);
    for (std::size_t i = 0; i < count && fields.ok(); ++i) {
        formats.push_back(fields.number16(field));
    }
    return formats;
}

Target target_of(Fields& fields) {
    const char target = static_cast<char>(fields.number(1, "kind"));
    if (target == 'P') return Target::portal;
    if (target != 'S') fields.fail(printed(target) + " is neither a statement nor a portal");
    return Target::statement;
}

Result<Query> query_of(std::string_view body) {
    Fields fields("Query", body);
    Query query{.text = fields.string("text")};
    return fields.end(std::move(query));
}

Error too_many_parameters(std::size_t count, std::size_t limit) {
    return {.code = ErrorCode::too_large,
            .message = "a statement with " + std::to_string(count) +
                       " parameters is too large, the limit is " + std::to_string(limit)};
}

Result<Parse> parse_of(std::string_view body, std::size_t parameters_max) {
    Fields fields("Parse", body);
    Parse parse;
    parse.statement = fields.string("statement name");
    parse.text = fields.string("text");
    const std::uint16_t count = fields.number16("number of parameter types");
    if (count > parameters_max) return too_many_parameters(count, parameters_max);
    for (std::size_t i = 0; i < count && fields.ok(); ++i) {
        parse.parameter_types.push_back(fields.number(4, "parameter types"));
    }
    return fields.end(std::move(parse));
}

Result<Bind> bind_of(std::string_view body, std::size_t parameters_max) {
    Fields fields("Bind", body);
    Bind bind;
    bind.portal = fields.string("portal name");
    bind.statement = fields.string("statement name");
    bind.parameter_formats = formats_of(fields, "parameter formats");
    const std::uint16_t count = fields.number16("number of parameters");
    if (count > parameters_max) return too_many_parameters(count, parameters_max);
    for (std::size_t i = 0; i < count && fields.ok(); ++i) {
        bind.parameters.push_back(fields.sized("parameters"));
    }
    bind.result_formats = formats_of(fields, "result formats");
    return fields.end(std::move(bind));
}

template <class Message>
Result<Message> targeted(std::string_view what, std::string_view body) {
    Fields fields(what, body);
    Message message;
    message.target = target_of(fields);
    message.name = fields.string("name");
    return fields.end(std::move(message));
}

Result<Execute> execute_of(std::string_view body) {
    Fields fields("Execute", body);
    Execute execute;
    execute.portal = fields.string("portal name");
    execute.rows_max = fields.number(4, "number of rows");
    if (execute.rows_max > INT32_MAX) execute.rows_max = 0;  // negative is as good as none
    return fields.end(std::move(execute));
}

template <class Message>
Result<Message> empty(std::string_view what, std::string_view body) {
    return Fields(what, body).end(Message{});
}

// The same with the message as one of all.
template <class Message>
Result<FrontendMessage> as_any(Result<Message> message) {
    if (!message) return message.error();
    return FrontendMessage(*std::move(message));
}

Result<StartupPacket> startup_of(Fields fields, std::uint16_t minor) {
    StartupMessage startup{.minor = minor, .parameters = {}};
    while (fields.ok() && !fields.at_end()) {
        std::string name = fields.string("parameter names");
        if (name.empty()) return fields.end(StartupPacket(std::move(startup)));
        std::string value = fields.string("parameter values");
        startup.parameters.emplace_back(std::move(name), std::move(value));
    }
    fields.fail("the list of parameters has no end");
    return fields.end(StartupPacket());
}

}  // namespace

// ---- frames -------------------------------------------------------------------------------------

void FrameReader::feed(std::string_view bytes) {
    compact();
    bytes_ += bytes;
}

void FrameReader::compact() {
    constexpr std::size_t kKeptMax = 65'536;
    bytes_.erase(0, std::exchange(at_, 0));
    if (bytes_.empty() && bytes_.capacity() > kKeptMax) bytes_.shrink_to_fit();
}

std::optional<std::size_t> FrameReader::size_at(std::size_t before) const {
    if (buffered() < before + kSizeBytes) return std::nullopt;
    return number_at(bytes_, at_ + before, kSizeBytes);
}

std::string_view FrameReader::take(std::size_t header, std::size_t size) {
    const std::string_view body = std::string_view(bytes_).substr(at_ + header, size - header);
    at_ += size;
    return body;
}

Result<std::optional<std::string_view>> FrameReader::next_packet() {
    const auto size = size_at(0);
    if (!size) return std::optional<std::string_view>();
    if (*size < 2 * kSizeBytes) {
        return malformed("a start-up packet cannot have " + std::to_string(*size) + " bytes");
    }
    if (*size > limits_.startup_bytes_max) {
        return over_limit("a start-up packet", *size, limits_.startup_bytes_max);
    }
    if (buffered() < *size) return std::optional<std::string_view>();
    return std::optional(take(kSizeBytes, *size));
}

Result<std::optional<Frame>> FrameReader::next_frame() {
    if (buffered() == 0) return std::optional<Frame>();
    const char type = bytes_[at_];
    if (kTypes.find(type) == std::string_view::npos) {
        return malformed("unknown type of message " + printed(type));
    }
    const auto size = size_at(1);
    if (!size) return std::optional<Frame>();
    const std::string what = "a message of type " + printed(type);
    if (*size < kSizeBytes) {
        return malformed(what + " cannot have " + std::to_string(*size) + " bytes");
    }
    const std::size_t limit = authenticated_ ? limits_.message_bytes_max : limits_.login_bytes_max;
    if (*size > limit) return over_limit(what, *size, limit);
    if (buffered() < 1 + *size) return std::optional<Frame>();
    return std::optional(Frame{.type = type, .body = take(1 + kSizeBytes, 1 + *size)});
}

// ---- bodies -------------------------------------------------------------------------------------

Result<StartupPacket> packet_of(std::string_view body) {
    Fields fields("start-up", body);
    const std::uint16_t major = fields.number16("version");
    const std::uint16_t minor = fields.number16("version");
    if (major == 3) return startup_of(fields, minor);
    if (major == kRequestMajor && minor == kCancelMinor) {
        CancelRequest cancel;
        cancel.process = fields.number(4, "process");
        cancel.key = fields.number(4, "key");
        return fields.end(StartupPacket(cancel));
    }
    if (major == kRequestMajor && minor == kSslMinor)
        return fields.end(StartupPacket(SslRequest{}));
    if (major == kRequestMajor && minor == kGssEncMinor) {
        return fields.end(StartupPacket(GssEncRequest{}));
    }
    (void)fields.rest();  // of a form that we do not know
    return fields.end(StartupPacket(OtherProtocol{.major = major, .minor = minor}));
}

Result<FrontendMessage> message_of(const Frame& frame, std::size_t parameters_max) {
    const std::string_view body = frame.body;
    switch (frame.type) {
        case 'Q':
            return as_any(query_of(body));
        case 'P':
            return as_any(parse_of(body, parameters_max));
        case 'B':
            return as_any(bind_of(body, parameters_max));
        case 'D':
            return as_any(targeted<Describe>("Describe", body));
        case 'E':
            return as_any(execute_of(body));
        case 'C':
            return as_any(targeted<Close>("Close", body));
        case 'H':
            return as_any(empty<Flush>("Flush", body));
        case 'S':
            return as_any(empty<Sync>("Sync", body));
        case 'X':
            return as_any(empty<Terminate>("Terminate", body));
        case 'p':
            return FrontendMessage(LoginResponse{std::string(body)});
        case 'd':
            return FrontendMessage(CopyData{std::string(body)});
        case 'c':
            return as_any(empty<CopyDone>("CopyDone", body));
        case 'f': {
            Fields fields("CopyFail", body);
            CopyFail fail{.why = fields.string("reason")};
            return as_any(fields.end(std::move(fail)));
        }
        case 'F':
            return FrontendMessage(FunctionCall{});
        default:
            return malformed("unknown type of message " + printed(frame.type));
    }
}

Result<SaslInitialResponse> sasl_initial_response_of(std::string_view body) {
    Fields fields("SASLInitialResponse", body);
    SaslInitialResponse response;
    response.mechanism = fields.string("mechanism");
    response.data = fields.sized("data");
    return fields.end(std::move(response));
}

Result<std::string> password_of(std::string_view body) {
    Fields fields("Password", body);
    std::string password = fields.string("password");
    return fields.end(std::move(password));
}

}  // namespace baton::pgwire
