// tidy checks what the compiler cannot: the direction of dependencies, the purity of code that
// decides, the few habits that keep files readable, and the words of comments and documents.
//
//     tidy <root> <modules.txt>
//
// Looks at the C++ files under <root>/src, tests, tools and bench, and at the documents in <root>
// and <root>/docs; tests/tidy holds the planted violations that test this program and is left out.
// modules.txt is written by CMake: one "module namespace: dep dep" line for each baton_module(), in
// the order of the layers. A module without a namespace may use any.
//
// Every complaint says what to do instead. Exit status: 0 clean, 1 complaints, 2 wrong usage.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLinesMax = 500;
constexpr std::size_t kLinesOfTestMax = 800;
constexpr std::size_t kColumnsMax = 100;

// What decides: these rooms know each other and the standard library, nothing else.
constexpr std::array<std::string_view, 5> kPureRooms = {"base", "model", "sql", "promql", "core"};
// Where the world is let in. Tests and fuzz targets may include any library, too.
constexpr std::array<std::string_view, 10> kOpenRooms = {
    "adapters",     "app",        "doors/http",  "doors/joining", "doors/pg",
    "doors/remote", "doors/yaml", "worker/node", "slt",           "testing"};
// Libraries that a module of another room may use, by the start of the include.
constexpr std::array kAllowedLibraries = {
    std::pair<std::string_view, std::string_view>{"catalog/kinds", "nlohmann/"},
    std::pair<std::string_view, std::string_view>{"sim", "CLI/"},
    // Computation on bytes in memory: as good as the standard library.
    std::pair<std::string_view, std::string_view>{"engine/formats", "simdjson.h"},
    std::pair<std::string_view, std::string_view>{"engine/formats", "fast_float/"},
    std::pair<std::string_view, std::string_view>{"engine/formats", "immintrin.h"},
    std::pair<std::string_view, std::string_view>{"engine/arrow", "flatbuffers/"},
    std::pair<std::string_view, std::string_view>{"engine/arrow", "arrow_ipc_generated.h"},
};

struct Ban {
    std::string_view words;  // separated by spaces
    std::string_view instead;
};

// Nothing that decides may reach the clock, the dice, the threads, or the order of a hash table.
constexpr std::array kBannedHeaders = {
    Ban{"thread mutex shared_mutex atomic future condition_variable semaphore latch barrier "
        "stop_token",
        "an effect: what decides owns no threads"},
    Ban{"iostream fstream ostream istream filesystem", "an effect: what decides does no I/O"},
    Ban{"random", "the Prng given by the caller"},
    Ban{"unordered_map unordered_set", "<map> or <set>: the order must not depend on a hash"},
};
constexpr std::array kBannedInPure = {
    Ban{"steady_clock system_clock high_resolution_clock clock_gettime gettimeofday",
        "the `now` given by the caller"},
    Ban{"unordered_map unordered_set unordered_multimap unordered_multiset",
        "std::map or std::set: the order must not depend on a hash"},
    Ban{"rand srand random_device mt19937 mt19937_64 uniform_int_distribution",
        "the Prng given by the caller"},
    Ban{"throw", "Result for bad input, CHECK for bugs"},
};
constexpr std::array kBannedInUnitTests = {
    Ban{"sleep_for sleep_until usleep nanosleep", "a time that the test says, or tests/"},
};

// Prose reads as English: see "Prose" in docs/STYLE.md. No sentence begins with one of these.
constexpr std::array<std::string_view, 5> kBannedStarts = {"What", "Who", "Whoever", "Nobody",
                                                           "Somebody"};
// Whole words, in any case of their first letter.
constexpr std::array kBannedInProse = {
    Ban{"whoever somebody nobody", "a noun, such as client, worker, caller or leader"},
};
struct BannedPhrase {
    std::string_view phrase;
    std::string_view instead;
};
constexpr std::array kBannedPhrases = {
    BannedPhrase{"let gone", "released"},
    BannedPhrase{"not any more", "no longer"},
    BannedPhrase{"is told", "gets, learns, returns or reports"},
    BannedPhrase{"are told", "get, learn, return or report"},
    BannedPhrase{"be told", "get, learn, return or report"},
    BannedPhrase{"was told", "got, learned or was asked"},
    BannedPhrase{"were told", "got, learned or were asked"},
};
// Printed by programs from lists in the code.
constexpr std::array<std::string_view, 2> kPrintedDocuments = {"VIEWS.md", "ERRORS.md"};

