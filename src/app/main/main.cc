// `baton`: reads the command line and calls the command.
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "runtime/version.h"

int main(int argc, char** argv) {
    CLI::App app("Baton, the coordinator of a distributed query system");
    app.set_version_flag("--version", std::string(baton::kVersion));
    app.require_subcommand(1);
    int status = 0;

    baton::ShellCommand shell;
    CLI::App* command = app.add_subcommand("shell", "run statements on the catalog of a directory");
    command->add_option("--data", shell.data, "the data directory; created if it is not there")
        ->required();
    auto* statements = command->add_option("-c", shell.statements, "run these statements and end");
    command->add_option("-f", shell.file, "run the statements of this file and end; - is stdin")
        ->excludes(statements);
    command->footer("The exit status is 0 only if every statement succeeded.");
    command->callback([&] { status = baton::run_shell(shell); });

    std::string data;
    std::string file;
    command = app.add_subcommand("backup", "copy a catalog, also while it is in use");
    command->add_option("--data", data, "the data directory")->required();
    command->add_option("file", file, "the copy; must not exist yet")->required();
    command->callback([&] { status = baton::run_backup(data, file); });

    bool force = false;
    command = app.add_subcommand("restore", "put a backup in the place of a catalog");
    command->add_option("--data", data, "the data directory")->required();
    command->add_option("file", file, "the backup")->required();
    command->add_flag("--force", force, "replace a catalog that is there; it is kept beside");
    command->callback([&] { status = baton::run_restore(data, file, force); });

    std::string what;
    command = app.add_subcommand("check", "verify a catalog and say what is wrong with it");
    command->add_option("what", what, "a data directory, or the file of a catalog or backup")
        ->required();
    command->callback([&] { status = baton::run_check(what); });

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return status;
}
