#include "app/terminal.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iomanip>
#include <memory>
#include <optional>
#include <ostream>

#include <editline/readline.h>

#include "app/files.h"
#include "base/overload.h"
#include "doors/shell/backslash.h"
#include "doors/shell/completion.h"
#include "doors/shell/interrupts.h"
#include "doors/shell/script.h"
#include "sql/printer.h"
#include "sql/vocabulary.h"

namespace baton::app {

namespace {

// The lines typed at the prompt, kept from one conversation to the next.
class History {
public:
    explicit History(std::string file) : file_(std::move(file)) {
        using_history();
        load();
    }
    History(const History&) = delete;
    History& operator=(const History&) = delete;
    ~History() {
        if (file_.empty()) return;
        constexpr int kKeptMax = 1'000;
        clear_history();
        load();  // another shell may have added to it
        for (const std::string& text : harmless_) add_history(text.c_str());
        stifle_history(kKeptMax);
        (void)write_history(file_.c_str());
    }

    void add(const std::string& text) {
        add_history(text.c_str());
        if (shell::may_be_kept(text)) harmless_.push_back(text);
    }

private:
    void load() const {
        if (!file_.empty()) (void)read_history(file_.c_str());
    }

    const std::string file_;
    std::vector<std::string> harmless_;
};

std::string home_file(const char* name) {
    const char* home = std::getenv("HOME");
    return home == nullptr ? std::string() : std::string(home) + "/" + name;
}

// What the Tab key offers. The line editor calls a function without arguments of ours, so there is
// one at a time.
class Completion {
public:
    Completion(shell::Counterpart& counterpart, const std::string& earlier_lines)
        : counterpart_(counterpart), earlier_(earlier_lines) {
        current_ = this;
        rl_attempted_completion_function = [](const char* word, int, int end) {
            rl_attempted_completion_over = 1;  // no names of files
            return current_->matches(word, end);
        };
        rl_basic_word_break_characters = kBreaks;
        rl_completer_word_break_characters = kBreaks;
    }
    Completion(const Completion&) = delete;
    Completion& operator=(const Completion&) = delete;
    ~Completion() {
        rl_attempted_completion_function = nullptr;
        current_ = nullptr;
    }

private:
    static inline char kBreaks[] = " \t\n(),;=<>";  // as shell::last_word has it

    char** matches(const char* word, int end) {
        const std::string line(rl_line_buffer, static_cast<std::size_t>(end));
        const auto found = shell::completions(earlier_ + line,
                                              [this](sql::EntityKind kind) { return names(kind); });
        if (found.empty()) return nullptr;
        // The longest beginning that all have in common, then all of them.
        std::string common = found.front();
        for (const std::string& one : found) {
            const auto differs =
                std::mismatch(common.begin(), common.end(), one.begin(), one.end());
            common.erase(differs.first, common.end());
        }
        if (common.size() < std::strlen(word)) common = word;
        auto** list = static_cast<char**>(std::calloc(found.size() + 2, sizeof(char*)));
        if (list == nullptr) return nullptr;
        list[0] = strdup(common.c_str());
        if (found.size() == 1) return list;
        for (std::size_t i = 0; i < found.size(); ++i) list[i + 1] = strdup(found[i].c_str());
        return list;
    }

    std::vector<std::string> names(sql::EntityKind kind) {
        std::vector<std::string> found;
        const std::string view(sql::view_of(sql::row_of(kind)));
        const auto table = counterpart_.look("SELECT NAME FROM baton." + view + " LIMIT 1000");
        if (!table) return found;  // completion is a help, not an answer
        for (const SqlRow& row : table->rows) {
            if (const auto* name = std::get_if<std::string>(row.data())) {
                found.push_back(sql::print_name(*name));
            }
        }
        return found;
    }

    static inline Completion* current_ = nullptr;
    shell::Counterpart& counterpart_;
    const std::string& earlier_;
};

class Conversation {
public:
    Conversation(shell::Shell& shell, shell::Counterpart& counterpart, std::ostream& out,
                 std::ostream& errors)
        : shell_(shell),
          out_(out),
          errors_(errors),
          history_(home_file(".baton_history")),
          completion_(counterpart, text_) {}

    void hold() {
        for (;;) {
            const auto line = read_line();
            if (!line) break;
            if (!take(*line)) return;
        }
        out_ << "\n";
    }

private:
    // None: the end. A line that was given up is empty, and so is what was before it.
    std::optional<std::string> read_line() {
        const char* prompt = !text_.empty()            ? "    -> "
                             : shell_.in_transaction() ? "baton*> "
                                                       : "baton> ";
        shell::Interrupts::forget();
        const std::unique_ptr<char, decltype(&std::free)> line(readline(prompt), &std::free);
        if (shell::Interrupts::seen()) {
            text_.clear();
            out_ << "\n" << std::flush;
            return "";
        }
        if (!line) return std::nullopt;
        return line.get();
    }

    // False: that was all.
    bool take(const std::string& line) {
        const bool may_be_command = text_.empty() || line.starts_with('\\');
        if (may_be_command) {
            const auto command = shell::backslash_of(line);
            if (!command) {
                errors_ << to_string(command.error()) << std::endl;
                return true;
            }
            if (*command) {
                history_.add(line);
                return obey(**command);
            }
        }
        text_ += line + "\n";
        if (!shell::is_complete(text_)) {
            if (text_.find_first_not_of(" \n\t") == std::string::npos) text_.clear();
            return true;
        }
        history_.add(text_.substr(0, text_.size() - 1));
        run(text_);
        text_.clear();
        return true;
    }

    bool obey(const shell::Backslash& command) {
        return std::visit(
            Overload{
                [](const shell::Leave&) { return false; },
                [&](const shell::Help&) { return said(shell::help_text()); },
                [&](const shell::Describe& c) { return (void)shell_.describe(c.name), true; },
                [&](const shell::RunStatement& c) { return run(c.text), true; },
                [&](const shell::RunFile& c) { return run_file(c.path), true; },
                [&](const shell::SetFormat& c) { return shell_.set_format(c.format), true; },
                [&](const shell::ToggleTiming&) {
                    timing_ = !timing_;
                    return said(timing_ ? "timing is on\n" : "timing is off\n");
                },
            },
            command);
    }

    bool said(std::string_view text) {
        out_ << text << std::flush;
        return true;
    }

    void run_file(const std::string& path) {
        const auto text = text_of_file(path);
        if (!text) {
            errors_ << to_string(text.error()) << std::endl;
            return;
        }
        run(*text);
    }

    void run(const std::string& text) {
        const auto before = std::chrono::steady_clock::now();
        (void)shell_.run(text);
        if (!timing_) return;
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - before;
        out_ << "time: " << std::fixed << std::setprecision(3) << took.count() << " ms"
             << std::endl;
    }

    const shell::Interrupts interrupts_;  // also between a line and what comes of it
    shell::Shell& shell_;
    std::ostream& out_;
    std::ostream& errors_;
    std::string text_;  // typed so far
    bool timing_ = false;
    History history_;
    Completion completion_;
};

}  // namespace

void converse(shell::Shell& shell, shell::Counterpart& counterpart, std::ostream& out,
              std::ostream& errors) {
    Conversation(shell, counterpart, out, errors).hold();
}

}  // namespace baton::app
