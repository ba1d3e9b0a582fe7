// The messages of a client of PostgreSQL's protocol 3.0, read from bytes as they arrive.
//
// Input:   bytes, cut anywhere.
// Output:  whole packets and frames, and the messages that are in them.
//
// Reading has two steps, because what is wrong differs in what it costs. A frame that cannot be
// found (an impossible length, an unknown type, more bytes than allowed) loses the place in the
// stream: the connection is over. A frame that is found but holds nonsense is an error like any
// other, and the next frame is where it should be.
//
// Rules:
//   - A connection begins with start-up packets, which have no type; after StartupMessage come
//     frames. Until authenticated() was called a frame may be no larger than a login needs, so that
//     a stranger cannot make us keep much.
//   - A frame's body must be used up to its last byte, strings end with their zero and are UTF-8,
//     and no count makes us reserve more than the bytes that are there.
// Pure: no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace baton::pgwire {

using TypeId = std::uint32_t;  // PostgreSQL's number of a type; 0 is not given

// ---- start-up packets ---------------------------------------------------------------------------

struct StartupMessage {
    std::uint16_t minor = 0;                                      // of protocol 3
    std::vector<std::pair<std::string, std::string>> parameters;  // as given, names may repeat
    friend bool operator==(const StartupMessage&, const StartupMessage&) = default;
};
struct SslRequest {
    friend bool operator==(const SslRequest&, const SslRequest&) = default;
};
struct GssEncRequest {
    friend bool operator==(const GssEncRequest&, const GssEncRequest&) = default;
};
struct CancelRequest {
    std::uint32_t process = 0;
    std::uint32_t key = 0;
    friend bool operator==(const CancelRequest&, const CancelRequest&) = default;
};
struct OtherProtocol {  // another major version, or a request that is not known
    std::uint16_t major = 0;
    std::uint16_t minor = 0;
    friend bool operator==(const OtherProtocol&, const OtherProtocol&) = default;
};
using StartupPacket =
    std::variant<StartupMessage, SslRequest, GssEncRequest, CancelRequest, OtherProtocol>;

// ---- messages -----------------------------------------------------------------------------------

enum class Target : std::uint8_t { statement, portal };

struct Query {
    std::string text;
    friend bool operator==(const Query&, const Query&) = default;
};
struct Parse {
    std::string statement;  // empty: the unnamed one
    std::string text;
    std::vector<TypeId> parameter_types;  // of the first ones
    friend bool operator==(const Parse&, const Parse&) = default;
};
struct Bind {
    std::string portal;
    std::string statement;
    std::vector<std::uint16_t> parameter_formats;  // none, one for all, or one each
    std::vector<std::optional<std::string>> parameters;
    std::vector<std::uint16_t> result_formats;
    friend bool operator==(const Bind&, const Bind&) = default;
};
struct Describe {
    Target target = Target::statement;
    std::string name;
    friend bool operator==(const Describe&, const Describe&) = default;
};
struct Execute {
    std::string portal;
    std::uint32_t rows_max = 0;  // 0: all of them
    friend bool operator==(const Execute&, const Execute&) = default;
};
struct Close {
    Target target = Target::statement;
    std::string name;
    friend bool operator==(const Close&, const Close&) = default;
};
struct Flush {
    friend bool operator==(const Flush&, const Flush&) = default;
};
struct Sync {
    friend bool operator==(const Sync&, const Sync&) = default;
};
struct Terminate {
    friend bool operator==(const Terminate&, const Terminate&) = default;
};
// PasswordMessage, SASLInitialResponse or SASLResponse: which one follows from the state of the
// login.
struct LoginResponse {
    std::string body;
    friend bool operator==(const LoginResponse&, const LoginResponse&) = default;
};
struct CopyData {
    std::string bytes;
    friend bool operator==(const CopyData&, const CopyData&) = default;
};
struct CopyDone {
    friend bool operator==(const CopyDone&, const CopyDone&) = default;
};
struct CopyFail {
    std::string why;
    friend bool operator==(const CopyFail&, const CopyFail&) = default;
};
struct FunctionCall {  // not in use: its contents are not read
    friend bool operator==(const FunctionCall&, const FunctionCall&) = default;
};
using FrontendMessage =
    std::variant<Query, Parse, Bind, Describe, Execute, Close, Flush, Sync, Terminate,
                 LoginResponse, CopyData, CopyDone, CopyFail, FunctionCall>;

struct SaslInitialResponse {
    std::string mechanism;
    std::optional<std::string> data;
    friend bool operator==(const SaslInitialResponse&, const SaslInitialResponse&) = default;
};

// ---- reading ------------------------------------------------------------------------------------

struct FrameLimits {
    std::size_t startup_bytes_max = 10'000;
    std::size_t login_bytes_max = 65'536;  // of a frame before authenticated()
    std::size_t message_bytes_max = (std::size_t{16} << 20U) + 65'536;
    std::size_t order_bytes_max = std::size_t{64} << 20U;  // of another coordinator
};

struct Frame {
    char type = 0;
    std::string_view body;  // until the next call of feed() or compact()
};

class FrameReader {
public:
    explicit FrameReader(FrameLimits limits = {}) : limits_(limits) {}

    void feed(std::string_view bytes);
    // The body of the next start-up packet, or the next frame; none if more bytes are needed. After
    // an error there is no next one.
    [[nodiscard]] Result<std::optional<std::string_view>> next_packet();
    [[nodiscard]] Result<std::optional<Frame>> next_frame();

    // Gives back the memory of messages that were taken.
    void compact();

    void authenticated(bool coordinator = false) {
        authenticated_ = true;
        if (coordinator) limits_.message_bytes_max = limits_.order_bytes_max;
    }
    [[nodiscard]] std::size_t buffered() const { return bytes_.size() - at_; }

private:
    // The size, with itself, that stands `before` bytes from here; none if it is not yet there.
    [[nodiscard]] std::optional<std::size_t> size_at(std::size_t before) const;
    [[nodiscard]] std::string_view take(std::size_t header, std::size_t size);

    FrameLimits limits_;
    bool authenticated_ = false;
    std::string bytes_;
    std::size_t at_ = 0;  // what is before was taken
};

[[nodiscard]] Result<StartupPacket> packet_of(std::string_view body);
// Fails with too_large for a Parse or Bind with more parameters.
[[nodiscard]] Result<FrontendMessage> message_of(const Frame& frame,
                                                 std::size_t parameters_max = 65'535);

// The readings of LoginResponse; SASLResponse is the body as it is.
[[nodiscard]] Result<SaslInitialResponse> sasl_initial_response_of(std::string_view body);
[[nodiscard]] Result<std::string> password_of(std::string_view body);

}  // namespace baton::pgwire
