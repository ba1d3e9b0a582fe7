#include "slt/program.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>

#include "adapters/sqlite/sqlite.h"
#include "adapters/system/system_clock.h"
#include "base/text.h"
#include "catalog/schema.h"
#include "doors/yaml/deployment.h"
#include "slt/cluster.h"
#include "slt/runner.h"
#include "slt/supply.h"

namespace baton::slt {
namespace {

namespace fs = std::filesystem;

struct Command {
    std::vector<std::string> files;
    std::string topology;
    std::string testdata = ".";
    std::uint64_t timeout_s = 60;
    bool quiet = false;
};

// A directory that is gone at the end.
class Scratch {
public:
    Scratch() {
        std::string name = (fs::temp_directory_path() / "baton-slt-XXXXXX").string();
        CHECK(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { fs::remove_all(path_); }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

struct Tally {
    std::size_t checks = 0;
    std::size_t failed = 0;
};

Result<std::vector<Check>> checks_of(const std::string& file, const Command& command,
                                     const std::optional<yaml::Deployment>& topology,
                                     const MakeClient& how) {
    TRY_ASSIGN(text, contents_of(file));
    TRY_ASSIGN(script, read_script(text));
    for (const std::string& note : script.notes) {
        if (!command.quiet) std::cout << file << ": skipped: " << note << "\n";
    }
    const Scratch scratch;
    const system::SystemClock clock;
    TRY_ASSIGN(cluster, TestCluster::start(clock, topology));
    TRY_ASSIGN(client, how(cluster->coordinator(), std::chrono::seconds(command.timeout_s)));
    Runner runner(
        *client,
        {.places = cluster->places(), .testdata = command.testdata, .scratch = scratch.path()});
    return runner.run(script);
}

void run_file(const std::string& file, const Command& command,
              const std::optional<yaml::Deployment>& topology, const MakeClient& how,
              Tally& tally) {
    const auto checks = checks_of(file, command, topology, how);
    if (!checks) {
        tally.checks += 1;
        tally.failed += 1;
        std::cout << "FAIL " << file << ": " << to_string(checks.error()) << "\n";
        return;
    }
    for (const Check& check : *checks) {
        tally.checks += 1;
        const bool fine = check.problem.empty();
        if (!fine) tally.failed += 1;
        if (fine && command.quiet) continue;
        std::cout << (fine ? "ok   " : "FAIL ") << file << ":" << check.line << (fine ? "" : ": ")
                  << check.problem << (check.problem.ends_with('\n') ? "" : "\n");
    }
    std::cout << std::flush;
}

int run(const Command& command, const MakeClient& how) {
    std::optional<yaml::Deployment> topology;
    if (!command.topology.empty()) {
        const auto text = contents_of(command.topology);
        auto read = text ? yaml::read_deployment(*text) : Result<yaml::Deployment>(text.error());
        if (!read) {
            std::cerr << command.topology << ": " << to_string(read.error()) << "\n";
            return 2;
        }
        topology = *std::move(read);
    }
    Tally tally;
    for (const std::string& file : command.files) run_file(file, command, topology, how, tally);
    std::cout << tally.checks << " checks, " << tally.failed << " failed\n";
    return tally.failed == 0 ? 0 : 1;
}

}  // namespace

int program(int argc, char** argv, const MakeClient& how) {
    Command command;
    CLI::App app("Runs test scripts of the dialect");
    app.add_option("file", command.files, "the scripts")->required();
    app.add_option("--topology", command.topology,
                   "a YAML file with workers, which are started; else one is embedded");
    app.add_option("--testdata", command.testdata, "where ATTACH FILE looks for files");
    app.add_option("--timeout", command.timeout_s, "seconds that a query may take")
        ->capture_default_str();
    app.add_flag("--quiet", command.quiet, "tell only what failed");
    app.footer("The exit status is 0 only if everything was as expected.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return run(command, how);
}

}  // namespace baton::slt
