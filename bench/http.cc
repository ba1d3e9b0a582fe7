// http: the HTTP door over sockets, with its clients in the same process.
//
//   events     many clients follow the same changes: how long after the request for a change, with
//              its commit and fsync, each of them has it; and how long after the commit the last
//              has
//   requests   clients with a connection each ask one after the other
//   crowd      connections that ask once and stay, then leave together: what of memory and
//              descriptors they take, and give back
//
//     http [clients] [changes a second] [seconds]
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/system/memory.h"
#include "bench/harness.h"
#include "coordinator/sessions/session.h"
#include "doors/http/server.h"

namespace baton::bench {
namespace {

int connect_to(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        give_up("cannot connect");
    }
    return socket;
}

void send_all(int socket, std::string_view text) {
    while (!text.empty()) {
        const auto sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent <= 0) give_up("cannot send");
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
}

// Clients that follow the workers, all on one thread.
class Followers {
public:
    Followers(std::uint16_t port, unsigned count, std::size_t changes)
        : asked_(changes + 2),
          committed_(changes + 2),
          have_it_(changes + 2),
          epoll_(::epoll_create1(0)) {
        for (unsigned i = 0; i < count; ++i) {
            const int socket = connect_to(port);
            send_all(socket, "GET /v1/workers/watch HTTP/1.1\r\nHost: localhost\r\n\r\n");
            epoll_event wanted{.events = EPOLLIN, .data = {.u32 = i}};
            ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &wanted);
            sockets_.push_back(socket);
            tails_.emplace_back();
        }
        thread_ = std::thread([this] { read(); });
    }
    Followers(const Followers&) = delete;
    Followers& operator=(const Followers&) = delete;
    ~Followers() {
        closed_ = true;
        thread_.join();
        for (const int socket : sockets_) ::close(socket);
        ::close(epoll_);
    }

    void asked(std::uint64_t revision) { asked_.at(revision) = Clock::now(); }
    void committed(std::uint64_t revision) { committed_.at(revision) = Clock::now(); }
    [[nodiscard]] std::uint64_t events() const { return events_; }
    [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }
    // Of the thread that plays them.
    [[nodiscard]] double cpu_seconds() const {
        clockid_t clock = 0;
        timespec used{};
        ::pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock);
        ::clock_gettime(clock, &used);
        return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
    }
    // To be asked when all have everything.
    [[nodiscard]] Latencies to_the_last() const {
        Latencies all;
        for (std::size_t i = 0; i < have_it_.size(); ++i) {
            if (have_it_[i] < sockets_.size()) continue;
            all.add(1e6 * std::max(0.0, Seconds(last_.at(i) - committed_[i].load()).count()));
        }
        return all;
    }
    Latencies latencies;

private:
    void read() {
        std::array<epoll_event, 256> ready{};
        std::array<char, 65'536> bytes{};
        while (!closed_) {
            const int count = ::epoll_wait(epoll_, ready.data(), ready.size(), 50);
            for (int i = 0; i < count; ++i) {
                const auto client = ready.at(static_cast<std::size_t>(i)).data.u32;
                const auto size = ::recv(sockets_[client], bytes.data(), bytes.size(), 0);
                if (size > 0) take(client, {bytes.data(), static_cast<std::size_t>(size)});
            }
        }
    }
    void take(std::uint32_t client, std::string_view text) {
        std::string& tail = tails_[client];
        tail += text;
        const auto now = Clock::now();
        std::size_t at = 0;
        for (std::size_t end = 0; (end = tail.find("\n\n", at)) != std::string::npos;) {
            const std::string_view event = std::string_view(tail).substr(at, end - at);
            at = end + 2;
            const std::size_t id = event.find("\nid: ");
            if (id == std::string_view::npos) continue;
            if (event.find("event: snapshot") != std::string_view::npos) {
                snapshots_ += 1;
                continue;
            }
            std::uint64_t revision = 0;
            std::from_chars(event.data() + id + 5, event.data() + event.size(), revision);
            events_ += 1;
            if (revision < asked_.size()) {
                latencies.add(1e6 * Seconds(now - asked_[revision].load()).count());
                have_it_[revision] += 1;
                last_[revision] = now;
            }
        }
        tail.erase(0, at);
    }

    std::vector<std::atomic<Clock::time_point>> asked_;
    std::vector<std::atomic<Clock::time_point>> committed_;
    std::vector<std::size_t> have_it_;
    std::map<std::uint64_t, Clock::time_point> last_;
    const int epoll_;
    std::vector<int> sockets_;
    std::vector<std::string> tails_;
    std::atomic<std::uint64_t> events_ = 0;
    std::atomic<std::uint64_t> snapshots_ = 0;
    std::atomic<bool> closed_ = false;
    std::thread thread_;
};

struct Load {
    unsigned clients = 1'000;
    unsigned rate = 100;
    unsigned seconds = 10;
};

