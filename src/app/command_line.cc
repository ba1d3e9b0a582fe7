#include "app/command_line.h"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/catalogs.h"
#include "app/cluster_command.h"
#include "app/commands.h"
#include "app/ctl_command_line.h"
#include "app/manual.h"
#include "app/members.h"
#include "app/serve_command.h"
#include "app/store_command.h"
#include "app/worker_command.h"
#include "base/text.h"
#include "coordinator/sessions/version.h"

namespace baton::app {

namespace {

void add_tls(CLI::App& command, system::TlsFiles& tls) {
    command.add_option("--tls-ca", tls.ca, "the issuer of the certificates of all processes (PEM)");
    command.add_option("--tls-cert", tls.cert, "the certificate of this process");
    command.add_option("--tls-key", tls.key, "the key of the certificate");
}

void add_permits(CLI::App& command, worker::Permits& permits, const std::string& default_files,
                 const std::string& default_targets) {
    command
        .add_option(
            "--files", permits.files.directories,
            "a directory in which sources and sinks may open files; repeatable;\n" + default_files)
        ->allow_extra_args(false);
    command
        .add_option("--files-except", permits.files.never,
                    "a directory or file inside it that they may not touch")
        ->allow_extra_args(false);
    command
        .add_option("--connect-to", permits.targets.connect_to,
                    "HOST or HOST:PORT that TCP and MQTT may connect to, such as\n"
                    "*.example.com or 10.0.0.0/8; repeatable;\n" +
                        default_targets)
        ->allow_extra_args(false);
}

constexpr const char* kAnyButThisMachine = "any but this machine and link-local ones if not given";

void add_shell(CLI::App& command, ShellCommand& shell, WaitWords& words) {
    command.add_option("--data", shell.data, "the data directory; created if missing")
        ->capture_default_str();
    add_permits(command, shell.permits, "the working directory if not given",
                "any but link-local ones if not given");
    add_wait(command, words);
    auto* statements = command.add_option("-c", shell.statements, "run these statements and exit");
    command
        .add_option("-f", shell.file,
                    "run the statements of this file and exit; - is stdin,\n"
                    "FILE.yaml is a deployment: all of it happens, or nothing")
        ->excludes(statements);
    command
        .add_option("--format", shell.format, "the format of rows, unless a statement names one")
        ->check(CLI::IsMember({"text", "json", "csv"}))
        ->capture_default_str();
    command
        .add_option("--on-error", shell.on_error,
                    "whether to run the statements after a failed one")
        ->check(CLI::IsMember({"stop", "continue"}))
        ->capture_default_str();
    command.footer("The exit status is 0 only if every statement succeeded.");
}

// `list`, `drain` and `resume` below it are added by add_ctl.
CLI::App& add_worker(CLI::App& app, WorkerCommand& worker, int& status) {
    CLI::App* command =
        app.add_subcommand("worker", "run fragments for a coordinator, or manage workers");
    command->add_option("--name", worker.name, "its name in the catalog; host:port if not given");
    command->add_option("--listen", worker.listen,
                        "host:port to listen at, for the coordinator and for data; required");
    command->add_option("--data", worker.data, "a separate host:port for data");
    command->add_option("--capacity", worker.capacity,
                        "the largest number of fragments that it runs");
    command->add_option("--data-dir", worker.directory,
                        "the directory for all that must survive a restart; created if missing");
    command
        ->add_option("--join", worker.join,
                     "a token of `baton token worker NAME`: the worker gets a certificate from the "
                     "coordinator,\nkeeps it in --data-dir and renews it; needed once")
        ->envname("BATON_JOIN");
    add_tls(*command, worker.tls);
    add_permits(*command, worker.permits, "none if not given", kAnyButThisMachine);
    command->add_flag("--tls-any-role", worker.any_role,
                      "certificates without a role (URI:baton://CLUSTER/coordinator/NAME or "
                      "../worker/NAME) may do everything; those with one, only that");
    command->add_flag("--insecure", worker.insecure,
                      "listen beyond this machine without certificates, unencrypted");
    command
        ->add_option("--drain", worker.drain_seconds,
                     "seconds that it waits for its fragments after SIGTERM")
        ->capture_default_str();
    command->add_option("--partition-program", worker.partition_program,
                        "a command that sh runs for each partition of this worker; "
                        "BATON_LIST, BATON_PARTITION and BATON_EPOCH name it");
    constexpr std::uint64_t kGraceMax = 20;  // well below the lease of a partition
    command
        ->add_option("--partition-grace", worker.partition_grace_seconds,
                     "seconds between SIGTERM and SIGKILL for such a program")
        ->capture_default_str()
        ->check(CLI::Range(std::uint64_t{0}, kGraceMax));
    command->footer(
        "On SIGTERM or SIGINT the worker leaves; on a second signal, at once.\n"
        "A worker that has joined (--join), or has certificates of its own (--tls-..), may listen\n"
        "anywhere. Without certificates it listens on this machine alone, and obeys coordinators\n"
        "of the same user: they know the secret in ~/.local/state/baton/secret (or "
        "BATON_USER_SECRET).");
    command->callback([&worker, &status, command] {
        if (!command->get_subcommands().empty()) return;
        if (worker.listen.empty()) throw CLI::RequiredError("--listen");
        status = run_worker(worker);
    });
    CLI::App* release = command->add_subcommand(
        "release", "make a stopped worker forget its catalog and its epochs");
    release->add_option("--data-dir", worker.directory, "the data directory of the worker")
        ->required();
    release->footer(
        "A worker belongs to the first catalog that greets it, and obeys no lower epoch than it\n"
        "has seen. After this it belongs to the next one that greets it.");
    release->callback([&worker, &status] { status = release_worker(*worker.directory); });
    return *command;
}

// Options that `serve` and `config` share. `flags` is filled when the command line is read.
void add_settings(CLI::App& command, ServeCommand& serve) {
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
    flag("--data", "data", "the data directory; created if missing");
    flag("--catalog", "catalog",
         "sqlite:PATH, or a database that several coordinators share: postgres://.. or mysql://..");
    flag("--lease-ttl", "lease_ttl",
         "with --catalog: seconds until another one takes over from a lost leader");
    flag("--pg", "pg.listen", "host:port for psql and PostgreSQL drivers; '': closed");
    flag("--http", "http.listen", "host:port for HTTP; '': closed");
    const auto list = [&](const std::string& option, const std::string& key,
                          const std::string& meaning) {
        command
            .add_option_function<std::vector<std::string>>(
                option,
                [&serve, option, key](const std::vector<std::string>& values) {
                    for (const std::string& value : values) {
                        if (value.find(',') == std::string::npos) continue;
                        throw CLI::ValidationError(option, "cannot have a comma");
                    }
                    serve.flags.push_back(
                        {.option = option, .key = key, .value = join(values, ",")});
                },
                meaning)
            ->allow_extra_args(false);
    };
    list("--files", "files",
         "a directory in which sources and sinks of its own worker may open files;\n"
         "repeatable; none if not given");
    list("--connect-to", "connect_to",
         "HOST or HOST:PORT that they may connect to; repeatable;\n" +
             std::string(kAnyButThisMachine));
    flag("--workers", "workers.listen", "host:port at which workers join with a token");
    command.add_option_function<std::vector<std::string>>(
        "--set",
        [&serve](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) {
                const std::size_t equals = pair.find('=');
                if (equals == std::string::npos) {
                    throw CLI::ValidationError("--set", "has the form KEY=VALUE");
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
    std::string from;
    std::string to;
    bool force = false;
};

void add_catalog(CLI::App& app, CatalogWords& words, int& status) {
    CLI::App* command = app.add_subcommand("backup", "copy a catalog, also while it is in use");
    command->add_option("--data", words.data, "the data directory")->required();
    command->add_option("file", words.file, "the copy; must not exist yet")->required();
    command->callback([&] { status = run_backup(words.data, words.file); });

    command = app.add_subcommand("restore", "replace a catalog by a backup");
    command->add_option("--data", words.data, "the data directory")->required();
    command->add_option("file", words.file, "the backup")->required();
    command->add_flag("--force", words.force,
                      "replace an existing catalog, which is kept beside it");
    command->callback([&] { status = run_restore(words.data, words.file, words.force); });

    command = app.add_subcommand("check", "verify a catalog and list its faults");
    command
        ->add_option("what", words.what,
                     "a data directory, the file of a catalog or backup, or the URL of a database")
        ->required();
    command->callback([&] { status = run_check(words.what); });

    CLI::App* catalog = app.add_subcommand("catalog", "databases of catalogs");
    catalog->require_subcommand(1);
    command = catalog->add_subcommand("migrate", "copy a catalog to another database");
    command
        ->add_option(
            "--from", words.from,
            "sqlite:PATH, postgres://USER:PASSWORD@HOST/DB or mysql://..; it must not be in use")
        ->required();
    command->add_option("--to", words.to, "the same; a database without tables")->required();
    command->callback([&] { status = run_catalog_migrate(words.from, words.to); });
}

struct AccountWords {
    std::string name;
    std::string role = "reader";
    bool files = false;
};

void add_account(CLI::App& command, AccountWords& words) {
    command.add_option("name", words.name, "the name in the log of statements")
        ->required()
        ->check([](const std::string& name) {
            const bool plain =
                !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                });
            return plain ? "" : "a name is made of letters, digits, _, - and .";
        });
    command.add_option("--role", words.role, "its rights")
        ->check(CLI::IsMember({"reader", "writer", "admin"}))
        ->capture_default_str();
    command.add_flag("--files", words.files,
                     "add the right to name files of workers; an admin always has it");
}

void add_serve(CLI::App& app, ServeCommand& serve, AccountWords& account, int& status) {
    CLI::App* command = app.add_subcommand("serve", "the coordinator as a daemon");
    add_settings(*command, serve);
    command->callback([&] { status = run_serve(serve); });

    CLI::App* config = app.add_subcommand("config", "the settings of the daemon");
    config->require_subcommand(1);
    command = config->add_subcommand("show", "print all settings, and where each was set");
    add_settings(*command, serve);
    command->callback([&] { status = run_config_show(serve); });
    command = config->add_subcommand("check", "check the settings");
    add_settings(*command, serve);
    command->callback([&] { status = run_config_check(serve); });
    command = config->add_subcommand(
        "user",
        "print the lines of the settings file for a user; reads the password from standard input");
    add_account(*command, account);
    command->callback([&] { status = run_config_user(account.name, account.role, account.files); });
    command =
        config->add_subcommand("token", "print a new token, and its lines of the settings file");
    add_account(*command, account);
    command->callback(
        [&] { status = run_config_token(account.name, account.role, account.files); });
}

void add_shell_command(CLI::App& app, ShellCommand& shell, WaitWords& words, int& status) {
    CLI::App* command = app.add_subcommand("shell", "run statements, interactively or from a file");
    auto* offline =
        command->add_flag("--offline", shell.offline,
                          "only the catalog: no worker runs or is dialled, queries stay PENDING");
    command
        ->add_option("--connect", shell.connect,
                     "a running coordinator: postgres://USER@HOST:PORT or HOST:PORT")
        ->excludes(offline);
    add_shell(*command, shell, words);
    add_tls(*command, shell.tls);
    command->callback([&] {
        shell.wait = wait_of(words.until, words.timeout_s);
        status = run_shell(shell);
    });
}

void add_cluster(CLI::App& app, ClusterCommand& cluster, WaitWords& words, int& status) {
    CLI::App* command =
        app.add_subcommand("cluster", "start workers on this machine, and a shell for them");
    command->add_option("--workers", cluster.workers, "the number of workers")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    command
        ->add_option("--port", cluster.port,
                     "the port of the first worker; the others use the next ones")
        ->check(CLI::Range(1, 65000))
        ->capture_default_str();
    add_shell(*command, cluster.shell, words);
    command->callback([&] {
        cluster.shell.wait = wait_of(words.until, words.timeout_s);
        status = run_cluster(cluster);
    });
}

void add_token(CLI::App& app, TokenCommand& token, int& status) {
    CLI::App* command = app.add_subcommand("token", "tokens for processes that join the cluster");
    command->require_subcommand(1);
    command = command->add_subcommand(
        "worker", "print a token for one worker to join: baton worker --join TOKEN");
    command->add_option("name", token.worker, "the name of the worker")->required();
    command->add_option("--data", token.data, "the data directory of the coordinator")
        ->capture_default_str();
    command->add_option("--catalog", token.catalog,
                        "instead, its catalog: sqlite:PATH, postgres://.. or mysql://..");
    command->add_option("--address", token.address,
                        "host:port by which the worker reaches the coordinator, if not the one it "
                        "listens on");
    constexpr std::uint64_t kSecondsMax = 7 * 24 * 3600;
    command->add_option("--seconds", token.seconds, "seconds until it expires")
        ->check(CLI::Range(std::uint64_t{1}, kSecondsMax))
        ->capture_default_str();
    command->footer("It works once. Every process that can read the catalog can make one.");
    command->callback([&] { status = run_token_worker(token); });
}

void add_manuals(CLI::App& app, std::string& which, int& status) {
    CLI::App* command = app.add_subcommand("completion", "print the completion script for a shell");
    command->add_option("shell", which, "which one")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}));
    command->footer(
        "source <(baton completion bash)       # in ~/.bashrc\n"
        "source <(baton completion zsh)        # in ~/.zshrc, after compinit");
    command->callback([&] {
        std::cout << (which == "bash" ? bash_completion(app) : zsh_completion(app));
        status = 0;
    });
    command = app.add_subcommand("manual", "print the manual page: baton manual | man -l -");
    command->callback([&] {
        std::cout << man_page(app);
        status = 0;
    });
}

