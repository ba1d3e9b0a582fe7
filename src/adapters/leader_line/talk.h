// Talk is a connection to the leader's door for PostgreSQL's clients, as the user that only
// coordinators are. It speaks the little of the protocol that this takes, and no other way to log
// in than SCRAM: a library that is asked for the password would give it away.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "adapters/leader_line/channel.h"
#include "base/result.h"

namespace baton::leader_line {

enum class Tls : std::uint8_t { if_offered, required };

struct TalkOptions {
    std::string user;
    std::string password;
    Tls tls = Tls::if_offered;
    std::string ca;  // PEM; empty: the certificate is not checked
};

// An error message of a server, or one that cannot be understood: then `said` is false.
struct Refusal {
    Error error;
    bool said = false;
};

class Talk {
public:
    // Both ends have proved that they know the password. Fails with cannot_connect, and with
    // not_authenticated if one of them has not.
    [[nodiscard]] static Result<std::unique_ptr<Talk>> begin(const std::string& host,
                                                             const std::string& port,
                                                             const TalkOptions& options,
                                                             const Patience& patience);

    // False: the other end cannot have read all of it.
    [[nodiscard]] bool send(const std::string& text, const Patience& patience);
    // The value of the only row of the answer.
    [[nodiscard]] std::variant<std::string, Refusal> receive(const Patience& patience);
    // Whether it may be used again.
    [[nodiscard]] bool is_well() const { return well_ && !channel_->has_news(); }

private:
    struct Message {
        char type = 0;
        std::string body;
    };

    explicit Talk(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}
    [[nodiscard]] Result<Done> encrypt(const std::string& host, const TalkOptions& options,
                                       const Patience& patience);
    [[nodiscard]] Result<Done> log_in(const TalkOptions& options, const Patience& patience);
    [[nodiscard]] Result<Message> next(std::size_t most, const Patience& patience);
    [[nodiscard]] Result<Done> say(char type, const std::string& body, const Patience& patience);

    std::unique_ptr<Channel> channel_;
    std::string input_;  // that was read and not used yet
    bool well_ = true;
};

}  // namespace baton::leader_line
