#include "adapters/leader_line/talk.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "adapters/system/digest.h"
#include "doors/pg/wire/scram.h"

namespace baton::leader_line {

namespace {

constexpr std::size_t kLoginBytesMax = 16'384;  // of a message, before it is known who is there
constexpr std::size_t kAnswerBytesMax = std::size_t{256} << 20U;
constexpr std::uint32_t kVersion = 3U << 16U;
constexpr std::uint32_t kSslRequest = 80'877'103;

enum Authentication : std::uint32_t { ok = 0, sasl = 10, sasl_continue = 11, sasl_final = 12 };

std::string number_bytes(std::uint32_t value) {
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        bytes += static_cast<char>(value >> shift & 0xffU);
    }
    return bytes;
}

std::uint32_t number_in(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char c : bytes.substr(0, 4)) value = value << 8U | static_cast<unsigned char>(c);
    return value;
}

std::string with_size(const std::string& body) {
    return number_bytes(static_cast<std::uint32_t>(body.size() + 4)) + body;
}

Error no_coordinator(const std::string& why) {
    return {
        .code = ErrorCode::not_authenticated,
        .message =
            "the process at this address " + why + ", so it is no coordinator of this catalog",
        .hint = "see which address SHOW LOCKS has for the leader, and which process listens there"};
}

Error garbled() {
    return {.code = ErrorCode::cannot_connect, .message = "the answer cannot be understood"};
}

// Our number of an error, if it is one of ours; otherwise what comes nearest.
ErrorCode code_in(const std::map<char, std::string>& fields) {
    const auto field = [&](char name) {
        const auto found = fields.find(name);
        return found == fields.end() ? std::string() : found->second;
    };
    if (field('F') == "baton") {
        unsigned told = 0;
        const std::string line = field('L');
        std::from_chars(line.data(), line.data() + line.size(), told);
        if (const auto code = error_numbered(told)) return *code;
    }
    const std::string state = field('C');
    if (state.starts_with("28")) return ErrorCode::not_authenticated;
    if (state.starts_with("53")) return ErrorCode::slow_down;
    return ErrorCode::cannot_connect;
}

Error error_in(std::string_view body) {
    std::map<char, std::string> fields;
    while (!body.empty() && body.front() != '\0') {
        const std::size_t end = std::min(body.find('\0', 1), body.size());
        fields[body.front()] = std::string(body.substr(1, end - 1));
        body.remove_prefix(std::min(end + 1, body.size()));
    }
    return {.code = code_in(fields), .message = fields['M'], .hint = fields['H']};
}

// The first value of a row.
std::optional<std::string> value_in(std::string_view row) {
    if (row.size() < 6) return std::nullopt;
    const std::size_t size = number_in(row.substr(2));
    if (row.size() - 6 < size) return std::nullopt;
    return std::string(row.substr(6, size));
}

// One step of a login.
class Login {
public:
    explicit Login(const std::string& password)
        : scram_(password, pgwire::nonce_of(system::random_bytes(18))) {}

    // The answer to this demand; empty: none. Demands that are not SCRAM get none.
    [[nodiscard]] Result<std::string> answer(std::string_view body) {
        const std::uint32_t kind = body.size() < 4 ? UINT32_MAX : number_in(body);
        const std::string_view data = body.substr(std::min<std::size_t>(4, body.size()));
        if (kind == sasl && step_ == 0) {
            if (("\0" + std::string(data)).find(std::string(pgwire::kScramMechanism)) ==
                std::string::npos) {
                return no_coordinator("does not know SCRAM-SHA-256");
            }
            step_ = 1;
            const std::string first = scram_.first();
            return std::string(pgwire::kScramMechanism) + '\0' +
                   number_bytes(static_cast<std::uint32_t>(first.size())) + first;
        }
        if (kind == sasl_continue && step_ == 1) {
            step_ = 2;
            return scram_.final(data);
        }
        if (kind == sasl_final && step_ == 2) {
            TRY(scram_.check(data));
            step_ = 3;
            return std::string();
        }
        if (kind == ok && step_ == 3) {
            step_ = 4;
            return std::string();
        }
        if (kind == ok) return no_coordinator("does not ask for our proof, or gives none itself");
        return no_coordinator("asks for the password itself, which is never sent");
    }
    [[nodiscard]] bool is_done() const { return step_ == 4; }

private:
    pgwire::ScramClient scram_;
    int step_ = 0;
};

}  // namespace

