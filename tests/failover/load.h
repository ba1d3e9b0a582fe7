// Clients that make and drop things while coordinators come and go. Each speaks to any coordinator,
// goes on to the one that leads if it is told which, and keeps a ledger of what it was told: what
// was accepted must be so at the end, what was refused must not be, and of what nobody answered
// either may.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"

struct pg_conn;

namespace baton::failover {

enum class Told : std::uint8_t { done, refused, nothing };

// A connection to one of several coordinators. Used by one thread.
class Client {
public:
    // `addresses`: host:port of each coordinator.
    Client(std::vector<std::string> addresses, std::size_t first);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // Says it to the coordinator that leads, as far as can be known, until one takes it or refuses
    // it for good. `nothing`: somebody may have done it.
    [[nodiscard]] Told say(const std::string& statement);
    // Of the last refusal; 0: nobody could be asked.
    [[nodiscard]] unsigned last_refusal() const { return last_refusal_; }

private:
    using Deadline = std::chrono::steady_clock::time_point;
    struct Answer {
        bool sent = false;
        bool ok = false;
        unsigned number = 0;  // of an error, as docs/ERRORS.md has it; 0: none was told
        std::string text;
    };
    struct Finish {
        void operator()(pg_conn* conn) const;
    };
    [[nodiscard]] bool connect();
    [[nodiscard]] Answer ask(const std::string& statement);
    [[nodiscard]] bool wait(int events, Deadline deadline) const;
    void turn_to_next();
    void follow(const std::string& text);

    const std::vector<std::string> addresses_;
    std::size_t at_;
    std::unique_ptr<pg_conn, Finish> conn_;
    unsigned last_refusal_ = 0;
};

struct Tally {
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    std::uint64_t unanswered = 0;
    std::map<unsigned, std::uint64_t> refusals;  // by the number of the error
};

class Load {
public:
    Load(const std::vector<std::string>& addresses, std::size_t clients, std::uint64_t seed);
    ~Load();
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    // Ends the clients; the rest is for afterwards.
    void stop();
    [[nodiscard]] Tally tally() const;
    // What is not as clients were told, given what is there.
    [[nodiscard]] std::vector<std::string> differences(
        const std::vector<std::string>& sources, const std::vector<std::string>& queries) const;

    // When something was last accepted.
    [[nodiscard]] std::chrono::steady_clock::time_point last_done() const { return last_done_; }

private:
    enum class Fate : std::uint8_t { there, gone, either };
    struct Person {
        std::map<std::string, Fate> sources;
        std::map<std::string, Fate> queries;
        Tally tally;
        std::thread thread;
    };
    void run(Person& me, std::size_t number, std::vector<std::string> addresses,
             std::uint64_t seed);
    void act(Person& me, Client& client, Prng& prng, const std::string& new_name);
    void note(Person& me, const Client& client, Told told);

    std::atomic<bool> over_ = false;
    std::atomic<std::chrono::steady_clock::time_point> last_done_{};
    std::vector<std::unique_ptr<Person>> people_;
};

}  // namespace baton::failover
