#include "app/ctl_commands.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <thread>

#include "adapters/system/system_clock.h"
#include "app/catalogs.h"
#include "app/files.h"
#include "app/screen.h"
#include "base/text.h"
#include "doors/shell/overview.h"
#include "doors/shell/script.h"
#include "doors/shell/shell.h"
#include "sql/printer.h"

namespace baton::app {

namespace {

using shell::Counterpart;

shell::ShellOptions options_of(const CtlCommand& command) {
    shell::ShellOptions options = options_for_screen();
    options.look.format = shell::format_of(command.format).value_or(shell::Format::text);
    return options;
}

template <std::size_t N>
Result<std::array<views::Table, N>> ask(Counterpart& counterpart,
                                        const std::array<std::string_view, N>& questions) {
    std::array<views::Table, N> answers;
    for (std::size_t i = 0; i < N; ++i) {
        TRY_ASSIGN(answer, counterpart.look(questions[i]));
        answers[i] = std::move(answer);
    }
    return answers;
}

Result<std::string> version_of(Counterpart& counterpart) {
    TRY_ASSIGN(table, counterpart.look("SHOW VERSION"));
    if (table.rows.empty()) return std::string();
    return shown(table.rows[0][0], table.columns[0].type);
}

// Below what was done, since it may have been meant for another cluster.
void say_where(const CtlCommand& command) {
    const Reach& where = command.reach;
    std::cerr << "at " << shown_place(where.data.empty() ? where.connect : where.data) << "\n";
}

bool is_number(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::string query_in_statement(const std::string& given) {
    return is_number(given) ? given : sql::print_name(shell::name_as_typed(given));
}

int run_status(const CtlCommand& command) {
    const system::SystemClock clock;
    const auto reached = reach(command.reach, {}, clock);
    if (!reached) return fail(reached.error());
    const auto version = version_of(*reached->counterpart);
    if (!version) return fail(version.error());
    const auto answers = ask(*reached->counterpart, shell::kStateQuestions);
    if (!answers) return fail(answers.error());
    const shell::State state = shell::state_of(*answers);
    std::cout << (command.format == "json" ? as_json(state, *version) : as_text(state, *version));
    constexpr int kNotAsItShouldBe = 3;
    return state.problems.empty() ? 0 : kNotAsItShouldBe;
}

int run_for(const CtlCommand& command, const std::string& statements) {
    const system::SystemClock clock;
    const auto reached = reach(command.reach, command.wait, clock);
    if (!reached) return fail(reached.error());
    shell::Shell shell(*reached->counterpart, std::cout, std::cerr, options_of(command));
    return shell.run_all(statements) ? 0 : 1;
}

int run_change(const CtlCommand& command, const std::string& statements) {
    const int status = run_for(command, statements);
    if (status == 0) say_where(command);
    return status;
}

int run_apply(const CtlCommand& command, const std::string& file, bool dry_run) {
    const system::SystemClock clock;
    const auto text = text_of_file(file);
    if (!text) return fail(text.error());
    const auto reached = reach(command.reach, command.wait, clock);
    if (!reached) return fail(reached.error());
    shell::Shell shell(*reached->counterpart, std::cout, std::cerr, options_of(command));
    if (!shell.apply(*text, is_deployment(file), !dry_run)) return 1;
    if (!dry_run) say_where(command);
    return 0;
}

// ---- logs of a query ----------------------------------------------------------------------------

namespace {

Result<std::string> id_of_query(Counterpart& counterpart, const std::string& which) {
    if (is_number(which)) return which;
    const std::string name = shell::name_as_typed(which);
    TRY_ASSIGN(table, counterpart.look("SELECT ID FROM baton.queries WHERE NAME = " +
                                       sql::print(sql::Literal(name))));
    if (!table.rows.empty()) return shown(table.rows[0][0], table.columns[0].type);
    return Error{.code = ErrorCode::unknown_query,
                 .message = "there is no query " + in_quotes(name),
                 .hint = "one that was dropped is known by its number: `baton query logs NUMBER`"};
}

Result<views::Table> changes_of(Counterpart& counterpart, const std::string& query) {
    TRY_ASSIGN(fragments,
               counterpart.look("SELECT ID FROM baton.fragments WHERE QUERY = " + query));
    std::string which = "(ENTITY = 'query' AND KEY = '" + query + "')";
    if (!fragments.rows.empty()) {
        std::string keys;
        for (const SqlRow& row : fragments.rows) {
            keys += (keys.empty() ? "'" : ", '") + shown(row[0], kinds::ViewType::integer) + "'";
        }
        which += " OR (ENTITY = 'fragment' AND KEY IN (" + keys + "))";
    }
    return counterpart.look("SELECT AT, REVISION, ENTITY, KEY, OP, ROW FROM baton.changes WHERE " +
                            which);
}

}  // namespace

int run_query_logs(const CtlCommand& command, const std::string& which, bool follow) {
    const system::SystemClock clock;
    const auto reached = reach(command.reach, {}, clock);
    if (!reached) return fail(reached.error());
    const auto id = id_of_query(*reached->counterpart, which);
    if (!id) return fail(id.error());
    const auto changes = changes_of(*reached->counterpart, *id);
    if (!changes) return fail(changes.error());
    const shell::ShellOptions options = options_of(command);
    std::cout << render(shell::history_of(*changes), options.look);
    if (!follow) return 0;
    shell::Shell shell(*reached->counterpart, std::cout, std::cerr, options);
    const std::string last =
        changes->rows.empty() ? "" : shown(changes->rows.back()[1], changes->columns[1].type);
    return shell.run_all("WATCH SELECT NAME, STATE, RUN, REASON FROM baton.queries WHERE ID = " +
                         *id + (last.empty() ? "" : " SINCE REVISION " + last))
               ? 0
               : 1;
}

// ---- top ----------------------------------------------------------------------------------------

int run_top(const CtlCommand& command, double interval_s, bool once) {
    const system::SystemClock clock;
    const auto reached = reach(command.reach, {}, clock);
    if (!reached) return fail(reached.error());
    const auto interval = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double>(interval_s));
    shell::Look look = options_of(command).look;
    look.format = shell::Format::text;
    std::optional<Screen> screen;
    if (!once && look.width_max > 0) screen.emplace();
    shell::Top top;
    const Instant start = clock.now();
    for (bool first = true;; first = false) {
        const auto answers = ask(*reached->counterpart, shell::kTopQuestions);
        if (!answers) {
            screen.reset();
            return fail(answers.error());
        }
        const std::size_t lines = screen ? screen->lines() : 0;
        const std::string text = top.screen(clock.now() - start, *answers, lines, look);
        if (screen) {
            if (!screen->show(text, interval)) return 0;
            continue;
        }
        if (!first || !once) std::cout << text << std::flush;
        if (!first && once) return 0;
        if (!std::cout) return 1;
        std::this_thread::sleep_for(interval);
    }
}

}  // namespace baton::app