// ---- beginning ----------------------------------------------------------------------------------

Result<std::unique_ptr<Talk>> Talk::begin(const std::string& host, const std::string& port,
                                          const TalkOptions& options, const Patience& patience) {
    TRY_ASSIGN(channel, Channel::connect(host, port, patience));
    std::unique_ptr<Talk> talk(new Talk(std::move(channel)));
    TRY(talk->encrypt(host, options, patience));
    TRY(talk->log_in(options, patience));
    return talk;
}

Result<Done> Talk::encrypt(const std::string& host, const TalkOptions& options,
                           const Patience& patience) {
    TRY(channel_->write(with_size(number_bytes(kSslRequest)), patience));
    TRY_ASSIGN(answer, channel_->read(1, patience));
    if (answer == "S") return channel_->start_tls(options.ca, host, patience);
    if (answer != "N") return garbled();
    if (options.tls == Tls::if_offered) return Done{};
    return Error{.code = ErrorCode::cannot_connect,
                 .message = "the other end does not encrypt, and this coordinator requires it",
                 .hint = "give all coordinators a certificate (tls.cert, tls.key)"};
}

Result<Done> Talk::log_in(const TalkOptions& options, const Patience& patience) {
    std::string start = number_bytes(kVersion);
    for (const std::string& word :
         {std::string("user"), options.user, std::string("database"), std::string("baton"),
          std::string("application_name"), std::string("baton")}) {
        start += word + '\0';
    }
    TRY(channel_->write(with_size(start + '\0'), patience));
    Login login(options.password);
    for (;;) {
        TRY_ASSIGN(message, next(kLoginBytesMax, patience));
        if (message.type == 'E') return error_in(message.body);
        if (message.type == 'R') {
            TRY_ASSIGN(answer, login.answer(message.body));
            if (!answer.empty()) TRY(say('p', answer, patience));
        } else if (message.type == 'Z') {
            if (login.is_done()) return Done{};
            return no_coordinator("does not ask for our proof");
        } else if (!login.is_done() && message.type != 'N' && message.type != 'v') {
            return garbled();
        }
    }
}

// ---- messages -----------------------------------------------------------------------------------

Result<Done> Talk::say(char type, const std::string& body, const Patience& patience) {
    return channel_->write(type + with_size(body), patience);
}

Result<Talk::Message> Talk::next(std::size_t most, const Patience& patience) {
    constexpr std::size_t kHead = 5;
    const auto have = [&](std::size_t bytes) -> Result<Done> {
        while (input_.size() < bytes) {
            TRY_ASSIGN(more, channel_->read(65'536, patience));
            input_ += more;
        }
        return Done{};
    };
    TRY(have(kHead));
    const std::size_t size = number_in(std::string_view(input_).substr(1));
    if (size < 4 || size > most) return garbled();
    TRY(have(1 + size));
    Message message{.type = input_.front(), .body = input_.substr(kHead, size - 4)};
    input_.erase(0, 1 + size);
    return message;
}

bool Talk::send(const std::string& text, const Patience& patience) {
    well_ = say('Q', text + '\0', patience).has_value();
    return well_;
}

std::variant<std::string, Refusal> Talk::receive(const Patience& patience) {
    well_ = false;
    std::optional<std::variant<std::string, Refusal>> answer;
    for (;;) {
        auto message = next(kAnswerBytesMax, patience);
        if (!message) return Refusal{.error = message.error()};
        if (message->type == 'E' && !answer) {
            answer = Refusal{.error = error_in(message->body), .said = true};
        } else if (message->type == 'D' && !answer) {
            auto value = value_in(message->body);
            if (!value) return Refusal{.error = garbled()};
            answer = *std::move(value);
        } else if (message->type == 'Z') {
            if (!answer) return Refusal{.error = garbled()};
            well_ = input_.empty();
            return *std::move(answer);
        }
    }
}

}  // namespace baton::leader_line
