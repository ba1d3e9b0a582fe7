// doors: what a request costs through each door, over sockets, beside PostgreSQL.
//
//   read     a SELECT of one row by its name, of 1,000
//   create   CREATE SINK, durable; in PostgreSQL an INSERT of about the same size, durable as well
//
// The server is a process of its own, and CPU time is the server's alone. Through pgwire the client
// is pgbench, for both; through HTTP it is a loop here, with connections that are kept.
//
//     bench_doors [--tiny] [clients..]
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/harness.h"
#include "bench/postgres_peer.h"
#include "bench/sockets.h"
#include "doors/http/server.h"
#include "doors/pg/server/server.h"

namespace baton::bench {
namespace {

constexpr unsigned kRows = 1'000;

std::string sink_statement(const std::string& name) {
    return "CREATE SINK " + name +
           " (sensor UINT64 NOT NULL, celsius FLOAT64, ts UINT64 NOT NULL) TYPE File SET ("
           "'w0' AS \"SINK\".\"HOST\", '/data/" +
           name + ".csv' AS \"SINK\".FILE_PATH, 'CSV' AS OUTPUT_FORMATTER.\"TYPE\")";
}

// ---- the server ---------------------------------------------------------------------------------

struct Ports {
    std::uint16_t pgwire = 0;
    std::uint16_t http = 0;
};

// Never returns: the process is killed.
void serve(const std::string& path, int tell) {
    const auto catalog = open_catalog(path);
    run_all(*catalog->coordinator, "CREATE WORKER 'w:9090' SET ('w0' AS NAME)");
    std::string sinks = "BEGIN;";
    for (unsigned i = 0; i < kRows; ++i) sinks += sink_statement("row" + std::to_string(i)) + ";";
    run_all(*catalog->coordinator, sinks + "COMMIT");
    desk::Desk desk(*catalog->coordinator);
    desk::Metrics metrics;
    const desk::Access access;
    http::ServerOptions http_options;
    http_options.requests_per_connection_max = 1'000'000'000;
    const auto http = must(http::Server::open(desk, access, metrics, http_options));
    pgserver::ServerOptions options;
    options.port = 0;
    const auto pgwire = must(pgserver::Server::open(desk, access, metrics, options));
    const Ports ports{.pgwire = pgwire->port(), .http = http->port()};
    if (::write(tell, &ports, sizeof ports) != sizeof ports) give_up("nobody listens");
    for (;;) ::pause();
}

class Baton {
public:
    explicit Baton(const std::string& path) : process_([&] { serve(path, pipe_[1]); }) {
        ::close(pipe_[1]);
        if (::read(pipe_[0], &ports_, sizeof ports_) != sizeof ports_) give_up("it did not start");
    }
    [[nodiscard]] const Ports& ports() const { return ports_; }
    [[nodiscard]] double cpu_seconds() const { return cpu_seconds_of(process_.pid()); }

private:
    static std::array<int, 2> opened() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) give_up("cannot make a pipe");
        return ends;
    }
    std::array<int, 2> pipe_ = opened();
    Forked process_;
    Ports ports_;
};

// ---- clients of HTTP ----------------------------------------------------------------------------

std::string post_of(const std::string& statement) {
    std::string body = R"({"sql": ")";
    for (const char c : statement) {
        if (c == '"') body += '\\';
        body += c;
    }
    body += "\"}";
    return "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Whether a whole answer has come; ends the program if it is not a good one.
bool is_whole(std::string_view answer) {
    const std::size_t head = answer.find("\r\n\r\n");
    if (head == std::string_view::npos) return false;
    if (!answer.starts_with("HTTP/1.1 200")) give_up(std::string(answer));
    if (const std::size_t at = answer.find("Content-Length: "); at < head) {
        return answer.size() == head + 4 + std::stoul(std::string(answer.substr(at + 16, 12)));
    }
    return answer.ends_with("0\r\n\r\n");  // in chunks
}

// Clients that each ask one after the other, all on this thread.
class HttpClients {
public:
    HttpClients(std::uint16_t port, unsigned count) : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
        for (unsigned i = 0; i < count; ++i) {
            clients_.push_back({.socket = connect_to(port), .heard = {}, .asked = {}});
            epoll_event wanted{.events = EPOLLIN, .data = {.u32 = i}};
            ::epoll_ctl(*epoll_, EPOLL_CTL_ADD, *clients_.back().socket, &wanted);
        }
    }

    Measured run(const std::function<std::string()>& request, double seconds) {
        Measured measured;
        const auto start = Clock::now();
        const auto end = start + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
        for (Client& client : clients_) ask(client, request());
        std::size_t under_way = clients_.size();
        std::array<epoll_event, 64> ready{};
        while (under_way > 0) {
            const int count = ::epoll_wait(*epoll_, ready.data(), ready.size(), 10'000);
            if (count <= 0) give_up("no answer for ten seconds");
            for (int i = 0; i < count; ++i) {
                Client& client = clients_[ready.at(static_cast<std::size_t>(i)).data.u32];
                if (!hear(client)) continue;
                const auto now = Clock::now();
                measured.latencies.add(1e6 * Seconds(now - client.asked).count());
                if (now < end) {
                    ask(client, request());
                } else {
                    under_way -= 1;
                }
            }
        }
        measured.seconds = Seconds(Clock::now() - start).count();
        measured.operations = measured.latencies.count();
        return measured;
    }

private:
    struct Client {
        Descriptor socket;
        std::string heard;
        Clock::time_point asked;
    };

    static void ask(Client& client, const std::string& request) {
        client.asked = Clock::now();
        if (!write_whole(*client.socket, request)) give_up("it hung up");
    }
    static bool hear(Client& client) {
        std::array<char, 8'192> bytes{};
        const auto size = ::recv(*client.socket, bytes.data(), bytes.size(), 0);
        if (size <= 0) give_up("it hung up");
        client.heard.append(bytes.data(), static_cast<std::size_t>(size));
        if (!is_whole(client.heard)) return false;
        client.heard.clear();
        return true;
    }

    Descriptor epoll_;
    std::vector<Client> clients_;
};

