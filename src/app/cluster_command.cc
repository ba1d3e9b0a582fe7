#include "app/cluster_command.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/sqlite/data_directory.h"
#include "base/text.h"

namespace baton::app {

namespace {

namespace fs = std::filesystem;

std::string name_of(std::uint64_t number) {
    return "worker-" + std::to_string(number);
}

std::string address_of(const ClusterCommand& command, std::uint64_t number) {
    return "127.0.0.1:" + std::to_string(command.port + number - 1);
}

// A process that is asked to leave at the end, and waited for.
class WorkerProcess {
public:
    WorkerProcess(const ClusterCommand& command, std::uint64_t number) {
        const fs::path directory = fs::path(command.shell.data) / name_of(number);
        const std::string log = directory.string() + ".log";
        std::vector<std::string> words = {"baton",      "worker",
                                          "--name",     name_of(number),
                                          "--listen",   address_of(command, number),
                                          "--data-dir", directory.string(),
                                          "--drain",    "0"};
        // Whatever the shell may reach but its catalog, and what the others keep.
        const auto add = [&](const char* option, const std::vector<std::string>& values) {
            for (const std::string& value : values) words.insert(words.end(), {option, value});
        };
        add("--files", command.shell.permits.files.directories);
        add("--files-except", command.shell.permits.files.never);
        add("--files-except", {command.shell.data});
        add("--connect-to", command.shell.permits.targets.connect_to);
        std::vector<char*> values;
        for (const std::string& word : words) values.push_back(const_cast<char*>(word.c_str()));
        values.push_back(nullptr);
        pid_ = fork();
        if (pid_ != 0) return;
        // The child. Ctrl-C in the shell is not meant for it, and it does not outlive the shell.
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        setpgid(0, 0);
        const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        const int from = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        dup2(from, STDIN_FILENO);
        dup2(to, STDERR_FILENO);
        execv("/proc/self/exe", values.data());
        _exit(127);
    }
    WorkerProcess(WorkerProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
    WorkerProcess& operator=(WorkerProcess&&) = delete;
    ~WorkerProcess() {
        if (pid_ <= 0) return;
        kill(pid_, SIGTERM);
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    }
    [[nodiscard]] bool started() const { return pid_ > 0; }

private:
    pid_t pid_ = -1;
};

std::vector<std::string> statements_for(const ClusterCommand& command) {
    std::vector<std::string> statements;
    for (std::uint64_t i = 1; i <= command.workers; ++i) {
        statements.push_back("CREATE WORKER '" + address_of(command, i) + "' SET ('" + name_of(i) +
                             "' AS NAME" + (i == 1 ? "" : ", '" + name_of(1) + "' AS DOWNSTREAM") +
                             ")");
    }
    return statements;
}

}  // namespace

int run_cluster(const ClusterCommand& command) {
    if (const auto made = sqlite::make_data_directory(command.shell.data); !made) {
        std::cerr << to_string(made.error()) << "\n";
        return 1;
    }
    std::vector<WorkerProcess> workers;
    for (std::uint64_t i = 1; i <= command.workers; ++i) {
        workers.emplace_back(command, i);
        if (workers.back().started()) continue;
        std::cerr << "cannot start " << name_of(i) << ": " << std::generic_category().message(errno)
                  << "\n";
        return 1;
    }
    std::cerr << command.workers << " workers, " << name_of(1) << " to " << name_of(command.workers)
              << ", log to " << command.shell.data << "\n";
    ShellCommand shell = command.shell;
    shell.first = statements_for(command);
    return run_shell(shell);
}

}  // namespace baton::app