using Instead = std::map<std::string_view, std::string_view>;

template <std::size_t N>
Instead index(const std::array<Ban, N>& bans) {
    Instead index;
    for (const Ban& ban : bans) {
        for (std::size_t start = 0; start < ban.words.size();) {
            const std::size_t end = std::min(ban.words.find(' ', start), ban.words.size());
            index.emplace(ban.words.substr(start, end - start), ban.instead);
            start = end + 1;
        }
    }
    return index;
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// One line, taken apart: literals are blanked out of `code`, comments are only in `comment`.
struct Line {
    std::string code;
    std::string comment;
};

class LineReader {
public:
    Line read(std::string_view text) {
        Line line;
        for (std::size_t i = 0; i < text.size();) i = step(text, i, line);
        if (state_ != State::block_comment && state_ != State::raw_string) state_ = State::code;
        return line;
    }

private:
    enum class State { code, line_comment, block_comment, string, character, raw_string };

    // Consumes what begins at `i` and returns where the next thing begins.
    std::size_t step(std::string_view text, std::size_t i, Line& line) {
        switch (state_) {
            case State::code:
                return step_in_code(text, i, line);
            case State::line_comment:
                line.comment += text[i];
                return i + 1;
            case State::block_comment:
                if (text.substr(i, 2) == "*/") return leave(i + 2);
                line.comment += text[i];
                return i + 1;
            case State::string:
            case State::character:
                if (text[i] == '\\') return i + 2;
                if (text[i] == (state_ == State::string ? '"' : '\'')) return leave(i + 1);
                return i + 1;
            case State::raw_string:
                if (text.substr(i, raw_end_.size()) == raw_end_) return leave(i + raw_end_.size());
                return i + 1;
        }
        return i + 1;
    }

    std::size_t step_in_code(std::string_view text, std::size_t i, Line& line) {
        const std::string_view two = text.substr(i, 2);
        if (two == "//") return enter(State::line_comment, i + 2);
        if (two == "/*") return enter(State::block_comment, i + 2);
        if (two == "R\"") {
            const std::size_t open = std::min(text.find('(', i), text.size() - 1);
            raw_end_ = ")" + std::string(text.substr(i + 2, open - i - 2)) + "\"";
            return enter(State::raw_string, open + 1);
        }
        const bool separates_digits = text[i] == '\'' && i > 0 && is_word(text[i - 1]);
        if (text[i] == '"') return enter(State::string, i + 1);
        if (text[i] == '\'' && !separates_digits) return enter(State::character, i + 1);
        line.code += text[i];
        return i + 1;
    }

    std::size_t enter(State state, std::size_t next) {
        state_ = state;
        return next;
    }
    std::size_t leave(std::size_t next) { return enter(State::code, next); }

    State state_ = State::code;
    std::string raw_end_;  // what ends the raw string we are in
};

// The whole words of a line of code.
std::vector<std::string_view> words_of(std::string_view code) {
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < code.size();) {
        std::size_t end = i;
        while (end < code.size() && is_word(code[end])) ++end;
        if (end > i) words.push_back(code.substr(i, end - i));
        i = std::max(end, i + 1);
    }
    return words;
}

// Finds the types that a file defines for the whole program: in no function, no other type and no
// unnamed namespace.
class TypeFinder {
public:
    // With their namespaces: "baton::Word".
    std::vector<std::string> read(std::string_view code) {
        std::vector<std::string> found;
        if (code.starts_with('#')) return found;
        for (const char c : code) {
            if (c == '{') {
                open(found);
            } else if (c == '}' && !scopes_.empty()) {
                scopes_.pop_back();
            }
            head_ = c == '{' || c == '}' || c == ';' ? "" : head_ + c;
        }
        head_ += ' ';
        return found;
    }

private:
    void open(std::vector<std::string>& found) {
        const std::vector<std::string_view> words = words_of(head_);
        if (!words.empty() && words.front() == "namespace") {
            std::string name;
            for (std::size_t i = 1; i < words.size(); ++i) name += std::string(words[i]) + "::";
            scopes_.push_back(name.empty() ? std::nullopt : std::optional(name));
            return;
        }
        const std::string type = type_of(words);
        const bool everywhere = std::all_of(scopes_.begin(), scopes_.end(),
                                            [](const auto& scope) { return scope.has_value(); });
        if (!type.empty() && everywhere) {
            std::string name;
            for (const auto& scope : scopes_) name += *scope;
            found.push_back(name + type);
        }
        scopes_.emplace_back(std::nullopt);
    }

