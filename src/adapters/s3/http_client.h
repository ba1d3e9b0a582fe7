// HttpClient sends one HTTP request and reads the whole answer, by libcurl, within deadlines.
//
// Rules:   connections are kept for the next request, at most `connections_max` at once; callers
//          wait for one. TLS is verified, always. No redirection is followed. Proxies come from
//          the environment, as libcurl reads it (https_proxy, no_proxy, ..).
//          Headers are bounded by 64 KB in all, the body by the caller; an error's body by 64 KB,
//          of which nothing is kept if it is longer.
//          A request with a body is sent once: libcurl would repeat it on another connection, and
//          the answer to the second would hide that of the first.
// Calls block; any thread, many at once. No text holds a header or a query.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adapters/s3/signer.h"
#include "ports/store_attempts.h"

namespace baton::s3 {

// A part of an open file; it is read while it is sent.
struct FileSlice {
    int file = -1;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

struct HttpRequest {
    std::string method;
    std::string url;
    std::vector<HttpHeader> headers;
    std::variant<std::monostate, std::string_view, FileSlice> body;
    std::uint64_t body_max = 64 << 10;  // of the answer, if it is a success
    bool through_proxy = true;          // false: straight to the address, whatever the environment
    bool once = false;                  // not repeated on another connection, although bodiless
};

struct HttpAnswer {
    int status = 0;
    std::vector<HttpHeader> headers;  // names in lower case
    std::string body;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;

    // Empty: it has none of that name.
    [[nodiscard]] std::string_view header(std::string_view name) const;
};

struct HttpFailure {
    AttemptFailure failure;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
};

using HttpOutcome = std::variant<HttpAnswer, HttpFailure>;

class HttpClient {
public:
    // `authorities` is a file of certificates to trust instead of the system's; empty: the
    // system's.
    HttpClient(std::size_t connections_max, std::string authorities);
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    [[nodiscard]] HttpOutcome exchange(const HttpRequest& request, const AttemptCall& call);

private:
    class Line;  // one connection, or none yet

    [[nodiscard]] std::unique_ptr<Line> take(const AttemptCall& call);
    void give_back(std::unique_ptr<Line> line);

    const std::size_t connections_max_;
    const std::string authorities_;
    std::mutex mutex_;
    std::condition_variable freed_;
    std::size_t in_use_ = 0;
    std::vector<std::unique_ptr<Line>> free_;  // the newest last: it is the warmest
};

}  // namespace baton::s3
