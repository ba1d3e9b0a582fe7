#include "app/commands.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include <unistd.h>

#include "adapters/sqlite/data_directory.h"
#include "adapters/sqlite/restore.h"
#include "adapters/sqlite/sqlite.h"
#include "adapters/system/system_clock.h"
#include "app/catalogs.h"
#include "app/counterparts.h"
#include "app/files.h"
#include "app/terminal.h"
#include "base/text.h"
#include "catalog/check.h"
#include "catalog/schema.h"
#include "coordinator/sessions/session.h"
#include "coordinator/sessions/version.h"
#include "doors/shell/local.h"
#include "doors/shell/shell.h"
#include "worker/node/embedded_worker.h"

namespace baton::app {

namespace {

namespace fs = std::filesystem;

// Queries that will not run on without this process.
void say_what_pauses(coordinator::CoordinatorRuntime& coordinator) {
    auto snapshot = coordinator.snapshot();
    if (!snapshot) return;
    const auto fragments = snapshot->read().fragments(
        {.query = {}, .worker = std::string(kEmbeddedWorker), .with_plan = false});
    if (!fragments) return;
    std::set<QueryId> queries;
    for (const Fragment& fragment : *fragments) {
        if (!has_ended(fragment.state)) queries.insert(fragment.query);
    }
    std::erase_if(queries, [&](QueryId id) {
        const auto query = snapshot->read().query(id);
        return query && *query && (*query)->desired != QueryDesire::running;
    });
    if (queries.empty()) return;
    std::cerr << (queries.size() == 1 ? "1 query runs"
                                      : std::to_string(queries.size()) + " queries run")
              << " in this process: stopped for now, started again with the next one\n";
}

int run_statements(shell::Shell& shell, shell::Counterpart& counterpart,
                   const ShellCommand& command, const std::string& text) {
    if (command.file && is_deployment(*command.file)) return shell.apply(text, true, true) ? 0 : 1;
    if (command.statements || command.file) return shell.run_all(text) ? 0 : 1;
    if (isatty(STDIN_FILENO) == 0) {
        auto read = text_of_file("-");
        if (!read) return fail(read.error());
        if (read->find_first_not_of(" \t\r\n") == std::string::npos) {
            std::cerr << "there are no statements on standard input; give some with -c 'SHOW "
                         "QUERIES' or -f FILE, or start the shell in a terminal\n";
        }
        return shell.run_all(*read) ? 0 : 1;
    }
    std::cout << coordinator::kVersion << ", "
              << (command.connect ? "connected to " + *command.connect
                                  : "catalog " + sqlite::catalog_path(command.data))
              << ". \\? for help, \\q to leave." << std::endl;
    converse(shell, counterpart, std::cout, std::cerr);
    return 0;
}

int run_with(shell::Counterpart& counterpart, const ShellCommand& command,
             const std::string& text) {
    shell::ShellOptions options = options_for_screen();
    options.look.format = shell::format_of(command.format).value_or(shell::Format::text);
    if (command.on_error == "continue") options.on_error = shell::OnError::go_on;
    const bool converses = !command.statements && !command.file && isatty(STDIN_FILENO) != 0;
    options.interruptible = converses;
    shell::Shell shell(counterpart, std::cout, std::cerr, options);
    return run_statements(shell, counterpart, command, text);
}

int run_embedded(const ShellCommand& command, const std::string& text) {
    const system::SystemClock clock;
    auto embedded =
        open_embedded(command.data, command.offline, command.tls, command.permits, clock);
    if (!embedded) return fail(embedded.error());
    if (!command.first.empty()) {
        coordinator::Session session(*embedded->coordinator, user_name());
        for (const std::string& statement : command.first) {
            const coordinator::Execution execution = session.execute(statement);
            const bool there = execution.error && execution.error->code == ErrorCode::worker_exists;
            if (execution.error && !there) return fail(*execution.error);
        }
    }
    const auto counterpart = shell::local(*embedded->coordinator, user_name(), command.wait);
    const int status = run_with(*counterpart, command, text);
    if (embedded->worker) say_what_pauses(*embedded->coordinator);
    return status;
}

}  // namespace

Wait wait_of(const std::string& until, std::uint64_t timeout_s) {
    Wait wait;
    if (until == "running") wait.until = Wait::Until::steady;
    if (until == "ended") wait.until = Wait::Until::ended;
    if (timeout_s != 0) wait.timeout = Duration(std::chrono::seconds(timeout_s));
    return wait;
}

int run_shell(const ShellCommand& command) {
    std::string text = command.statements.value_or("");
    if (command.file) {
        auto read = text_of_file(*command.file);
        if (!read) return fail(read.error());
        text = *std::move(read);
    }
    if (!command.connect) return run_embedded(command, text);
    const auto counterpart = connect(*command.connect, command.wait);
    if (!counterpart) return fail(counterpart.error());
    return run_with(**counterpart, command, text);
}

int run_backup(const std::string& data, const std::string& file) {
    sqlite::SqliteOptions options;
    options.path = sqlite::catalog_path(data);
    options.lock = false;
    auto database = sqlite::open_sqlite(options);
    if (!database) return fail(database.error());
    if (auto done = (*database)->backup_to(file); !done) return fail(done.error());
    std::cout << "backed up " << sqlite::catalog_path(data) << " to " << file << "\n";
    return 0;
}

namespace {

enum class Older : std::uint8_t { refused, accepted };

// The problems of a file, whatever level finds them. One of an older version is looked at as a
// file alone.
Result<std::vector<std::string>> problems_of(const std::string& where, Older older) {
    if (!is_server(where)) {
        TRY_ASSIGN(problems, sqlite::integrity_problems(where));
        if (!problems.empty()) return problems;
    }
    TRY_ASSIGN(database, look_at_catalog(where));
    TRY_ASSIGN(sql, database->connect(Access::read));
    if (older == Older::accepted) {
        TRY_ASSIGN(is_older, catalog::is_of_older_version(*sql));
        if (is_older) return std::vector<std::string>();
    }
    TRY(catalog::require_current_version(*sql));
    if (!is_server(where)) {
        TRY_ASSIGN(of_schema, sqlite::schema_problems(*sql, catalog::migrate));
        if (!of_schema.empty()) return of_schema;
    }
    return catalog::catalog_problems(*sql);
}

// "20261115T124400Z"
std::string time_for_name() {
    std::string text = to_string(system::SystemClock().wall_now());
    std::erase_if(text, [](char c) { return c == ':' || c == '-'; });
    return text.substr(0, text.find('.'));
}

}  // namespace

int run_restore(const std::string& data, const std::string& file, bool force) {
    const std::string path = sqlite::catalog_path(data);
    auto problems = problems_of(file, Older::accepted);  // it is brought up to date when it is used
    if (!problems) return fail(problems.error());
    if (!problems->empty()) {
        return fail({.code = ErrorCode::catalog_corrupt,
                     .message = "the backup " + baton::in_quotes(file) +
                                " is damaged: " + problems->front(),
                     .hint = "`baton check` lists everything"});
    }
    if (auto made = sqlite::make_data_directory(data); !made) return fail(made.error());
    std::optional<std::string> keep_as;
    if (force) keep_as = path + ".replaced-" + time_for_name();
    const auto kept = sqlite::restore_sqlite(path, file, keep_as);
    if (!kept) return fail(kept.error());
    for (const std::string& old : *kept) std::cout << "kept the old file as " << old << "\n";
    std::cout << "restored " << path << " from " << file << "\n";
    return 0;
}

int run_check(const std::string& what) {
    const std::string path = is_server(what) ? what : file_of_catalog(what);
    auto problems = problems_of(path, Older::refused);
    if (!problems) return fail(problems.error());
    for (const std::string& problem : *problems) std::cout << problem << "\n";
    if (!problems->empty()) {
        const bool one = problems->size() == 1;
        std::cout << problems->size() << (one ? " problem in " : " problems in ")
                  << shown_place(path) << "\n";
        return 1;
    }
    std::cout << shown_place(path) << " is sound\n";
    return 0;
}

}  // namespace baton::app
