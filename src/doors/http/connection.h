// Connection is one client of the server: requests one after the other, or one stream of events.
// Everything of it happens on the thread of the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "doors/desk/shares.h"
#include "doors/http/server.h"

namespace boost::asio {
class io_context;
namespace ssl {
class context;
}
}  // namespace boost::asio

namespace baton::http {

class Connection {
public:
    virtual ~Connection() = default;
    virtual void start() = 0;
    virtual void replied(Service::Answered answered) = 0;
    virtual void pump() = 0;  // there may be events
    // Ends it if it waits for a request or shows events; else when it has answered.
    virtual void end_when_idle() = 0;
    virtual void end_now() = 0;
    // Ends it unless a request of a known caller is under way. False: it stays.
    virtual bool gives_way() = 0;
    // Whether who follows events, or waits for an answer, may go on.
    virtual void reconsider() = 0;
};

// Whose streams have something. Many are rung for the same change: the thread of the server is
// woken once for all of them.
struct Bells {
    std::mutex mutex;
    std::vector<std::uint64_t> rung;  // connections
};

// Shared by connections. Used on the thread of the server, but for `posting` and `bells`.
struct ServerContext {
    boost::asio::io_context& io;
    boost::asio::ssl::context* tls;  // null: none
    Service& service;
    const ServerOptions& options;
    desk::Gauge& open;
    desk::Gauge& streams;
    std::map<std::uint64_t, std::shared_ptr<Connection>> connections;
    // With a request of a known caller, from its head to the end of its answer.
    std::shared_ptr<desk::Shares> busy;
    // Bytes of large bodies that are being read or served, also of clients that are gone.
    std::shared_ptr<desk::Shares> bodies;
    std::size_t replies_due = 0;  // requests under way, also of clients that are gone
    std::size_t lingering = 0;    // connections that have ended, and whose client has not
    std::uint64_t last_id = 0;
    bool closing = false;
    std::mutex posting{};  // held by other threads while they use `io`
    Bells bells{};
};

// The connection of this id may have events. Any thread.
void ring(const std::shared_ptr<ServerContext>& server, std::uint64_t id);

// Takes the socket over. It is among its connections until it ends.
void let_in(const std::shared_ptr<ServerContext>& server, int socket);

}  // namespace baton::http
