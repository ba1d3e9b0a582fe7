#include "app/ctl_command_line.h"

#include <cstdlib>

#include "app/commands.h"
#include "sql/printer.h"

namespace baton::app {

void add_wait(CLI::App& command, WaitWords& words) {
    command
        .add_option("--wait", words.until,
                    "when a statement is done: once it is durable, once its queries run\n"
                    "(or have ended), or once they have ended")
        ->check(CLI::IsMember({"accepted", "running", "ended"}))
        ->capture_default_str();
    command.add_option("--timeout", words.timeout_s, "the longest wait in seconds; 0: no limit")
        ->capture_default_str();
}

namespace {

class Ctl {
public:
    Ctl(CtlWords& words, int& status) : words_(words), status_(status) {}

    void add_status(CLI::App& app) {
        CLI::App& command = add(app, "status", "the state of the cluster, in a few lines");
        add_format(command, {"text", "json"});
        command.footer("The exit status is 3 if something is not well.");
        on(command, [](CtlWords& words) { return run_status(words.command); });
    }

    void add_top(CLI::App& app) {
        CLI::App& command = add(app, "top", "workers and queries, with their rates");
        command.add_option("--interval", words_.interval_s, "seconds between two updates")
            ->check(CLI::Range(0.1, 3600.0))
            ->capture_default_str();
        command.add_flag("--once", words_.flag, "print one screen as text");
        on(command,
           [](CtlWords& words) { return run_top(words.command, words.interval_s, words.flag); });
    }

    void add_apply(CLI::App& app) {
        CLI::App& command = add(app, "apply", "apply a file: all of it, or nothing");
        command
            .add_option("-f,--file", words_.file,
                        "statements, or a deployment if it is FILE.yaml; - is stdin")
            ->required();
        command.add_flag("--dry-run", words_.flag,
                         "plan all of it and show the changes, without making them");
        add_wait(command, words_.wait);
        on(command,
           [](CtlWords& words) { return run_apply(words.command, words.file, words.flag); });
    }

    void add_query(CLI::App& app) {
        CLI::App& query = *app.add_subcommand("query", "manage queries");
        query.require_subcommand(1);
        CLI::App& list = add(query, "list", "list queries and their states");
        add_format(list, {"text", "json", "csv"});
        on(list, [](CtlWords& words) { return run_for(words.command, "SHOW QUERIES"); });

        CLI::App& stop = add(query, "stop", "stop a query; it stays in the catalog");
        add_name(stop, "its name or number");
        stop.add_flag("--forceful", words_.flag, "discard rows that are still on their way");
        add_wait(stop, words_.wait);
        on(stop, [](CtlWords& words) {
            return run_change(words.command, "STOP QUERY " + query_in_statement(words.name) +
                                                 (words.flag ? " FORCEFUL" : ""));
        });

        CLI::App& drop = add(query, "drop", "stop a query and remove it");
        add_name(drop, "its name or number");
        add_wait(drop, words_.wait);
        on(drop, [](CtlWords& words) {
            return run_change(words.command, "DROP QUERY " + query_in_statement(words.name));
        });

        CLI::App& logs = add(query, "logs", "the history of a query and its fragments");
        add_name(logs, "its name or number; a dropped query is known by its number");
        logs.add_flag("--follow", words_.flag, "then its changes, until Ctrl-C");
        add_format(logs, {"text", "json", "csv"});
        on(logs,
           [](CtlWords& words) { return run_query_logs(words.command, words.name, words.flag); });
    }

    void add_worker(CLI::App& worker) {
        worker.require_subcommand(0, 1);
        CLI::App& list = add(worker, "list", "list workers and their states");
        add_format(list, {"text", "json", "csv"});
        on(list, [](CtlWords& words) { return run_for(words.command, "SHOW WORKERS"); });
        CLI::App& drain =
            add(worker, "drain", "give a worker no new queries; those that run there go on");
        add_name(drain, "its name");
        on(drain, [](CtlWords& words) {
            return run_change(words.command, "DRAIN WORKER " + name_of_worker(words.name));
        });
        CLI::App& resume = add(worker, "resume", "let a drained worker take queries again");
        add_name(resume, "its name");
        on(resume, [](CtlWords& words) {
            return run_change(words.command, "RESUME WORKER " + name_of_worker(words.name));
        });
    }

private:
    // With the options that say where the coordinator is.
    CLI::App& add(CLI::App& app, const char* name, const char* meaning) {
        CLI::App& command = *app.add_subcommand(name, meaning);
        command.footer("");  // not that of the command above it
        command
            .add_option("--connect", words_.command.reach.connect,
                        "the coordinator: postgres://USER@HOST:PORT or HOST:PORT; "
                        "default: BATON_CONNECT")
            ->capture_default_str();
        command.add_option("--data", words_.command.reach.data,
                           "instead, a data directory that is not in use");
        return command;
    }
    void add_format(CLI::App& command, const std::vector<std::string>& formats) {
        command.add_option("--format", words_.command.format, "the format of the output")
            ->check(CLI::IsMember(formats))
            ->capture_default_str();
    }
    void add_name(CLI::App& command, const char* meaning) {
        command.add_option("name", words_.name, meaning)->required();
    }
    void on(CLI::App& command, int (*run)(CtlWords&)) {
        command.callback([this_words = &words_, status = &status_, run] {
            this_words->command.wait = wait_of(this_words->wait.until, this_words->wait.timeout_s);
            *status = run(*this_words);
        });
    }
    // Names of workers are kept as they were given.
    static std::string name_of_worker(const std::string& given) {
        return sql::print(sql::Literal(given));
    }

    CtlWords& words_;
    int& status_;
};

}  // namespace

void add_ctl(CLI::App& app, CLI::App& worker, CtlWords& words, int& status) {
    // Read here and not by CLI11: the commands share one variable, and it would set that for the
    // commands that were not given, after the flag of the one that was.
    const char* const address = std::getenv("BATON_CONNECT");  // NOLINT(concurrency-mt-unsafe)
    if (address != nullptr && *address != '\0') words.command.reach.connect = address;
    Ctl ctl(words, status);
    ctl.add_status(app);
    ctl.add_top(app);
    ctl.add_apply(app);
    ctl.add_query(app);
    ctl.add_worker(worker);
}

}  // namespace baton::app