    // "struct Word : Text" defines Word; empty: it defines no type, or a specialisation.
    [[nodiscard]] std::string type_of(const std::vector<std::string_view>& words) const {
        if (head_.find('(') != std::string::npos || head_.find('=') != std::string::npos) return "";
        const auto key = std::find_if(words.begin(), words.end(), [](std::string_view word) {
            return word == "struct" || word == "class" || word == "enum" || word == "union";
        });
        if (key == words.end() || head_.find("template") != std::string::npos) return "";
        auto name = key + 1;
        if (name != words.end() && (*name == "class" || *name == "struct")) ++name;
        if (name == words.end()) return "";
        std::string type(*name);
        while (std::string_view(name->data() + name->size()).starts_with("::")) {
            type += "::" + std::string(*++name);  // it was declared inside of another
        }
        return type;
    }

    std::vector<std::optional<std::string>> scopes_;  // none: a function, a type, an unnamed one
    std::string head_;                                // since the last brace or semicolon
};

// A paragraph of prose, joined to one text whose places can be traced back to lines.
class Paragraph {
public:
    void add(std::size_t number, std::string_view line) {
        if (!text_.empty()) text_ += ' ';
        begins_.emplace_back(text_.size(), number);
        text_ += line;
    }
    [[nodiscard]] std::string take() {
        quoted_ = false;
        for (char& c : text_) {  // words under discussion do not count
            if (c == '"' || c == '`') quoted_ = !quoted_;
            if (quoted_) c = '"';
        }
        return std::exchange(text_, {});
    }
    [[nodiscard]] std::size_t line_of(std::size_t place) const {
        std::size_t line = 0;
        for (const auto& [begin, number] : begins_) {
            if (begin <= place) line = number;
        }
        return line;
    }
    void clear() { begins_.clear(); }

private:
    std::string text_;
    std::vector<std::pair<std::size_t, std::size_t>> begins_;
    bool quoted_ = false;
};

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

// The width of "- ", "* " or "12. " at the start of a line; 0: none.
std::size_t bullet_of(std::string_view line) {
    if (line.starts_with("- ") || line.starts_with("* ")) return 2;
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    return digits > 0 && line.substr(digits).starts_with(". ") ? digits + 2 : 0;
}

struct Include {
    std::string path;
    bool quoted;
};

std::optional<Include> include_of(std::string_view text) {
    constexpr std::string_view kInclude = "#include ";
    if (!text.starts_with(kInclude) || text.size() < kInclude.size() + 2) return std::nullopt;
    const char open = text[kInclude.size()];
    if (open != '"' && open != '<') return std::nullopt;
    text.remove_prefix(kInclude.size() + 1);
    return Include{std::string(text.substr(0, text.find(open == '"' ? '"' : '>'))), open == '"'};
}

std::string_view room_of(std::string_view module) {
    return module.substr(0, module.find('/'));
}

// Whether the module is one of the rooms, or within one.
template <std::size_t N>
bool among(const std::array<std::string_view, N>& rooms, std::string_view module) {
    return std::any_of(rooms.begin(), rooms.end(), [&](std::string_view room) {
        return module == room ||
               (module.starts_with(room) && module.substr(room.size()).starts_with('/'));
    });
}

bool is_pure(std::string_view module) {
    return among(kPureRooms, module);
}

struct Module {
    std::string name;
    std::string space;  // "baton::sql"; empty: any
    std::set<std::string> deps;
};

std::vector<Module> read_modules(const fs::path& path) {
    std::vector<Module> modules;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        Module& module = modules.emplace_back();
        std::istringstream names(line.substr(0, colon));
        names >> module.name >> module.space;
        if (!module.space.empty() && module.space != "baton") module.space.insert(0, "baton::");
        std::istringstream words(line.substr(colon + 1));
        for (std::string dep; words >> dep;) module.deps.insert(dep);
    }
    return modules;
}

struct File {
    fs::path path;
    std::string module;  // empty outside src/
    bool is_header;
    bool is_test;  // or a fuzz target
};