void follow(coordinator::CoordinatorRuntime& coordinator, std::uint16_t port, const Load& load) {
    coordinator::Session session(coordinator, "bench");
    const std::uint64_t changes = std::uint64_t{load.rate} * load.seconds;
    std::uint64_t revision = must(coordinator.snapshot()).revision().value();
    Followers followers(port, load.clients, revision + changes);
    while (followers.snapshots() < load.clients) std::this_thread::sleep_for(Seconds(0.01));
    const double cpu = cpu_seconds();
    const double cpu_of_clients = followers.cpu_seconds();
    const auto began = Clock::now();
    for (std::uint64_t i = 0; i < changes; ++i) {
        std::this_thread::sleep_until(began + std::chrono::microseconds(1'000'000 * i / load.rate));
        followers.asked(++revision);
        const auto done = session.execute(i % 2 == 0 ? "DRAIN WORKER w" : "RESUME WORKER w");
        followers.committed(revision);
        if (done.error) give_up(to_string(*done.error));
    }
    const auto deadline = Clock::now() + Seconds(10);
    while (followers.events() < changes * load.clients && Clock::now() < deadline) {
        std::this_thread::sleep_for(Seconds(0.01));
    }
    const double took = Seconds(Clock::now() - began).count();
    const double used = cpu_seconds() - cpu;
    if (followers.events() < changes * load.clients) give_up("events are missing");
    const double theirs = followers.cpu_seconds() - cpu_of_clients;
    const auto events = static_cast<double>(followers.events());
    Latencies last = followers.to_the_last();
    Table table({"clients", "changes/s", "events/s", "p50", "p99", "max", "last p50", "last p99",
                 "CPU us an event", "of clients", "cores"});
    table.add({text(load.clients), text(load.rate), text(events / took),
               milliseconds(followers.latencies.percentile(50)),
               milliseconds(followers.latencies.percentile(99)),
               milliseconds(followers.latencies.percentile(100)), milliseconds(last.percentile(50)),
               milliseconds(last.percentile(99)), text(1e6 * (used - theirs) / events, 1),
               text(1e6 * theirs / events, 1), text(used / took, 2)});
    table.print();
}

void ask(std::uint16_t port, const std::string& name, const std::string& request, unsigned clients,
         double seconds, Table& table) {
    std::vector<int> sockets;
    for (unsigned i = 0; i < clients; ++i) sockets.push_back(connect_to(port));
    Measured measured = run_clients(clients, Seconds(seconds), [&](unsigned client) {
        send_all(sockets[client], request);
        std::array<char, 4'096> bytes{};
        if (::recv(sockets[client], bytes.data(), bytes.size(), 0) <= 0) give_up("it hung up");
    });
    for (const int socket : sockets) ::close(socket);
    table.add({name, text(clients), text(measured.rate()),
               milliseconds(measured.latencies.percentile(50)),
               milliseconds(measured.latencies.percentile(99)), text(measured.cpu_us(), 1)});
}

struct Held {
    std::size_t descriptors = 0;
    double megabytes = 0;
};
Held held_now() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return {.descriptors = static_cast<std::size_t>(std::distance(begin(all), end(all))),
            .megabytes = static_cast<double>(resident_bytes()) / 1e6};
}

// Half of the descriptors are those of the clients, who are in this process.
void crowd(std::uint16_t port, unsigned clients, desk::Gauge& open) {
    Table table({"connections", "descriptors", "MB resident", "s"});
    const auto note = [&, began = Clock::now()](const std::string& when) {
        const Held now = held_now();
        table.add({when, text(static_cast<double>(now.descriptors)), text(now.megabytes, 1),
                   text(Seconds(Clock::now() - began).count(), 2)});
    };
    note("0, before");
    for (int round = 0; round < 3; ++round) {
        std::vector<int> sockets;
        std::array<char, 4'096> bytes{};
        for (unsigned i = 0; i < clients; ++i) {
            sockets.push_back(connect_to(port));
            send_all(sockets.back(), "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        }
        for (const int socket : sockets) {
            if (::recv(socket, bytes.data(), bytes.size(), 0) <= 0) give_up("it hung up");
        }
        note(std::to_string(open.value()));
        for (const int socket : sockets) ::close(socket);
        const auto deadline = Clock::now() + Seconds(30);
        while (open.value() > 0 && Clock::now() < deadline) {
            std::this_thread::sleep_for(Seconds(0.01));
        }
        std::this_thread::sleep_for(Seconds(0.1));
        note(std::to_string(open.value()) + ", after");
    }
    table.print();
}

void run(const Arguments& arguments) {
    const Scratch scratch(arguments);
    const auto catalog = open_catalog(scratch / "catalog.db");
    run_all(*catalog->coordinator, "CREATE WORKER 'w:9090' SET ('W' AS NAME)");
    desk::Desk desk(*catalog->coordinator);
    const desk::Access access;
    desk::Metrics metrics;
    http::ServerOptions options;
    options.requests_per_connection_max = 1'000'000'000;
    options.connections_max = 20'000;
    const auto server = must(http::Server::open(desk, access, metrics, options));

    Load load;
    if (arguments.tiny) load = {.clients = 10, .rate = 100, .seconds = 1};
    const auto argument = [&](std::size_t i, unsigned& value) {
        if (i < arguments.rest.size()) value = static_cast<unsigned>(std::stoul(arguments.rest[i]));
    };
    argument(0, load.clients);
    argument(1, load.rate);
    argument(2, load.seconds);
    follow(*catalog->coordinator, server->port(), load);

    const double seconds = arguments.tiny ? 0.1 : 3;
    const std::string body = R"({"sql": "SHOW WORKERS"})";
    Table table({"request", "clients", "a second", "p50", "p99", "CPU us each"});
    for (const unsigned clients : {1U, 16U}) {
        ask(server->port(), "GET /healthz", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            clients, seconds, table);
        ask(server->port(), "GET /v1/workers/W",
            "GET /v1/workers/W HTTP/1.1\r\nHost: localhost\r\n\r\n", clients, seconds, table);
        ask(server->port(), "POST /v1/sql SHOW",
            "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            "application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body,
            clients, seconds, table);
    }
    table.print();

    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    const auto room = static_cast<unsigned>(std::min<rlim_t>(most.rlim_cur / 2, 10'100)) - 100;
    crowd(server->port(), arguments.tiny ? 50 : room,
          metrics.gauge("baton_connections", {{"door", "http"}}));
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &most);
    baton::bench::run(baton::bench::arguments_of(count, values));
}
