// A real database server for tests: its own data, its own port, and it ends with the test program.
//
//     auto& server = DatabaseServer::shared(Kind::postgres);
//     const std::string url = server.new_database();
//
// Starting one takes seconds, so a program has one of each kind, and tests have databases of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "ports/sql.h"

namespace baton::testing {

enum class ServerKind : std::uint8_t { postgres, mariadb };

class DatabaseServer {
public:
    // In memory, where a sync costs nothing.
    explicit DatabaseServer(ServerKind kind);
    // The same with further arguments of the program.
    DatabaseServer(ServerKind kind, std::vector<std::string> more);
    // In a new directory below this one, where a commit is on the disk when it is answered.
    DatabaseServer(ServerKind kind, const std::string& parent);
    ~DatabaseServer();
    DatabaseServer(const DatabaseServer&) = delete;
    DatabaseServer& operator=(const DatabaseServer&) = delete;

    [[nodiscard]] static DatabaseServer& shared(ServerKind kind);

    // An empty database of its own; its URL.
    [[nodiscard]] std::string new_database();
    // Where the server is, with this database in it.
    [[nodiscard]] std::string url(const std::string& database) const;

    void kill();   // at once, as a crash would
    void start();  // again; returns when it answers
    void pause() const;
    void resume() const;
    [[nodiscard]] ServerKind kind() const { return kind_; }
    [[nodiscard]] int port() const { return port_; }

private:
    void prepare();
    void end(int signal);
    [[nodiscard]] bool answers() const;

    DatabaseServer(ServerKind kind, const std::string& parent, bool durable,
                   std::vector<std::string> more = {});

    const ServerKind kind_;
    const bool durable_;
    const std::vector<std::string> more_;
    std::string directory_;
    int port_ = 0;
    pid_t pid_ = -1;
    int databases_ = 0;
};

// The database behind a URL of either kind.
[[nodiscard]] Result<std::unique_ptr<SqlDatabase>> open_server_database(
    ServerKind kind, const std::string& url,
    std::function<Result<Done>(Sql& sql)> initialise = nullptr);

}  // namespace baton::testing