class Tidy {
public:
    Tidy(fs::path root, const std::vector<Module>& modules, std::string modules_file)
        : root_(std::move(root)), modules_file_(std::move(modules_file)) {
        check_layers(modules);
        for (const Module& module : modules) {
            deps_[module.name] = module.deps;
            spaces_[module.name] = module.space;
        }
    }

    int run() {
        for (const std::string_view part : {"src", "tests", "tools", "bench"}) {
            for (const File& file : files_of(part)) check(file);
        }
        for (const fs::path& document : documents()) check_document(document);
        return complaints_ == 0 ? 0 : 1;
    }

private:
    void check_layers(const std::vector<Module>& modules) {
        std::set<std::string> above;
        for (std::size_t i = 0; i < modules.size(); ++i) {
            const auto& [name, space, deps] = modules[i];
            for (const std::string& dep : deps) {
                if (!above.contains(dep))
                    complain(modules_file_, i + 1,
                             name + " depends on " + dep + ", which is not declared above it");
                if (is_pure(name) && !is_pure(dep))
                    complain(modules_file_, i + 1,
                             name + " decides and may not depend on " + dep + ", which acts");
                if (name == "ports" && room_of(dep) == "core")
                    complain(modules_file_, i + 1, "core and ports do not know each other");
            }
            above.insert(name);
        }
    }

    std::vector<File> files_of(std::string_view part) {
        std::vector<File> files;
        if (!fs::exists(root_ / part)) return files;
        for (auto i = fs::recursive_directory_iterator(root_ / part); i != end(i); ++i) {
            if (i->path() == root_ / "tests" / "tidy") i.disable_recursion_pending();
            const fs::path& path = i->path();
            if (path.extension() != ".h" && path.extension() != ".cc") continue;
            const std::string stem = path.stem().string();
            files.push_back(
                {.path = path,
                 .module = part == "src"
                               ? path.lexically_relative(root_ / "src").parent_path().string()
                               : std::string(),
                 .is_header = path.extension() == ".h",
                 .is_test = stem.ends_with("_test") || stem.ends_with("_fuzz")});
        }
        std::sort(files.begin(), files.end(),
                  [](const File& a, const File& b) { return a.path < b.path; });
        return files;
    }

    void check(const File& file) {
        std::ifstream in(file.path);
        LineReader reader;
        TypeFinder types;
        std::size_t number = 0;
        bool has_pragma = false;
        for (std::string text; std::getline(in, text);) {
            number += 1;
            has_pragma = has_pragma || text == "#pragma once";
            if (number == 1 && file.is_header && !text.starts_with("// "))
                complain(file.path, 1, "a header opens with a comment: the one thing it is for");
            const Line line = reader.read(text);
            check_line(file, number, text, line);
            for (const std::string& type : types.read(line.code)) check_type(file, number, type);
            check_namespace(file, number, line.code);
            check_prose_of(file, number, line);
        }
        end_paragraph(file.path);
        if (file.is_header && !has_pragma) complain(file.path, 1, "write #pragma once");
        check_place(file);
        const bool is_test = file.is_test || file.module.empty();
        if (number > (is_test ? kLinesOfTestMax : kLinesMax))
            complain(file.path, number, "file is too long: look for the second idea in it");
    }

    void check_place(const File& file) {
        if (!file.path.string().starts_with((root_ / "src").string())) return;
        if (deps_.contains(file.module)) return;
        if (!undeclared_.insert(file.module).second) return;
        complain(file.path, 1, "src/" + file.module + " is not declared with baton_module()");
    }

    void check_line(const File& file, std::size_t number, const std::string& text,
                    const Line& line) {
        const auto columns =
            std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
        if (static_cast<std::size_t>(columns) > kColumnsMax)
            complain(file.path, number, "line is longer than " + std::to_string(kColumnsMax));
        check_comment(file, number, line.comment);
        if (line.code.find("using namespace std;") != std::string::npos)
            complain(file.path, number, banned("using namespace std", "a qualified name"));
        if (const auto include = include_of(text)) {
            check_include(file, number, *include);
            return;
        }
        if (file.module.empty()) return;
        if (file.is_test) forbid(file, number, line.code, in_unit_tests_);
        if (!file.is_test && is_pure(file.module)) forbid(file, number, line.code, in_pure_);
    }

