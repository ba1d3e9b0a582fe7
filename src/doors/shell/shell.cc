#include "doors/shell/shell.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>

#include "base/text.h"
#include "doors/shell/advice.h"
#include "doors/shell/interrupts.h"
#include "doors/shell/progress.h"
#include "doors/shell/script.h"
#include "doors/yaml/deployment.h"
#include "sql/parser.h"
#include "sql/printer.h"

namespace baton::shell {

namespace {

// A signal handler cannot wake a condition variable, so the flag is looked at now and then.
constexpr std::chrono::milliseconds kGlance{100};

// What goes on beside a statement that takes its time: the user is told how it is, and may end it.
class Beside {
public:
    Beside(Counterpart& counterpart, std::ostream& errors, const ShellOptions& options)
        : counterpart_(counterpart), errors_(errors), options_(options) {
        if (!options.interruptible && !options.shows_progress) return;
        if (options.interruptible) interrupts_.emplace();
        thread_ = std::thread([this] { watch(); });
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    ~Beside() {
        if (!thread_.joinable()) return;
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        ended_.notify_one();
        thread_.join();
        if (!line_.empty()) errors_ << kErase << std::flush;
    }

private:
    static constexpr std::string_view kErase = "\r\x1b[K";

    void watch() {
        constexpr int kGlancesBeforeWords = 3;
        for (int glances = 1; !is_over(); ++glances) {
            if (options_.interruptible && Interrupts::seen()) counterpart_.interrupt();
            if (options_.shows_progress && glances >= kGlancesBeforeWords) tell();
        }
    }
    bool is_over() {
        std::unique_lock lock(mutex_);
        return ended_.wait_for(lock, kGlance, [&] { return over_; });
    }
    void tell() {
        std::string line = progress_of(counterpart_);
        const std::size_t width = options_.look.width_max;
        if (width > 1 && line.size() >= width) line.resize(width - 1);
        if (line == line_) return;
        line_ = line;
        errors_ << kErase << line_ << std::flush;
    }

    Counterpart& counterpart_;
    std::ostream& errors_;
    const ShellOptions& options_;
    std::optional<Interrupts> interrupts_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::string line_;
    std::thread thread_;
};

}  // namespace

Shell::Shell(Counterpart& counterpart, std::ostream& out, std::ostream& errors,
             const ShellOptions& options)
    : counterpart_(counterpart), out_(out), errors_(errors), options_(options) {}

// ---- texts --------------------------------------------------------------------------------------

bool Shell::run(std::string_view text) {
    const auto statements = sql::parse(text, {.statements_max = SIZE_MAX});  // of one's own script
    std::vector<Part> parts;
    if (statements) {
        parts = groups_of(text, *statements);
    } else if (options_.on_error == OnError::go_on) {
        parts = cut_at_semicolons(text);
    } else {
        parts = {{.begin = 0, .end = text.size()}};  // whose error is told, and logged
    }
    bool well = true;
    for (const Part& part : parts) {
        if (run_part(text, part.begin, part.end)) continue;
        well = false;
        if (options_.on_error == OnError::stop) break;
    }
    return well;
}

bool Shell::run_part(std::string_view text, std::size_t begin, std::size_t end) {
    const std::string_view part = text.substr(begin, end - begin);
    Replies replies = execute(part);
    if (replies.error && replies.error->at) {
        replies.error->at = position_at(text, begin + replies.error->at->offset);
    }
    return show(std::move(replies), part, text);
}

bool Shell::run_all(std::string_view text) {
    const bool well = run(text);
    if (!counterpart_.in_transaction()) return well;
    if (well) {
        errors_ << "the transaction was not committed: it is rolled back, nothing of it happened\n";
    }
    return false;
}

Replies Shell::execute(std::string_view text) {
    const Beside beside(counterpart_, errors_, options_);
    return counterpart_.execute(text);
}

// ---- bundles ------------------------------------------------------------------------------------

namespace {

// A bundle as one text, and where its statements are in it and in the file.
struct BundleText {
    std::string text;
    std::vector<std::pair<std::size_t, Position>> places;
};

// A question about where the queries of these statements run; empty if they have none with a name.
std::string placement_question(const std::vector<sql::Statement>& statements) {
    std::string names;
    for (const sql::Statement& statement : statements) {
        const auto* query = std::get_if<sql::CreateQuery>(&statement.node);
        if (query == nullptr || !query->name) continue;
        names += (names.empty() ? "" : ", ") + sql::print(sql::Literal(*query->name));
    }
    if (names.empty()) return {};
    return "SELECT QUERY_NAME, WORKER, STAGE, SLOTS FROM baton.fragments WHERE QUERY_NAME IN (" +
           names + ")";
}

BundleText bundle_of(const std::vector<sql::Statement>& statements, bool commit) {
    BundleText bundle{.text = "BEGIN;\n", .places = {}};
    for (const sql::Statement& statement : statements) {
        bundle.places.emplace_back(bundle.text.size(), statement.at);
        bundle.text += sql::print(statement) + ";\n";
    }
    if (commit) {
        bundle.text += "COMMIT";
        return bundle;
    }
    if (const std::string where = placement_question(statements); !where.empty()) {
        bundle.text += where + ";\n";
    }
    bundle.text += "ROLLBACK";
    return bundle;
}

Result<std::vector<sql::Statement>> statements_of(std::string_view text, bool is_yaml) {
    if (is_yaml) {
        TRY_ASSIGN(deployment, yaml::read_deployment(text));
        return std::move(deployment.statements);
    }
    TRY_ASSIGN(statements, sql::parse(text));
    std::erase_if(statements, [](const sql::Statement& s) {
        return std::holds_alternative<sql::Begin>(s.node) ||
               std::holds_alternative<sql::Commit>(s.node);
    });
    return statements;
}

}  // namespace

bool Shell::apply(std::string_view text, bool is_yaml, bool commit) {
    const auto statements = statements_of(text, is_yaml);
    if (!statements) {
        complain(statements.error(), text);
        return false;
    }
    const BundleText bundle = bundle_of(*statements, commit);
    Replies replies = execute(bundle.text);
    if (counterpart_.in_transaction()) (void)counterpart_.execute("ROLLBACK");
    if (replies.error && replies.error->at) {
        // Statements have their place in the file; places within one are those of its own text.
        const auto place = std::find_if(
            bundle.places.begin(), bundle.places.end(),
            [&](const auto& candidate) { return candidate.first == replies.error->at->offset; });
        replies.error->at.reset();
        if (place != bundle.places.end()) replies.error->at = place->second;
    }
    if (!commit && !replies.done.empty()) {  // BEGIN and ROLLBACK are not the user's
        replies.done.erase(replies.done.begin());
        if (!replies.error) replies.done.back().value = "dry run: nothing was changed";
    }
    return show(std::move(replies), {}, text);
}

// ---- answers ------------------------------------------------------------------------------------

void Shell::complain(const Error& error, std::string_view text) {
    out_.flush();
    errors_ << render_error(error, text, options_.colours_of_errors) << std::flush;
}

bool Shell::show(Replies replies, std::string_view part, std::string_view text) {
    for (std::size_t i = 0; i < replies.done.size(); ++i) {
        std::string advice;
        const auto* table = std::get_if<views::Table>(&replies.done[i].value);
        if (table != nullptr && table->rows.empty()) {
            const auto statements = sql::parse(part);
            if (statements && i < statements->size()) advice = advice_on((*statements)[i]);
        }
        if (!show(std::move(replies.done[i]))) return false;
        if (advice.empty()) continue;
        out_.flush();
        errors_ << advice << "\n";
    }
    out_.flush();
    if (!replies.error) return true;
    complain(*replies.error, text);
    return false;
}

bool Shell::show(Reply reply) {
    Look look = options_.look;
    if (reply.format) {
        look.format = *reply.format == sql::OutputFormat::json ? Format::json : Format::text;
    }
    if (const auto* table = std::get_if<views::Table>(&reply.value)) {
        if (!table->note.empty()) errors_ << "warning: " << table->note << "\n";
        out_ << render(*table, look);
        return true;
    }
    if (auto* events = std::get_if<std::unique_ptr<ComingEvents>>(&reply.value)) {
        return follow(**events, look);
    }
    if (auto* rows = std::get_if<std::unique_ptr<ComingRows>>(&reply.value)) {
        return follow(**rows, look);
    }
    out_ << std::get<std::string>(reply.value) << "\n";
    return true;
}

bool Shell::follow(ComingRows& rows, const Look& look) {
    const Interrupts interrupts;
    RowLines lines(rows.columns(), look);
    bool ended = false;
    while (!ended && !Interrupts::seen()) {
        auto fed = rows.next(kGlance);
        if (!fed) {
            complain(fed.error(), {});
            return false;
        }
        out_ << lines.next(fed->rows);
        if (!out_.flush()) return false;
        ended = fed->ended;
    }
    Interrupts::forget();
    if (!ended && look.width_max > 0) out_ << "\n";  // after the ^C that the terminal shows
    out_ << lines.end();
    return true;
}

bool Shell::follow(ComingEvents& events, const Look& look) {
    const Interrupts interrupts;
    EventLines lines(events.columns(), look);
    while (!Interrupts::seen()) {
        auto news = events.next(kGlance);
        if (!news) {
            complain(news.error(), {});
            return false;
        }
        for (const coordinator::WatchEvent& event : *news) out_ << lines.next(event);
        if (!out_.flush()) return false;
    }
    Interrupts::forget();
    if (look.format == Format::text) {
        if (look.width_max > 0) out_ << "\n";  // after the ^C that the terminal shows
        if (const auto revision = events.revision()) {
            out_ << "-- ended at revision " << to_string(*revision) << "\n";
        }
    }
    return true;
}

// ---- \d -----------------------------------------------------------------------------------------

namespace {

struct Kind {
    std::string_view title;
    std::string_view view;
    std::string_view name_column;
};
constexpr std::array kKinds = {
    Kind{"logical source", "logical_sources", "NAME"},
    Kind{"physical source", "physical_sources", "LOGICAL"},
    Kind{"sink", "sinks", "NAME"},
    Kind{"query", "queries", "NAME"},
    Kind{"fragment", "fragments", "QUERY_NAME"},
    Kind{"worker", "workers", "NAME"},
};

// One column a line.
std::string as_record(const views::Table& table, std::size_t row) {
    std::size_t width = 0;
    for (const views::TableColumn& column : table.columns)
        width = std::max(width, column.name.size());
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string value = kinds::shown(table.rows[row][i], table.columns[i].type);
        if (value.empty() || value == "[]") continue;
        const std::string& name = table.columns[i].name;
        text += "  " + name + std::string(width - name.size() + 2, ' ') + value + "\n";
    }
    return text;
}

}  // namespace

bool Shell::describe(std::string_view name) {
    bool found = false;
    for (const Kind& kind : kKinds) {
        const auto table = counterpart_.look("SELECT * FROM baton." + std::string(kind.view) +
                                             " WHERE " + std::string(kind.name_column) + " = " +
                                             sql::print(sql::Literal(std::string(name))));
        if (!table) {
            complain(table.error(), {});
            return false;
        }
        for (std::size_t i = 0; i < table->rows.size(); ++i) {
            out_ << kind.title << " " << sql::print_name(std::string(name)) << "\n"
                 << as_record(*table, i);
        }
        found = found || !table->rows.empty();
    }
    out_.flush();
    if (!found) errors_ << "there is nothing of the name " << in_quotes(name) << "\n";
    return found;
}

}  // namespace baton::shell
