// Relay stands between clients and a server on this machine and passes on what they say, until a
// test wants it otherwise: a connection that is there and carries nothing, an answer that is lost.
//
//     Relay relay(server.port());
//     const auto database = open_server_database(kind, relay.instead_in(url));
//     relay.fall_silent(Relay::Whom::all);
//
// It looks for texts in the bytes, so nothing may be encrypted. From any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace baton::testing {

class Relay {
public:
    explicit Relay(int server_port);
    ~Relay();
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    // The URL with the relay in the place of the server.
    [[nodiscard]] std::string instead_in(const std::string& url) const;

    // From now on nothing passes and nothing is closed, as with a cable that was pulled. Bytes that
    // are sent meanwhile are kept, and passed on when that is over.
    enum class Whom : std::uint8_t {
        all,         // new connections too
        those_here,  // new connections are carried as before
    };
    void fall_silent(Whom whom);
    void speak_again();

    // The next time that a client sends this text, its connection ends: before the server was sent
    // it, or when the server has answered, which the client does not hear of.
    enum class Loss : std::uint8_t { question, answer };
    void cut_at(const std::string& text, Loss loss);
    // Whether that has happened.
    [[nodiscard]] bool has_cut() const;

    // From now on the server says `other` where it said `text`, which is as long.
    void say_instead(const std::string& text, const std::string& other);

    // How often a client has begun to speak after an answer: what crossed the network and back.
    [[nodiscard]] std::uint64_t round_trips() const { return round_trips_; }

private:
    struct Pair {
        int client = -1;  // none: it was cut off, and the server's bytes are dropped
        int server = -1;
        bool silent = false;
        bool answered = true;  // who spoke last was the server
        bool doomed = false;   // its client is cut off at the server's next word
    };
    struct Cut {
        std::string text;
        Loss loss = Loss::question;
    };

    void run();
    void accept_one();
    // False: the pair is over.
    [[nodiscard]] bool pass_from_client(Pair& pair);
    [[nodiscard]] bool pass_from_server(Pair& pair);
    static void close(const Pair& pair);
    void wake() const;

    const int server_port_;
    int listener_ = -1;
    int port_ = 0;
    int wakes_[2] = {-1, -1};
    std::atomic<std::uint64_t> round_trips_ = 0;

    mutable std::mutex mutex_;
    bool over_ = false;
    bool silent_ = false;  // for new connections
    std::optional<Cut> cut_;
    std::string text_;  // empty: nothing is said instead of anything
    std::string other_;
    std::list<Pair> pairs_;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::testing
