#include "testing/servers/database_server.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/mariadb/mariadb.h"
#include "adapters/postgres/postgres.h"
#include "base/check.h"
#include "testing/free_port.h"

namespace baton::testing {

namespace {

namespace fs = std::filesystem;
constexpr const char* kPostgres = "/usr/lib/postgresql/15/bin/";
constexpr const char* kUser = "nobody";  // neither server runs as root

// In front of a command that must not run as root.
std::vector<std::string> as_nobody() {
    if (::geteuid() != 0) return {};
    return {"setpriv", std::string("--reuid=") + kUser, "--regid=nogroup", "--clear-groups",
            "--pdeathsig=KILL"};
}

pid_t spawn(std::vector<std::string> words, const std::string& log, const std::string& directory) {
    std::vector<std::string> all = as_nobody();
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> values;
    for (std::string& word : all) values.push_back(word.data());
    values.push_back(nullptr);
    const pid_t pid = ::fork();
    CHECK(pid >= 0);
    if (pid != 0) return pid;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    ::dup2(to, STDOUT_FILENO);
    ::dup2(to, STDERR_FILENO);
    if (::chdir(directory.c_str()) != 0) ::_exit(126);
    ::execvp(values[0], values.data());
    ::_exit(127);
}

void show_log(const std::string& directory) {
    std::cerr << std::ifstream(directory + "/log").rdbuf();
}

void run(const std::vector<std::string>& words, const std::string& directory) {
    const pid_t pid = spawn(words, directory + "/log", directory);
    int status = 0;
    CHECK(::waitpid(pid, &status, 0) == pid);
    if (status != 0) show_log(directory);
    CHECK(status == 0);
}

}  // namespace

Result<std::unique_ptr<SqlDatabase>> open_server_database(
    ServerKind kind, const std::string& url, std::function<Result<Done>(Sql& sql)> initialise) {
    if (kind == ServerKind::postgres) {
        return postgres::open_postgres({.url = url,
                                        .initialise = std::move(initialise),
                                        .lock_deadline = std::chrono::milliseconds(500)});
    }
    return mariadb::open_mariadb({.url = url,
                                  .initialise = std::move(initialise),
                                  .lock_deadline = std::chrono::seconds(1)});
}

DatabaseServer::DatabaseServer(ServerKind kind)
    : DatabaseServer(kind, std::vector<std::string>()) {}

DatabaseServer::DatabaseServer(ServerKind kind, std::vector<std::string> more)
    : DatabaseServer(kind, fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string(),
                     false, std::move(more)) {}

DatabaseServer::DatabaseServer(ServerKind kind, const std::string& parent)
    : DatabaseServer(kind, parent, true) {}

DatabaseServer::DatabaseServer(ServerKind kind, const std::string& parent, bool durable,
                               std::vector<std::string> more)
    : kind_(kind), durable_(durable), more_(std::move(more)), port_(free_port()) {
    std::string pattern = (fs::path(parent) / "baton-server-XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    prepare();
    start();
    if (kind_ != ServerKind::mariadb) return;
    // Killed before its first good end, a new one could not start again from memory.
    end(SIGTERM);
    start();
}

DatabaseServer::~DatabaseServer() {
    kill();
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
}

DatabaseServer& DatabaseServer::shared(ServerKind kind) {
    static std::array<std::unique_ptr<DatabaseServer>, 2> servers;
    auto& server = servers.at(static_cast<std::size_t>(kind));
    if (!server) server = std::make_unique<DatabaseServer>(kind);
    return *server;
}

void DatabaseServer::prepare() {
    const std::string data = directory_ + "/data";
    if (::geteuid() == 0) {
        CHECK(std::system(("chown " + std::string(kUser) + " " + directory_).c_str()) == 0);
    }
    if (kind_ == ServerKind::postgres) {
        run({std::string(kPostgres) + "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E",
             "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"},
            directory_);
    } else {
        run({"mkdir", "-m", "0700", data}, directory_);
    }
}

std::string DatabaseServer::url(const std::string& database) const {
    const bool postgres = kind_ == ServerKind::postgres;
    return std::string(postgres ? "postgres://postgres@" : "mysql://root@") +
           "127.0.0.1:" + std::to_string(port_) + "/" + database;
}

bool DatabaseServer::answers() const {
    if (kind_ == ServerKind::postgres)
        return postgres::open_postgres({.url = url("postgres")}).has_value();
    return mariadb::open_mariadb({.url = url("information_schema")}).has_value();
}

void DatabaseServer::start() {
    const std::string data = directory_ + "/data";
    const std::string port = std::to_string(port_);
    std::vector<std::string> words;
    if (kind_ == ServerKind::postgres) {
        const std::string sync = std::string("=") + (durable_ ? "on" : "off");
        words = {std::string(kPostgres) + "postgres",
                 "-D",
                 data,
                 "-p",
                 port,
                 "-k",
                 directory_,
                 "-c",
                 "listen_addresses=127.0.0.1",
                 "-c",
                 "shared_buffers=16MB",
                 "-c",
                 "max_connections=200",
                 "-c",
                 "fsync" + sync,
                 "-c",
                 "full_page_writes" + sync,
                 "-c",
                 "autovacuum=off"};
    } else {
        words = {"mariadbd",
                 "--no-defaults",
                 "--datadir=" + data,
                 "--socket=" + directory_ + "/s",
                 "--pid-file=" + directory_ + "/pid",
                 "--bind-address=127.0.0.1",
                 "--port=" + port,
                 "--skip-grant-tables",
                 "--skip-name-resolve",
                 "--performance-schema=OFF",
                 "--innodb-log-file-size=8M",
                 "--innodb-buffer-pool-size=32M"};
    }
    words.insert(words.end(), more_.begin(), more_.end());
    pid_ = spawn(std::move(words), directory_ + "/log", directory_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!answers()) {
        if (std::chrono::steady_clock::now() > deadline) {
            show_log(directory_);
            CHECK(false && "the database server does not start");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

void DatabaseServer::kill() {
    // PostgreSQL's children end when they see that their parent has: SIGQUIT tells them at once.
    end(kind_ == ServerKind::postgres ? SIGQUIT : SIGKILL);
}

void DatabaseServer::end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGCONT);
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
}

void DatabaseServer::pause() const {
    ::kill(pid_, SIGSTOP);
}

void DatabaseServer::resume() const {
    ::kill(pid_, SIGCONT);
}

std::string DatabaseServer::new_database() {
    const std::string name = "t" + std::to_string(++databases_);
    const std::string from = kind_ == ServerKind::postgres ? "postgres" : "information_schema";
    const auto database = open_server_database(kind_, url(from));
    CHECK(database);
    const auto sql = (*database)->connect(Access::write);
    CHECK(sql);
    std::string text = "CREATE DATABASE " + name;
    if (kind_ == ServerKind::mariadb) text += " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
    const auto made = (*sql)->run_script(text);
    CHECK(made);
    return url(name);
}

}  // namespace baton::testing
