// PgConnection is one client's connection: a socket, with or without TLS, around a
// pgwire::Connection and a Runner. It moves bytes and performs effects, and has no opinions.
//
// Everything but the constructor runs on its strand. It lives as long as an operation of it is
// under way, on the network or on the desk, and tells the ServerContext when it ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include "doors/desk/access.h"
#include "doors/desk/shares.h"
#include "doors/pg/server/runner.h"
#include "doors/pg/wire/connection.h"
#include "ports/log.h"

namespace baton::pgserver {

using Tcp = boost::asio::ip::tcp;
using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
using Socket = boost::asio::basic_stream_socket<Tcp, Strand>;
using Timer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                      boost::asio::wait_traits<std::chrono::steady_clock>, Strand>;

// The surroundings of all links. Any thread.
class ServerContext {
public:
    virtual ~ServerContext() = default;
    virtual void cancel(std::uint32_t process, std::uint32_t key) = 0;
    [[nodiscard]] virtual std::optional<pgwire::ScramVerifier> verifier(
        const std::string& user) = 0;
    // Counts a login from `peer`, "127.0.0.1:54321", as this user that succeeded; and one that
    // failed.
    [[nodiscard]] virtual std::variant<desk::Principal, pgwire::Report> admit(
        std::uint32_t process, const std::string& user, const std::string& peer) = 0;
    // How long who failed to prove it is to wait for the answer.
    [[nodiscard]] virtual Duration refused(const std::string& user, const std::string& peer) = 0;
    // Why it may not even try; none: it may.
    [[nodiscard]] virtual std::optional<pgwire::Report> hold_up(const std::string& user,
                                                                const std::string& peer) = 0;
    [[nodiscard]] virtual bool still_admits(const desk::Principal& who) = 0;
    virtual void proves(std::uint32_t process) = 0;  // it has begun to
    virtual void left(std::uint32_t process) = 0;
    virtual void warn(std::string_view message, const std::vector<LogField>& fields) = 0;
};

struct PgConnectionOptions {
    pgwire::ConnectionOptions connection;
    std::shared_ptr<boost::asio::ssl::context> tls;  // null: none
    desk::Desk* desk = nullptr;
    desk::DoorAnswers* answers = nullptr;  // outlives it
    std::shared_ptr<desk::Shares> kept;    // bytes that clients make us keep, beyond a little
    Duration login_timeout;
    Duration startup_idle_timeout;
};

class PgConnection : public std::enable_shared_from_this<PgConnection> {
public:
    PgConnection(ServerContext& context, Socket socket, PgConnectionOptions options);
    ~PgConnection();
    PgConnection(const PgConnection&) = delete;
    PgConnection& operator=(const PgConnection&) = delete;

    [[nodiscard]] std::uint32_t key() const { return options_.connection.key; }

    // From any thread:
    void start();
    void cancel();
    void leave(bool at_once);  // when nothing runs, or now
    void give_way();           // at once and without a word, unless it has logged in
    void reconsider();         // whether its client may stay

private:
    using Event = pgwire::connection::Event;
    using Error = boost::system::error_code;

    void step(Event event);
    void perform(pgwire::connection::Effect effect);
    void look_up(const std::string& user);
    void keep_waiting(Duration time);
    void open_session(const pgwire::connection::OpenSession& session);
    void after_steps();
    [[nodiscard]] bool keeps_too_much();

    void read();
    void on_read(const Error& error, std::size_t bytes);
    void write();
    void on_written(const Error& error, std::size_t bytes);
    void shake_hands();
    void hang_up();
    void discard();  // what still comes, until the client closes, too
    void close();
    void watch_login();
    void watch_transaction();  // that stays open while the client says nothing

    template <class Use>
    void with_stream(Use use) {
        if (tls_) {
            use(*tls_);
        } else {
            use(socket_);
        }
    }

    ServerContext& context_;
    const PgConnectionOptions options_;
    Socket socket_;
    const std::string peer_;
    std::optional<boost::asio::ssl::stream<Socket&>> tls_;  // once it was begun
    Timer timer_;                                           // of the login, then of the end
    Timer idle_timer_;                                      // of a transaction
    bool idles_ = false;                                    // in one
    Timer hold_;                                            // of an answer that is to come late
    std::chrono::steady_clock::time_point login_until_;
    std::chrono::steady_clock::time_point heard_;

    pgwire::Connection machine_;
    std::optional<desk::Principal> who_;  // once it was admitted
    std::optional<desk::Share> kept_;     // then, but for coordinators
    std::shared_ptr<Runner> runner_;
    std::deque<Event> events_;
    bool stepping_ = false;

    std::array<char, 16'384> input_{};
    bool reading_ = false;  // an operation is under way
    bool reads_ = true;     // the connection wants input
    std::vector<std::string> waiting_;
    std::vector<std::string> sending_;

    bool tls_wanted_ = false;  // when what is waiting is written
    bool logged_in_ = false;
    bool proves_ = false;
    bool leaving_ = false;
    bool vanished_ = false;
    bool hurried_ = false;  // the end has a deadline
    bool held_ = false;     // nothing is written before hold_ is over
    enum class Ending : std::uint8_t { no, wanted, under_way, closed } ending_ = Ending::no;
};

}  // namespace baton::pgserver
