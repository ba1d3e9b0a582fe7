// tidy checks what the compiler cannot: the direction of dependencies, and the purity of the core.
//
//     tidy <src> <modules.txt>
//
// modules.txt is written by CMake: one "module: dep dep" line for each baton_module().
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLinesMax = 500;
constexpr std::size_t kColumnsMax = 100;

struct Ban {
    const char* pattern;
    const char* instead;
};

// Nothing in src/core may reach the clock, the dice, the threads, or the order of a hash table.
const std::vector<Ban> kBannedInCore = {
    {R"(#include <[^>]*[./][^>]*>)", "an adapter: the core knows no library but the standard one"},
    {R"(#include <(thread|mutex|atomic|future|condition_variable|iostream|fstream|random)>)",
     "an effect: the core does no I/O and owns no threads"},
    {R"(\b(steady|system|high_resolution)_clock\b)", "the `now` given to step()"},
    {R"(\bstd::unordered_(map|set)\b)",
     "std::map or std::set: the order must not depend on a hash"},
    {R"(\brand\(|\brandom_device\b|\bmt19937\b)", "the Prng given by the caller"},
    {R"(\bthrow\b)", "Result for bad input, CHECK for bugs"},
};
const std::vector<Ban> kBannedAnywhere = {
    {R"(\bFIXME\b)", "a fix"},
    {R"(#include "\.\.)", "a path from src/"},
    {R"(\busing namespace std;)", "a qualified name"},
};

using Modules = std::map<std::string, std::set<std::string>>;

Modules read_modules(const fs::path& path) {
    Modules modules;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        std::string rest = line.substr(colon + 1);
        std::replace(rest.begin(), rest.end(), ';', ' ');
        std::istringstream words(rest);
        auto& deps = modules[line.substr(0, colon)];
        for (std::string dep; words >> dep;) deps.insert(dep);
    }
    return modules;
}

class Tidy {
public:
    Tidy(fs::path src, Modules modules) : src_(std::move(src)), modules_(std::move(modules)) {}

    int run() {
        std::set<fs::path> files;
        for (const auto& entry : fs::recursive_directory_iterator(src_)) {
            const auto extension = entry.path().extension();
            if (extension == ".h" || extension == ".cc") files.insert(entry.path());
        }
        for (const auto& file : files) check(file);
        return complaints_ == 0 ? 0 : 1;
    }

private:
    void check(const fs::path& file) {
        const std::string module = fs::relative(file, src_).parent_path().string();
        const bool is_test = file.stem().string().ends_with("_test");
        if (!modules_.contains(module)) complain(file, 1, "directory is not a baton_module");

        std::ifstream in(file);
        std::size_t number = 0;
        for (std::string line; std::getline(in, line);) {
            number += 1;
            if (line.size() > kColumnsMax) complain(file, number, "line is too long");
            for (const auto& ban : kBannedAnywhere) forbid(file, number, line, ban);
            if (is_test) continue;
            check_include(file, number, line, module);
            if (!module.starts_with("core/")) continue;
            for (const auto& ban : kBannedInCore) forbid(file, number, line, ban);
        }
        if (number > kLinesMax)
            complain(file, number, "file is too long: look for the second idea in it");
    }

    void check_include(const fs::path& file, std::size_t number, const std::string& line,
                       const std::string& module) {
        static const std::regex kQuoted(R"re(^#include "(.*)/[^/]+")re");
        std::smatch match;
        if (!std::regex_search(line, match, kQuoted)) return;
        const std::string target = match[1];
        if (target == module || modules_[module].contains(target)) return;
        complain(file, number, module + " does not declare a dependency on " + target);
    }

    void forbid(const fs::path& file, std::size_t number, const std::string& line, const Ban& ban) {
        const std::string code = line.substr(0, line.find("//"));
        std::smatch match;
        if (!std::regex_search(code, match, std::regex(ban.pattern))) return;
        complain(file, number, "'" + match.str() + "' is banned here, use " + ban.instead);
    }

    void complain(const fs::path& file, std::size_t number, const std::string& what) {
        std::fprintf(stderr, "%s:%zu: error: %s\n", file.c_str(), number, what.c_str());
        complaints_ += 1;
    }

    fs::path src_;
    Modules modules_;
    int complaints_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: tidy <src> <modules.txt>\n");
        return 2;
    }
    return Tidy(argv[1], read_modules(argv[2])).run();
}