// Says so if a command is not known; by itself, CLI11 would only say that one is required.
bool is_unknown(const CLI::App& app, int argc, char** argv, int at) {
    if (at >= argc || argv[at][0] == '-') return false;
    const std::string command = argv[at];
    std::vector<std::string> known;
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
        known.push_back(one->get_name());
        if (command != known.back()) continue;
        return one->get_require_subcommand_min() > 0 && is_unknown(*one, argc, argv, at + 1);
    }
    std::string hint = did_you_mean(command, known);
    if (hint.empty()) hint = "known: " + join(known, ", ");
    std::cerr << "unknown command " << in_quotes(command) << "; " << hint << "\n";
    return true;
}

}  // namespace

struct CommandLine::Words {
    CLI::App app{"Baton, the coordinator of a distributed query system", "baton"};
    int status = 0;
    ShellCommand shell{.data = "./baton-data"};
    ClusterCommand cluster{.shell = {.data = "./baton-cluster"}};
    WaitWords wait;
    CatalogWords catalog;
    WorkerCommand worker;
    ServeCommand serve;
    AccountWords account;
    CtlWords ctl;
    TokenCommand token;
    StoreCommand store;
    std::string manual;
};

CommandLine::CommandLine() : words_(std::make_unique<Words>()) {
    Words& words = *words_;
    CLI::App& app = words.app;
    for (ShellCommand* shell : {&words.shell, &words.cluster.shell}) {
        shell->permits.files.directories = {"."};
        shell->permits.targets.connect_to = {"*"};
    }
    app.set_version_flag("--version", std::string(coordinator::kVersion));
    app.require_subcommand(0, 1);
    add_shell_command(app, words.shell, words.wait, words.status);
    add_cluster(app, words.cluster, words.wait, words.status);
    add_catalog(app, words.catalog, words.status);
    CLI::App& worker = add_worker(app, words.worker, words.status);
    add_serve(app, words.serve, words.account, words.status);
    add_ctl(app, worker, words.ctl, words.status);
    add_token(app, words.token, words.status);
    add_store(app, words.store, words.status);
    add_manuals(app, words.manual, words.status);
    // Last: a command that is added later would inherit it.
    app.footer("Without a command: the shell, with the catalog in ./baton-data.");
}

CommandLine::~CommandLine() = default;

int CommandLine::run(int argc, char** argv) {
    Words& words = *words_;
    if (is_unknown(words.app, argc, argv, 1)) return 2;
    try {
        words.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return words.app.exit(error) == 0 ? 0 : 2;
    }
    if (argc == 1) words.status = run_shell(words.shell);
    if (!std::cout.flush()) {
        std::cerr << "cannot write to the standard output\n";
        return 1;
    }
    return words.status;
}

}  // namespace baton::app