    // Two types of one name in one program are undefined behaviour, and no linker says so.
    void check_type(const File& file, std::size_t number, const std::string& type) {
        if (file.module.empty() || file.is_test) return;
        if (const std::string& space = space_of(file);
            !space.empty() && !type.starts_with(space + "::"))
            complain(file.path, number, type + " belongs into namespace " + space);
        const auto [known, is_new] = types_.emplace(type, file.path);
        if (is_new || known->second == file.path) return;
        complain(file.path, number,
                 type + " is defined in " + known->second.lexically_normal().string() +
                     ", too: rename one, or put it into a namespace of its module");
    }

    // `baton` itself is for the vocabulary that all rooms share.
    void check_namespace(const File& file, std::size_t number, std::string_view code) {
        const std::string& space = space_of(file);
        if (code.starts_with("namespace baton {") && !space.empty() && space != "baton")
            complain(file.path, number, banned("namespace baton", "namespace " + space));
    }

    [[nodiscard]] const std::string& space_of(const File& file) const {
        static const std::string any;
        const auto found = spaces_.find(file.module);
        return found == spaces_.end() ? any : found->second;
    }

    void check_comment(const File& file, std::size_t number, std::string_view comment) {
        if (comment.find("FIXME") != std::string_view::npos)
            complain(file.path, number, banned("FIXME", "a fix"));
        const std::size_t todo = comment.find("TODO");
        if (todo == std::string_view::npos) return;
        const bool numbered = comment.substr(todo).starts_with("TODO(#") &&
                              comment.size() > todo + 6 && comment[todo + 6] >= '0' &&
                              comment[todo + 6] <= '9';
        if (!numbered) complain(file.path, number, "TODO without an issue, write TODO(#12)");
    }

    // ---- prose ----------------------------------------------------------------------------------

