// HttpPeer is a small HTTP server on loopback for tests: it answers each request as a test says,
// also as no good server would: half a body, a header without an end, silence.
//
//     HttpPeer peer([](const PeerRequest& request) { return answer_of(200, {}, "hello"); });
//     .. peer.url() ..
//
// The script is called from threads of the peer, one call at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace baton::testing {

struct PeerRequest {
    std::string method;
    std::string target;                          // as it was sent: "/bucket/a%20b?x=y"
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
};

struct PeerAnswer {
    std::string bytes;  // as they go over the line
    enum class Then : std::uint8_t {
        next,     // reads the next request of the connection
        close,    // ends the connection
        silence,  // keeps it open and says nothing more
        forever,  // sends the same bytes again, until the client ends the connection
    };
    Then then = Then::next;
};

using PeerHeaders = std::vector<std::pair<std::string, std::string>>;

// A whole answer, with its length.
[[nodiscard]] PeerAnswer answer_of(int status, const PeerHeaders& headers, const std::string& body);
[[nodiscard]] PeerAnswer error_of(int status, const std::string& code,
                                  const std::string& message = "");

class HttpPeer {
public:
    using Script = std::function<PeerAnswer(const PeerRequest&)>;

    explicit HttpPeer(Script script);
    ~HttpPeer();
    HttpPeer(const HttpPeer&) = delete;
    HttpPeer& operator=(const HttpPeer&) = delete;

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::vector<PeerRequest> requests() const;
    [[nodiscard]] std::size_t connections() const { return connections_; }

private:
    void run();
    void serve(int socket);
    // False: the connection is over.
    [[nodiscard]] bool read_request(int socket, std::string& unread, PeerRequest& request) const;
    [[nodiscard]] bool wait_for(int socket) const;

    Script script_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> over_ = false;
    std::atomic<std::size_t> connections_ = 0;
    mutable std::mutex mutex_;
    std::vector<PeerRequest> requests_;
    std::list<std::thread> threads_;
    std::thread acceptor_;  // last: it uses everything above
};

}  // namespace baton::testing
