// `baton`: reads the command line and calls the command.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/cluster_command.h"
#include "app/commands.h"
#include "app/serve_command.h"
#include "app/worker_command.h"
#include "base/text.h"
#include "runtime/version.h"

namespace {

// Says so; by itself, CLI11 would only say that a command is required.
bool is_unknown(const CLI::App& app, const std::string& command) {
    if (command.starts_with('-')) return false;
    std::vector<std::string> known;
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
        known.push_back(one->get_name());
    }
    if (std::find(known.begin(), known.end(), command) != known.end()) return false;
    std::string hint = baton::did_you_mean(command, known);
    if (hint.empty()) hint = "known: " + baton::join(known, ", ");
    std::cerr << "unknown command " << baton::quoted(command) << "; " << hint << "\n";
    return true;
}

void add_tls(CLI::App& command, baton::TlsFiles& tls) {
    command.add_option("--tls-ca", tls.ca, "who signs the certificates of all (PEM)");
    command.add_option("--tls-cert", tls.cert, "the certificate of this process");
    command.add_option("--tls-key", tls.key, "the key of the certificate");
}

struct ShellWords {
    std::string until = "accepted";
    std::uint64_t timeout_s = 0;
};

void add_shell(CLI::App& command, baton::ShellCommand& shell, ShellWords& words) {
    command.add_option("--data", shell.data, "the data directory; created if it is not there")
        ->capture_default_str();
    command
        .add_option("--wait", words.until,
                    "what a statement waits for: nothing more than that it is durable,\n"
                    "that its queries run (or have ended), or that they have ended")
        ->check(CLI::IsMember({"accepted", "running", "ended"}))
        ->capture_default_str();
    command.add_option("--timeout", words.timeout_s, "how many seconds at most; 0: for ever")
        ->capture_default_str();
    auto* statements = command.add_option("-c", shell.statements, "run these statements and end");
    command
        .add_option("-f", shell.file,
                    "run the statements of this file and end; - is stdin,\n"
                    "FILE.yaml is a deployment: all of it happens or nothing")
        ->excludes(statements);
    command.add_option("--format", shell.format, "how rows are shown, unless a statement says")
        ->check(CLI::IsMember({"text", "json", "csv"}))
        ->capture_default_str();
    command
        .add_option("--on-error", shell.on_error,
                    "whether the statements after one that failed are run")
        ->check(CLI::IsMember({"stop", "continue"}))
        ->capture_default_str();
    command.footer("The exit status is 0 only if every statement succeeded.");
}

void add_worker(CLI::App& app, baton::WorkerCommand& worker, int& status) {
    CLI::App* command = app.add_subcommand("worker", "run fragments for a coordinator");
    command->add_option("--name", worker.name, "its name in the catalog; host:port if not given");
    command->add_option("--listen", worker.listen, "host:port for the coordinator, and for data")
        ->required();
    command->add_option("--data", worker.data, "another host:port for data");
    command->add_option("--capacity", worker.capacity, "how many fragments it runs at most");
    command->add_option("--data-dir", worker.directory,
                        "where it keeps what must outlive it; created if it is not there");
    add_tls(*command, worker.tls);
    command
        ->add_option("--drain", worker.drain_seconds,
                     "seconds that it waits for fragments when it is told to leave")
        ->capture_default_str();
    command->footer("SIGTERM and SIGINT tell it to leave; the second one, at once.");
    command->callback([&] { status = baton::run_worker(worker); });
}

// Options that `serve` and `config` share. `flags` is filled when the command line is read.
void add_settings(CLI::App& command, baton::ServeCommand& serve) {
    command.add_option("--config", serve.file, "a file of settings (YAML)");
    const auto flag = [&](const std::string& option, const std::string& key,
                          const std::string& meaning) {
        command
            .add_option_function<std::string>(
                option,
                [&serve, option, key](const std::string& value) {
                    serve.flags.push_back({.option = option, .key = key, .value = value});
                },
                meaning)
            ->take_last();
    };
    flag("--data", "data", "the data directory; created if it is not there");
    flag("--pg", "pg.listen", "host:port for psql and PostgreSQL drivers; '': closed");
    flag("--http", "http.listen", "host:port for HTTP; '': closed");
    command.add_option_function<std::vector<std::string>>(
        "--set",
        [&serve](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) {
                const std::size_t equals = pair.find('=');
                if (equals == std::string::npos) {
                    throw CLI::ValidationError("--set", "is given as KEY=VALUE");
                }
                serve.flags.push_back({.option = "--set " + pair.substr(0, equals),
                                       .key = pair.substr(0, equals),
                                       .value = pair.substr(equals + 1)});
            }
        },
        "KEY=VALUE: any setting; `baton config show` lists them");
    command.footer(
        "Each wins over those before it: defaults, the file, the environment (BATON_HTTP_LISTEN\n"
        "for http.listen), the command line.");
}

