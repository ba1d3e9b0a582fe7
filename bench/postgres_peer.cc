#include "bench/postgres_peer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "bench/sockets.h"

namespace baton::bench {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrograms = "/usr/lib/postgresql/15/bin/";

std::string read_all(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

void shell(const std::string& command, const std::string& log) {
    if (std::system((command + " >" + log + " 2>&1").c_str()) != 0) {
        give_up("failed: " + command + "\n" + read_all(log));
    }
}

// PostgreSQL does not run as root.
std::string as_user(const std::string& command) {
    return (::geteuid() == 0 ? "runuser -u postgres -- " : "") + std::string(kPrograms) + command;
}

std::uint16_t free_port() {
    return listen_here().port;
}

struct Times {
    long parent = 0;
    double seconds = 0;  // with those of children that were waited for
};

Times times_of(const std::string& process) {
    const std::string stat = read_all("/proc/" + process + "/stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream fields(stat.substr(name_end + 1));
    std::string state;
    Times times;
    fields >> state >> times.parent;
    std::string skipped;
    for (int i = 5; i < 14; ++i) fields >> skipped;
    double ticks = 0;
    for (int i = 14; i <= 17; ++i) {
        double some = 0;
        fields >> some;
        ticks += some;
    }
    times.seconds = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return times;
}

}  // namespace

bool has_postgres() {
    return fs::exists(std::string(kPrograms) + "initdb") &&
           fs::exists(std::string(kPrograms) + "pgbench");
}

PostgresPeer::PostgresPeer(std::string directory)
    : directory_(std::move(directory)), port_(free_port()) {
    fs::create_directory(directory_);
    if (::geteuid() == 0) {
        shell("chown postgres " + directory_ + " && chmod a+x " +
                  fs::path(directory_).parent_path().string(),
              "/dev/null");
    }
    const std::string log = directory_ + ".log";
    const std::string data = directory_ + "/data";
    shell(as_user("initdb -D " + data +
                  " -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-instructions"),
          log);
    shell(as_user("pg_ctl -s -D " + data + " -l " + directory_ +
                  "/log -w -o \"-c listen_addresses=127.0.0.1 -p " + std::to_string(port_) +
                  " -k " + directory_ +
                  " -c max_connections=300 -c shared_buffers=128MB -c synchronous_commit=on\" "
                  "start"),
          log);
    std::ifstream(data + "/postmaster.pid") >> postmaster_;
}

PostgresPeer::~PostgresPeer() {
    shell(as_user("pg_ctl -s -D " + directory_ + "/data -m immediate -w stop"), "/dev/null");
}

void PostgresPeer::run(const std::string& statements) const {
    const std::string file = directory_ + ".sql";
    std::ofstream(file) << statements;
    shell("psql -X -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p " + std::to_string(port_) +
              " -U postgres -f " + file,
          directory_ + ".log");
}

double PostgresPeer::cpu_seconds() const {
    double seconds = times_of(std::to_string(postmaster_)).seconds;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const Times times = times_of(entry.path().filename().string());
        if (times.parent == postmaster_) seconds += times.seconds;
    }
    return seconds;
}

Measured pgbench(const std::string& directory, const PgbenchRun& run) {
    const std::string script = directory + "/pgbench.sql";
    const std::string prefix = directory + "/pgbench-log";
    std::ofstream(script) << run.script;
    shell(std::string(kPrograms) + "pgbench -n -h 127.0.0.1 -U postgres -p " +
              std::to_string(run.port) + " -f " + script + " -c " + std::to_string(run.clients) +
              " -j 1 -T " + std::to_string(run.seconds) + " -l --log-prefix=" + prefix +
              " postgres",
          directory + "/pgbench.out");
    Measured measured;
    measured.seconds = run.seconds;
    for (const auto& entry : fs::directory_iterator(directory)) {
        if (!entry.path().filename().string().starts_with("pgbench-log")) continue;
        // client, number, microseconds, ..
        std::ifstream log(entry.path());
        std::uint64_t client = 0;
        std::uint64_t number = 0;
        double us = 0;
        for (std::string rest; log >> client >> number >> us && std::getline(log, rest);) {
            measured.latencies.add(us);
        }
        log.close();
        fs::remove(entry.path());
    }
    measured.operations = measured.latencies.count();
    return measured;
}

}  // namespace baton::bench
