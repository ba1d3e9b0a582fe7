// Channel is a TCP connection, with or without TLS, that is used by one thread and never waits for
// longer than it may.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/types.h>

#include "base/result.h"

namespace baton::leader_line {

// The end of a wait, and the way to end it sooner.
struct Patience {
    std::chrono::steady_clock::time_point until;
    const std::function<bool()>& given_up;
};

class Channel {
public:
    // Errors of all of them: cannot_connect.
    [[nodiscard]] static Result<std::unique_ptr<Channel>> connect(const std::string& host,
                                                                  const std::string& port,
                                                                  const Patience& patience);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    // `ca`: the file (PEM) of the issuer of the certificate, which has to be of `host`; empty: any
    // certificate will do.
    [[nodiscard]] Result<Done> start_tls(const std::string& ca, const std::string& host,
                                         const Patience& patience);
    [[nodiscard]] Result<Done> write(std::string_view bytes, const Patience& patience);
    // At least one byte, at most `most`.
    [[nodiscard]] Result<std::string> read(std::size_t most, const Patience& patience);
    // Whether the other end has said something, which is its end most often.
    [[nodiscard]] bool has_news() const;

private:
    struct FreeContext {
        void operator()(SSL_CTX* context) const;
    };
    struct FreeStream {
        void operator()(SSL* stream) const;
    };

    explicit Channel(int socket) : socket_(socket) {}
    [[nodiscard]] Result<Done> wait(short wanted, const Patience& patience) const;
    // Waits until TLS can go on after an operation that gave `result`; an error if it has failed.
    [[nodiscard]] Result<Done> wait_for_tls(int result, const Patience& patience) const;

    const int socket_;
    std::unique_ptr<SSL_CTX, FreeContext> context_;
    std::unique_ptr<SSL, FreeStream> tls_;  // null: none
};

}  // namespace baton::leader_line