// ---- the benchmark ------------------------------------------------------------------------------

Measured with_cpu(const std::function<double()>& cpu, const std::function<Measured()>& turn) {
    const double before = cpu();
    Measured measured = turn();
    measured.cpu = cpu() - before;
    return measured;
}

// A write of 8 KB and fdatasync, one after the other: how busy the disk is.
double sync_us(const std::string& path) {
    Latencies latencies;
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    const std::string page(8'192, 'x');
    for (int i = 0; i < 200; ++i) {
        const auto before = Clock::now();
        if (::pwrite(*file, page.data(), page.size(), 0) < 0 || ::fdatasync(*file) != 0) {
            give_up("cannot write to " + path);
        }
        latencies.add(1e6 * Seconds(Clock::now() - before).count());
    }
    return latencies.percentile(50);
}

class Benchmark {
public:
    explicit Benchmark(const Arguments& arguments)
        : tiny_(arguments.tiny), scratch_(arguments), baton_(scratch_ / "catalog.db") {
        ::mkdir((scratch_ / "pgbench").c_str(), 0700);
        if (!has_postgres()) {
            std::printf("PostgreSQL 15 is not installed: pgwire and the peer are left out\n\n");
        } else if (!tiny_) {
            postgres_.emplace(scratch_ / "postgres");
            postgres_->run(
                "CREATE TABLE sinks (name text PRIMARY KEY, definition text NOT NULL);"
                "INSERT INTO sinks SELECT 'ROW' || i, repeat('x', 160) "
                "FROM generate_series(0, " +
                std::to_string(kRows - 1) + ") AS i; VACUUM ANALYZE sinks");
        }
        std::printf("%s, write and fdatasync of 8 KB %s in the middle\n\n", load_now().c_str(),
                    milliseconds(sync_us(scratch_ / "sync")).c_str());
    }

    void run(const std::vector<unsigned>& clients) {
        Table table({"", "clients", "a second", "best", "p50", "p99", "CPU us each"});
        for (const unsigned count : clients) {
            const std::string statement = "SELECT name FROM baton.sinks WHERE name = 'ROW500'";
            compare(
                "read", count, statement + ";", [&] { return post_of(statement); },
                "SELECT name FROM sinks WHERE name = 'ROW500';", table);
        }
        const std::string number = "\\set n random(1, 9000000000000000)\n";
        for (const unsigned count : clients) {
            compare(
                "create", count, number + sink_statement("s:n") + ";",
                [this] { return post_of(sink_statement("h" + std::to_string(next_++))); },
                number + "INSERT INTO sinks VALUES ('s:n', repeat('x', 160));", table);
        }
        table.print();
    }

private:
    void compare(const std::string& what, unsigned clients, const std::string& script,
                 const std::function<std::string()>& request, const std::string& peer_script,
                 Table& table) {
        const unsigned seconds = tiny_ ? 1 : 3;
        const auto cpu = [this] { return baton_.cpu_seconds(); };
        const auto by_pgbench = [&, clients](std::uint16_t port, const std::string& of) {
            return pgbench(scratch_ / "pgbench",
                           {.port = port, .script = of, .clients = clients, .seconds = seconds});
        };
        HttpClients http(baton_.ports().http, clients);
        std::vector<Contender> contenders = {
            {"HTTP", [&] {
                 return with_cpu(cpu, [&] { return http.run(request, tiny_ ? 0.1 : seconds); });
             }}};
        if (has_postgres()) {
            contenders.push_back({"pgwire", [&] {
                                      return with_cpu(cpu, [&] {
                                          return by_pgbench(baton_.ports().pgwire, script);
                                      });
                                  }});
        }
        if (postgres_) {
            contenders.push_back(
                {"PostgreSQL", [&] {
                     return with_cpu([&] { return postgres_->cpu_seconds(); },
                                     [&] { return by_pgbench(postgres_->port(), peer_script); });
                 }});
        }
        take_turns(contenders, tiny_ ? 1 : 3);
        for (const Contender& contender : contenders) {
            Latencies latencies = contender.latencies();
            table.add({what + ", " + contender.name, text(clients), text(contender.median_rate()),
                       text(contender.best_rate()), milliseconds(latencies.percentile(50)),
                       milliseconds(latencies.percentile(99)), text(contender.cpu_us())});
        }
    }

    const bool tiny_;
    const Scratch scratch_;
    Baton baton_;  // before there are threads
    std::optional<PostgresPeer> postgres_;
    std::uint64_t next_ = 0;
};

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    using namespace baton::bench;  // NOLINT
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &most);
    const Arguments arguments = arguments_of(count, values);
    std::vector<unsigned> clients = {1, 32, 256};
    if (arguments.tiny) clients = {1, 8};
    if (!arguments.rest.empty()) {
        clients.clear();
        for (const std::string& text : arguments.rest) {
            clients.push_back(static_cast<unsigned>(std::stoul(text)));
        }
    }
    Benchmark(arguments).run(clients);
}
