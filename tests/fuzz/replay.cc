// Replays a corpus through a fuzz target, without clang: every file as it is, then variants of it
// that follow from a fixed seed. So a test run never depends on luck; scripts/fuzz searches.
//
//     <target>_replay DIRECTORY [VARIANTS]        100 variants of each file by default
//
// A case that fails ends the process. Its file and the number of the variant are printed first, and
// `<target>_replay FILE VARIANT --only` repeats it alone.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "fuzz/variant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// A target that changes its cases itself has it.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed)
    __attribute__((weak));
// There with a sanitizer only.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSizeMax = 1 << 16;
constexpr std::array<int, 5> kFatal = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

std::array<char, 4096> current{};  // the case that runs, for the handler

void print_current() {
    (void)!::write(STDERR_FILENO, current.data(), std::strlen(current.data()));
}

void say_which(int signal) {
    print_current();
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

// Also when the stack is used up, and when a sanitizer ends the process.
void watch_for_the_end() {
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(print_current);
        return;
    }
    static std::array<char, 65'536> stack;
    stack_t other{};
    other.ss_sp = stack.data();
    other.ss_size = stack.size();
    ::sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_handler = say_which;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : kFatal) ::sigaction(signal, &action, nullptr);
}

std::string contents_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string changed_by_target(std::string text, std::uint64_t number) {
    const std::size_t size = text.size();
    text.resize(std::max(kSizeMax, size));
    auto* const bytes = reinterpret_cast<std::uint8_t*>(text.data());
    text.resize(number == 0 ? size
                            : LLVMFuzzerCustomMutator(bytes, size, text.size(),
                                                      static_cast<unsigned>(number)));
    return text;
}

void run(const fs::path& path, const std::string& text, const std::string& other,
         std::uint64_t variant) {
    (void)std::snprintf(current.data(), current.size(), "failed: %s, variant %llu\n", path.c_str(),
                        static_cast<unsigned long long>(variant));
    const std::string bytes = LLVMFuzzerCustomMutator != nullptr
                                  ? changed_by_target(text, variant)
                                  : baton::fuzz::variant_of(text, other, variant, kSizeMax);
    (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
    const bool only = argc == 4 && std::string(argv[3]) == "--only";
    if (argc < 2 || (argc > 3 && !only)) {
        (void)std::fprintf(stderr, "usage: %s DIRECTORY [VARIANTS]\n", argv[0]);
        return 2;
    }
    watch_for_the_end();
    const std::uint64_t variants = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100;

    const fs::path given = fs::absolute(argv[1]);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(only ? given.parent_path() : given)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) {
        (void)std::fprintf(stderr, "%s holds no file\n", argv[1]);
        return 2;
    }
    if (only && std::find(files.begin(), files.end(), given) == files.end()) {
        (void)std::fprintf(stderr, "%s is not there\n", argv[1]);
        return 2;
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (only && files[i] != given) continue;
        const std::string text = contents_of(files[i]);
        const std::string other = contents_of(files[(i + 1) % files.size()]);
        if (only) {
            run(files[i], text, other, variants);
            continue;
        }
        for (std::uint64_t variant = 0; variant <= variants; ++variant) {
            run(files[i], text, other, variant);
        }
    }
    (void)std::printf("%zu files, %llu variants of each\n", files.size(),
                      static_cast<unsigned long long>(variants));
    return 0;
}