    std::vector<fs::path> documents() {
        std::vector<fs::path> found;
        const auto take = [&](const fs::directory_entry& entry) {
            const fs::path& path = entry.path();
            if (path.extension() != ".md" || !entry.is_regular_file()) return;
            const std::string name = path.filename().string();
            if (std::find(kPrintedDocuments.begin(), kPrintedDocuments.end(), name) ==
                kPrintedDocuments.end())
                found.push_back(path);
        };
        for (const auto& entry : fs::directory_iterator(root_)) take(entry);
        if (fs::exists(root_ / "docs")) {
            for (const auto& entry : fs::recursive_directory_iterator(root_ / "docs")) take(entry);
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    // Tables, fenced blocks and indented blocks are no prose.
    void check_document(const fs::path& path) {
        std::ifstream in(path);
        std::size_t number = 0;
        bool fenced = false;
        bool in_paragraph = false;
        for (std::string text; std::getline(in, text);) {
            number += 1;
            const std::string_view line = trimmed(text);
            const bool fence = line.starts_with("```");
            if (fence) fenced = !fenced;
            const bool block = fence || fenced || line.empty() || line.starts_with("|") ||
                               (!in_paragraph && text.starts_with("    "));
            const std::size_t bullet = bullet_of(line);
            if (block || bullet > 0 || line.starts_with("#")) end_paragraph(path);
            if (!block) paragraph_.add(number, line.substr(bullet));
            in_paragraph = !block;
        }
        end_paragraph(path);
    }

    void check_prose_of(const File& file, std::size_t number, const Line& line) {
        if (!file.is_header || file.module.empty()) return;
        const bool own_line = trimmed(line.code).empty();
        const std::string_view text = trimmed(line.comment);
        const std::size_t indent = line.comment.find_first_not_of(' ');
        const std::size_t bullet = bullet_of(text);
        if (own_line && !text.empty() && bullet == 0 && bullet_at_ == indent)
            complain(file.path, number, "the formatter broke this bullet: write it again");
        if (!own_line || text.empty() || bullet > 0) {
            end_paragraph(file.path);
            bullet_at_.reset();
        }
        if (own_line && text.starts_with("- ")) bullet_at_ = indent;
        if (own_line && !text.empty() && bullet == 0 && bullet_at_ && indent < *bullet_at_)
            bullet_at_.reset();
        if (text.empty()) return;
        paragraph_.add(number, text.substr(bullet));
        if (!own_line) end_paragraph(file.path);
    }

    void end_paragraph(const fs::path& path) {
        const std::string text = paragraph_.take();
        for (const std::string_view word : words_of(text)) {
            const auto place = static_cast<std::size_t>(word.data() - text.data());
            std::string lower(word);
            lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
            const auto banned_word = in_prose_.find(lower);
            if (begins_sentence(text, place) &&
                std::find(kBannedStarts.begin(), kBannedStarts.end(), word) != kBannedStarts.end())
                complain(path, paragraph_.line_of(place),
                         "a sentence begins with '" + std::string(word) + "', use a noun");
            else if (banned_word != in_prose_.end())
                complain(path, paragraph_.line_of(place), banned(lower, banned_word->second));
            for (const auto& [phrase, instead] : kBannedPhrases) {
                if (!has_phrase_at(text, place, phrase)) continue;
                complain(path, paragraph_.line_of(place), banned(std::string(phrase), instead));
            }
        }
        paragraph_.clear();
    }

    static bool begins_sentence(std::string_view text, std::size_t place) {
        const std::size_t last = text.substr(0, place).find_last_not_of(" *(");
        if (last == std::string_view::npos) return true;
        return last + 1 < place &&
               std::string_view(".!?:").find(text[last]) != std::string_view::npos;
    }

    static bool has_phrase_at(std::string_view text, std::size_t place, std::string_view phrase) {
        if (!text.substr(place).starts_with(phrase)) return false;
        const std::size_t end = place + phrase.size();
        return end == text.size() || !is_word(text[end]);
    }

    // ---- includes -------------------------------------------------------------------------------

    void check_include(const File& file, std::size_t number, const Include& include) {
        if (include.quoted) {
            check_own_include(file, number, include.path);
            return;
        }
        if (file.module.empty() || file.is_test) return;
        if (const auto found = headers_.find(include.path);
            found != headers_.end() && is_pure(file.module))
            complain(file.path, number, banned("<" + include.path + ">", found->second));
        const bool is_standard = include.path.find_first_of("./") == std::string::npos;
        if (is_standard || among(kOpenRooms, file.module)) return;
        for (const auto& [module, start] : kAllowedLibraries) {
            if (file.module == module && include.path.starts_with(start)) return;
        }
        complain(file.path, number,
                 banned("<" + include.path + ">",
                        "an adapter: " + file.module + " knows no library but the standard one"));
    }

    void check_own_include(const File& file, std::size_t number, const std::string& path) {
        if (path.find("..") != std::string::npos || path.find('/') == std::string::npos) {
            complain(file.path, number, banned("\"" + path + "\"", "a path from src/"));
            return;
        }
        if (file.module.empty()) return;
        const std::string target = fs::path(path).parent_path().string();
        const auto deps = deps_.find(file.module);
        if (deps == deps_.end()) return;  // complained about as a whole
        if (target == file.module || deps->second.contains(target)) return;
        if (!deps_.contains(target)) {
            complain(file.path, number, target + " is not a module");
        } else if (!file.is_test) {
            complain(file.path, number,
                     file.module + " does not declare a dependency on " + target);
        }
    }

    void forbid(const File& file, std::size_t number, const std::string& code,
                const Instead& bans) {
        for (const std::string_view word : words_of(code)) {
            const auto found = bans.find(word);
            if (found != bans.end())
                complain(file.path, number, banned(std::string(word), found->second));
        }
    }

    static std::string banned(const std::string& what, std::string_view instead) {
        return "'" + what + "' is banned here, use " + std::string(instead);
    }

    void complain(const fs::path& path, std::size_t number, const std::string& what) {
        std::fprintf(stderr, "%s:%zu: error: %s\n", path.lexically_normal().c_str(), number,
                     what.c_str());
        complaints_ += 1;
    }

    const Instead headers_ = index(kBannedHeaders);
    const Instead in_pure_ = index(kBannedInPure);
    const Instead in_unit_tests_ = index(kBannedInUnitTests);
    const Instead in_prose_ = index(kBannedInProse);

    fs::path root_;
    std::string modules_file_;
    std::map<std::string, std::set<std::string>> deps_;
    std::map<std::string, std::string> spaces_;  // by module
    std::map<std::string, fs::path> types_;      // by name, where they are defined
    std::set<std::string> undeclared_;           // directories already complained about
    Paragraph paragraph_;
    std::optional<std::size_t> bullet_at_;  // where the bullet under way begins
    int complaints_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 || !fs::exists(fs::path(argv[1]) / "src") || !fs::exists(argv[2])) {
        std::fprintf(stderr, "usage: tidy <root> <modules.txt>\n");
        return 2;
    }
    return Tidy(argv[1], read_modules(argv[2]), argv[2]).run();
}