struct CatalogWords {
    std::string data;
    std::string file;
    std::string what;
    bool force = false;
};

void add_catalog(CLI::App& app, CatalogWords& words, int& status) {
    CLI::App* command = app.add_subcommand("backup", "copy a catalog, also while it is in use");
    command->add_option("--data", words.data, "the data directory")->required();
    command->add_option("file", words.file, "the copy; must not exist yet")->required();
    command->callback([&] { status = baton::run_backup(words.data, words.file); });

    command = app.add_subcommand("restore", "put a backup in the place of a catalog");
    command->add_option("--data", words.data, "the data directory")->required();
    command->add_option("file", words.file, "the backup")->required();
    command->add_flag("--force", words.force, "replace a catalog that is there; it is kept beside");
    command->callback([&] { status = baton::run_restore(words.data, words.file, words.force); });

    command = app.add_subcommand("check", "verify a catalog and say what is wrong with it");
    command->add_option("what", words.what, "a data directory, or the file of a catalog or backup")
        ->required();
    command->callback([&] { status = baton::run_check(words.what); });
}

struct AccountWords {
    std::string name;
    std::string role = "reader";
};

void add_account(CLI::App& command, AccountWords& words) {
    command.add_option("name", words.name, "who it is, in the log of statements")
        ->required()
        ->check([](const std::string& name) {
            const bool plain =
                !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                });
            return plain ? "" : "a name is made of letters, digits, _, - and .";
        });
    command.add_option("--role", words.role, "what it may do")
        ->check(CLI::IsMember({"reader", "writer", "admin"}))
        ->capture_default_str();
}

void add_serve(CLI::App& app, baton::ServeCommand& serve, AccountWords& account, int& status) {
    CLI::App* command = app.add_subcommand("serve", "the coordinator as a daemon");
    add_settings(*command, serve);
    command->callback([&] { status = baton::run_serve(serve); });

    CLI::App* config = app.add_subcommand("config", "the settings of the daemon");
    config->require_subcommand(1);
    command = config->add_subcommand("show", "what is set, and who set it");
    add_settings(*command, serve);
    command->callback([&] { status = baton::run_config_show(serve); });
    command = config->add_subcommand("check", "whether the settings are well");
    add_settings(*command, serve);
    command->callback([&] { status = baton::run_config_check(serve); });
    command = config->add_subcommand(
        "user", "what to write to the file for a user; reads the password from standard input");
    add_account(*command, account);
    command->callback([&] { status = baton::run_config_user(account.name, account.role); });
    command = config->add_subcommand("token", "makes a token, and what to write to the file");
    add_account(*command, account);
    command->callback([&] { status = baton::run_config_token(account.name, account.role); });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Baton, the coordinator of a distributed query system");
    app.set_version_flag("--version", std::string(baton::kVersion));
    app.require_subcommand(0, 1);
    app.footer("Without a command: the shell, with the catalog in ./baton-data.");
    int status = 0;

    baton::ShellCommand shell{.data = "./baton-data"};
    ShellWords words;
    CLI::App* command = app.add_subcommand(
        "shell", "a coordinator and a worker in this process, and statements for them");
    auto* offline =
        command->add_flag("--offline", shell.offline,
                          "only the catalog: no worker, nobody is spoken to, queries stay PENDING");
    command
        ->add_option("--connect", shell.connect,
                     "a coordinator that runs elsewhere: postgres://USER@HOST:PORT or HOST:PORT")
        ->excludes(offline);
    add_shell(*command, shell, words);
    add_tls(*command, shell.tls);
    command->callback([&] {
        shell.wait = baton::wait_of(words.until, words.timeout_s);
        status = baton::run_shell(shell);
    });

    baton::ClusterCommand cluster{.shell = {.data = "./baton-cluster"}};
    command =
        app.add_subcommand("cluster", "worker processes on this machine, and a shell for them");
    command->add_option("--workers", cluster.workers, "how many")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    command
        ->add_option("--port", cluster.port, "of the first worker; the others have the next ones")
        ->check(CLI::Range(1, 65000))
        ->capture_default_str();
    add_shell(*command, cluster.shell, words);
    command->callback([&] {
        cluster.shell.wait = baton::wait_of(words.until, words.timeout_s);
        status = baton::run_cluster(cluster);
    });

    CatalogWords catalog;
    add_catalog(app, catalog, status);
    baton::WorkerCommand worker;
    add_worker(app, worker, status);
    baton::ServeCommand serve;
    AccountWords account;
    add_serve(app, serve, account, status);

    if (argc > 1 && is_unknown(app, argv[1])) return 2;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (argc == 1) status = baton::run_shell(shell);
    if (!std::cout.flush()) {
        std::cerr << "cannot write to the standard output\n";
        return 1;
    }
    return status;
}
