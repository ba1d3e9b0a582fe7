#include "app/counterparts.h"

#include <cstdlib>
#include <iostream>

#include <pwd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "adapters/sqlite/data_directory.h"
#include "adapters/sqlite/sqlite.h"
#include "adapters/system/user_secret.h"
#include "app/catalogs.h"
#include "app/object_stores.h"
#include "app/tls_options.h"
#include "catalog/schema.h"
#include "coordinator/sessions/version.h"
#include "doors/remote/remote.h"
#include "doors/shell/local.h"

namespace baton::app {

namespace {

Result<Embedded> open_catalog(const std::string& data, bool create, bool offline,
                              const system::TlsFiles& tls, worker::Permits permits,
                              const Clock& clock) {
    Embedded embedded;
    auto opened = sqlite::open_catalog_in(data, create, catalog::migrate);
    if (!opened) {
        Error error = std::move(opened.error());
        if (error.code == ErrorCode::catalog_in_use) {
            error.hint += std::string(error.hint.empty() ? "" : "; ") +
                          "to talk to a daemon, use --connect " + kDefaultAddress;
        }
        return error;
    }
    if (opened->is_new)
        std::cerr << "created a new catalog in " << sqlite::catalog_path(data) << "\n";
    TRY_ASSIGN(was_old, bring_up_to_date(*opened->database));
    if (was_old) {
        std::cerr << "brought the catalog in " << sqlite::catalog_path(data) << " to version "
                  << catalog::schema_version() << ": older programs refuse it from now on\n";
    }
    coordinator::CoordinatorOptions options;
    options.scratch = sqlite::temporary_sqlites(catalog::migrate);
    if (!offline) {
        TRY_ASSIGN(trust, trust_of(tls, rpc::UnmarkedCertificates::refused));
        if (tls.cert.empty()) {
            TRY_ASSIGN(members, Members::open(*opened->database, clock, {}));
            embedded.members = std::move(members);
            trust = embedded.members->trust();
        }
        permits.files.never.push_back(data);
        permits.files.never.push_back(system::user_secret_path());
        if (!tls.key.empty()) permits.files.never.push_back(tls.key);
        TRY_ASSIGN(tables, TableParts::open({.folder = data + "/tables",
                                             .work_folder = data + "/work",
                                             .files = permits.files,
                                             .targets = permits.targets},
                                            clock));
        embedded.tables = std::move(tables);
        options.tables = &embedded.tables->access();
        options.planner = embedded.tables->planner();
        options.upkeep.seed = random_seed();
        options.version = coordinator::kVersion;
        TRY_ASSIGN(worker, worker::EmbeddedWorker::start(
                               clock, {.trust = trust,
                                       .permits = std::move(permits),
                                       .tables = &embedded.tables->worker_access(),
                                       .log = {}}));
        embedded.worker = std::move(worker);
        options.transport = &embedded.worker->transport();
        options.results = &embedded.worker->results();
    }
    TRY_ASSIGN(coordinator,
               coordinator::CoordinatorRuntime::open(std::move(opened->database), clock, options));
    embedded.coordinator = std::move(coordinator);
    return embedded;
}

// What is typed at the terminal while nothing of it is shown.
std::optional<std::string> password_from_terminal() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return std::nullopt;
    std::cerr << "password: " << std::flush;
    termios before{};
    tcgetattr(STDIN_FILENO, &before);
    termios hidden = before;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    std::string password;
    const bool given = static_cast<bool>(std::getline(std::cin, password));
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    std::cerr << "\n";
    if (!given) return std::nullopt;
    return password;
}

}  // namespace

int fail(const Error& error) {
    std::cerr << to_string(error) << "\n";
    return 1;
}

std::string user_name() {
    const passwd* entry = getpwuid(geteuid());
    return entry != nullptr ? entry->pw_name : "uid " + std::to_string(geteuid());
}

shell::ShellOptions options_for_screen() {
    shell::ShellOptions options;
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool colours = (no_color == nullptr || *no_color == '\0') && term != nullptr &&
                         std::string_view(term) != "dumb";
    winsize size{};
    if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        options.look.width_max = size.ws_col;
        options.look.colours = colours;
    }
    options.colours_of_errors = colours && isatty(STDERR_FILENO) != 0;
    options.shows_progress = colours && isatty(STDERR_FILENO) != 0;
    return options;
}

Result<Embedded> open_embedded(const std::string& data, bool offline, const system::TlsFiles& tls,
                               const worker::Permits& permits, const Clock& clock) {
    return open_catalog(data, true, offline, tls, permits, clock);
}

Result<std::unique_ptr<shell::Counterpart>> connect(const std::string& address, const Wait& wait) {
    return remote::remote(address, wait, password_from_terminal);
}

Result<Reached> reach(const Reach& where, const Wait& wait, const Clock& clock) {
    Reached reached;
    if (where.data.empty()) {
        TRY_ASSIGN(counterpart, connect(where.connect, wait));
        reached.counterpart = std::move(counterpart);
        return reached;
    }
    TRY_ASSIGN(embedded, open_catalog(where.data, false, true, {}, {}, clock));
    reached.embedded = std::move(embedded);
    reached.counterpart = shell::local(*reached.embedded->coordinator, user_name(), wait);
    return reached;
}

}  // namespace baton::app
