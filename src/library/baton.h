// Baton in your program: a coordinator on one catalog file, and a worker, without a server.
//
//     auto baton = baton::Coordinator::open({.data = "/var/lib/mine"}); if (!baton) { /*
//     baton.error() has the reason and the way out */ } auto answer = (*baton)->execute("SELECT ..
//     INTO ..", {.until = Wait::Until::ended});
//
// Everything is said in SQL, as in the shell: see docs/ and `baton shell --help`. One process at a
// time holds a catalog; another is refused with catalog_in_use.
//
// Durable:  what was answered with success survives a crash and the loss of power.
// Threads:  a Coordinator may be used from any threads. A Conversation, a Subscription and a
//           RowStream are used by one thread at a time, and end before their Coordinator.
// Errors:   are values (base/error.h): a stable code, a message, the place in the text, a hint.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/wait.h"

namespace baton {
class ResultStreams;  // ports/result_streams.h
class Transport;      // ports/transport.h
}  // namespace baton

namespace baton::embedded {

struct Options {
    std::string data;                    // a directory; the catalog is a file in it
    bool create = true;                  // make the directory and the catalog if they are not there
    std::string principal = "embedded";  // who is said to ask, in the log of statements
    // A worker in this process, for sources and sinks that name none, and the network to others.
    // Without it, and without a transport, queries stay PENDING.
    bool worker = true;
    // Where its sources and sinks may open files: all that this program may, but for the catalog.
    std::vector<std::string> files = {"/"};
    // Hosts that they may connect to (HOST or HOST:PORT): everything but link-local addresses.
    std::vector<std::string> connect_to = {"*"};
    // How workers, and the rows for stream(), are reached instead; both outlive the coordinator.
    Transport* transport = nullptr;
    ResultStreams* results = nullptr;
};

// Values as text; none is NULL.
using Row = std::vector<std::optional<std::string>>;

// The outcome of one statement.
struct Answer {
    std::string statement;             // its kind: "CREATE SINK", "SHOW"
    std::string name;                  // of what was created, dropped, ..; if it has one
    std::optional<std::uint64_t> id;   // of a query or physical source that was created
    bool changed = false;              // false: it was so already, or it was a question
    std::vector<std::string> columns;  // of rows
    std::vector<Row> rows;
};

struct Answers {
    std::vector<Answer> done;    // the statements before the error, or all of them
    std::optional<Error> error;  // of the statement after them, or of waiting for the last of them
};

// All rows at first, and again if too much was missed; then each change.
struct Event {
    enum class Kind : std::uint8_t { snapshot, created, updated, dropped };
    Kind kind = Kind::snapshot;
    std::uint64_t revision = 0;
    std::vector<Row> rows;  // of a snapshot; else one
};

class Subscription {
public:
    ~Subscription();
    Subscription(Subscription&&) noexcept;
    Subscription& operator=(Subscription&&) = delete;

    [[nodiscard]] std::vector<std::string> columns() const;
    // Waits for news until the time is over; none: nothing happened.
    [[nodiscard]] Result<std::vector<Event>> next(std::chrono::milliseconds patience);
    // Makes a next() under way return. From any thread.
    void interrupt();

private:
    friend class Coordinator;
    struct Inside;
    explicit Subscription(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

// The rows of a SELECT over streams, as they arrive. Its query ends with it, and a client that does
// not ask for more holds the sources back.
class RowStream {
public:
    ~RowStream();
    RowStream(RowStream&&) noexcept;
    RowStream& operator=(RowStream&&) = delete;

    struct Rows {
        std::vector<Row> rows;
        bool ended = false;  // these are the last
    };

    [[nodiscard]] const std::vector<std::string>& columns() const;
    // Waits for rows until the time is over; none and no end: nothing came. An error is the end,
    // and says why the query could not go on.
    [[nodiscard]] Result<Rows> next(std::chrono::milliseconds patience);
    // Makes a next() under way return. From any thread.
    void interrupt();

private:
    friend class Coordinator;
    struct Inside;
    explicit RowStream(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

// Statements that may form a transaction: BEGIN; ..; COMMIT.
class Conversation {
public:
    ~Conversation();  // an open transaction is rolled back
    Conversation(Conversation&&) noexcept;
    Conversation& operator=(Conversation&&) = delete;

    // Runs the statements in order and stops at the first error. Text that cannot be parsed runs
    // not even in part. WATCH is for Coordinator::watch, and a SELECT over streams without INTO for
    // Coordinator::stream.
    [[nodiscard]] Answers execute(std::string_view sql, const Wait& wait = {});

private:
    friend class Coordinator;
    struct Inside;
    explicit Conversation(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

class Coordinator {
public:
    // Fails with the errors of the catalog (6xxx): no permission, in use, damaged, of a newer
    // Baton.
    [[nodiscard]] static Result<std::unique_ptr<Coordinator>> open(const Options& options);
    ~Coordinator();  // as close()
    Coordinator(const Coordinator&) = delete;
    Coordinator& operator=(const Coordinator&) = delete;

    // A conversation of its own for these statements alone.
    [[nodiscard]] Answers execute(std::string_view sql, const Wait& wait = {});
    [[nodiscard]] Conversation converse();
    // "WATCH SHOW QUERIES", "WATCH SELECT name, state FROM baton.workers"
    [[nodiscard]] Result<Subscription> watch(std::string_view sql);
    // "SELECT id, value FROM readings WHERE value > 30.0", with LIMIT n if only so many are wanted
    [[nodiscard]] Result<RowStream> stream(std::string_view sql);

    // Answers what is waiting, then closes the catalog. Idempotent; nothing else may be called
    // after it.
    void close();

private:
    struct Inside;
    explicit Coordinator(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace baton::embedded

namespace baton {

using embedded::Coordinator;  // beside its parts, whose names are plain

}  // namespace baton
