// Kills a process that writes to a catalog, at random moments, thousands of times; after each kill
// it holds that every acknowledged request is there and no half of any other (verify.h).
//
//     crash [--seconds N] [--seed N] [--keep DIRECTORY]
//
// The moments: while the catalog is created, opened and recovered, at an answer, between answers,
// during checkpoints and backups, and while the disk is full. Exit status: 0 if nothing was wrong,
// 1 if something was; then the files and the story stay in DIRECTORY.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/prng.h"
#include "crash/load.h"
#include "crash/verify.h"
#include "testing/temporary_directory.h"

namespace baton::crash {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr std::size_t kThreads = 4;

struct Options {
    std::chrono::seconds duration{45};
    std::uint64_t seed = 1;
    std::string keep = "crash-found";
};

// When to kill: after the delay or, if it is given, at the answer of this number.
struct Moment {
    microseconds delay{0};
    std::optional<std::size_t> answers;
};

struct Ending {
    Story story;
    bool killed = false;  // it had not ended by itself
    int status = 0;
};

microseconds random_delay(Prng& prng, std::uint64_t most_ms) {
    return microseconds(prng.between(0, most_ms * 1000));
}

// Listens until the moment has come or the other end is closed. For an answer it waits long.
void listen(int descriptor, const Moment& moment, bool until_unlimited, Story& story) {
    constexpr std::chrono::seconds kLong{20};
    const auto patience = moment.answers ? microseconds(kLong) : moment.delay;
    const auto deadline = steady_clock::now() + patience;
    const auto has_come = [&] {
        if (!moment.answers) return false;
        const std::size_t heard = until_unlimited ? story.done() : story.answers();
        return heard >= *moment.answers && (!until_unlimited || story.unlimited());
    };
    while (!has_come()) {
        const auto left =
            std::chrono::duration_cast<microseconds>(deadline - steady_clock::now()).count();
        if (left <= 0) return;
        pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
        const timespec timeout{.tv_sec = left / 1'000'000, .tv_nsec = (left % 1'000'000) * 1000};
        if (::ppoll(&waiting, 1, &timeout, nullptr) <= 0) continue;
        std::array<char, 4096> bytes{};
        const ssize_t size = ::read(descriptor, bytes.data(), bytes.size());
        if (size <= 0) return;
        story.hear({bytes.data(), static_cast<std::size_t>(size)});
    }
}

Ending run_and_kill(const Load& load, const Moment& moment) {
    std::array<int, 2> ends{};
    CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
    constexpr int kPipeBytes = 1 << 20;
    (void)::fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);
    const pid_t child = ::fork();
    CHECK(child >= 0);
    if (child == 0) {
        ::close(ends[0]);
        run_load(load, ends[1]);
    }
    ::close(ends[1]);
    Ending ending;
    listen(ends[0], moment, load.file_size_max.has_value(), ending.story);
    ::kill(child, SIGKILL);
    CHECK(::waitpid(child, &ending.status, 0) == child);
    ending.killed = WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGKILL;
    // What it said before it died is still in the pipe.
    listen(ends[0], {.delay = std::chrono::seconds(5), .answers = {}}, false, ending.story);
    ::close(ends[0]);
    return ending;
}

class Campaign {
public:
    explicit Campaign(const Options& options) : options_(options), prng_(options.seed) {
        begin_anew();
    }

    // False as soon as something is wrong.
    bool run() {
        const auto start = steady_clock::now();
        while (steady_clock::now() - start < options_.duration) {
            if (!round()) return false;
        }
        const std::chrono::duration<double> took = steady_clock::now() - start;
        print_tally(took.count());
        return true;
    }

private:
    [[nodiscard]] std::string path() const { return *directory_ / "catalog.db"; }

    // On disk or, where syncs cost nothing and more happens in a moment, in memory.
    void begin_anew() {
        const bool in_memory = prng_.chance(2, 3) && fs::is_directory("/dev/shm");
        directory_.emplace(in_memory ? fs::path("/dev/shm") : fs::temp_directory_path());
        known_ = {.facts = std::vector<Facts>(kThreads), .replica = {}};
        catalogs_ += 1;
    }

    Load random_load() {
        Load load{.path = path(), .seed = prng_.next(), .facts = known_.facts};
        load.changes_max = prng_.chance(1, 2) ? 20 : 5'000;
        if (prng_.chance(1, 2)) load.log_pages_step = static_cast<int>(prng_.between(1, 100));
        if (prng_.chance(1, 8)) load.copy = *directory_ / "copy";
        if (prng_.chance(1, 10) && fs::exists(path())) {
            load.file_size_max = fs::file_size(path()) / 2 + prng_.between(0, 300'000);
        }
        return load;
    }

    Moment random_moment(const Load& load) {
        constexpr std::size_t kAnswersMax = 25;
        constexpr std::size_t kManyAnswers = 400;  // old history is forgotten meanwhile
        const bool creating = !fs::exists(path());
        if (load.file_size_max) return {.answers = prng_.between(1, 10)};
        if (creating && prng_.chance(3, 4)) return {.delay = random_delay(prng_, 25)};
        if (prng_.chance(1, 8)) return {.delay = random_delay(prng_, 4)};
        if (prng_.chance(1, 40)) return {.answers = kManyAnswers};
        if (prng_.chance(1, 2)) return {.answers = prng_.between(1, kAnswersMax)};
        return {.delay = random_delay(prng_, 20)};
    }

    bool round() {
        constexpr std::uint64_t kRoundsPerCatalog = 30;
        if (prng_.chance(1, kRoundsPerCatalog)) begin_anew();
        const Load load = random_load();
        const Ending ending = run_and_kill(load, random_moment(load));
        story_ = ending.story.text();
        count(ending);
        if (!as_foreseen(load, ending)) return false;
        // The first ones to find what was left may be killed as well.
        while (prng_.chance(1, 2)) {
            const Load opening{.path = path(), .facts = {}, .changes_max = load.changes_max};
            const Ending second = run_and_kill(opening, {.delay = random_delay(prng_, 6)});
            count(second);
            story_ += second.story.text();
            if (second.story.stuck()) return fail({"it does not open: " + *second.story.stuck()});
        }
        const std::uint64_t full_before = tally_.refused_for_space;
        auto problems = verify(path(), ending.story, known_, tally_);
        if (!load.file_size_max && tally_.refused_for_space > full_before) {
            problems.emplace_back("a request was refused for lack of space");
        }
        remove_copies();
        return problems.empty() || fail(problems);
    }

    void count(const Ending& ending) {
        kills_ += ending.killed ? 1 : 0;
        kills_before_open_ += ending.killed && !ending.story.opened() ? 1 : 0;
    }

    bool as_foreseen(const Load& load, const Ending& ending) {
        const bool full = load.file_size_max.has_value();
        if (full && ending.story.stuck()) {
            unopened_for_space_ += 1;  // there was not even space to open it
            return ending.story.stuck()->find("6002") != std::string::npos ||
                   fail({"the disk was full: " + *ending.story.stuck()});
        }
        if (!ending.killed) {
            return fail({"the process ended by itself, with status " +
                         std::to_string(ending.status) + ": " +
                         ending.story.stuck().value_or("it did not say why")});
        }
        full_ += full ? 1 : 0;
        if (full && ending.story.unlimited() && ending.story.done() == 0) {
            return fail({"nothing was done after the disk had space again"});
        }
        return true;
    }

    void remove_copies() {
        for (const auto& entry : fs::directory_iterator(directory_->path())) {
            if (entry.path().filename().string().starts_with("copy")) fs::remove(entry.path());
        }
    }

    bool fail(const std::vector<std::string>& problems) {
        std::cout << "after " << kills_ << " kills, seed " << options_.seed << ":\n";
        constexpr std::size_t kShownMax = 20;
        for (std::size_t i = 0; i < std::min(problems.size(), kShownMax); ++i) {
            std::cout << "  " << problems[i] << "\n";
        }
        if (problems.size() > kShownMax)
            std::cout << "  and " << problems.size() - kShownMax << " more\n";
        fs::remove_all(options_.keep);
        fs::copy(directory_->path(), options_.keep, fs::copy_options::recursive);
        std::ofstream(options_.keep + "/story.txt") << story_;
        std::cout << "the files and the story are in " << options_.keep << "\n";
        return false;
    }

    void print_tally(double seconds) const {
        const auto line = [](const char* what, std::uint64_t count) {
            std::printf("%10llu  %s\n", static_cast<unsigned long long>(count), what);
        };
        std::printf("%.0f s, seed %llu, %.1f kills/s\n", seconds,
                    static_cast<unsigned long long>(options_.seed),
                    static_cast<double>(kills_) / seconds);
        line("kills", kills_);
        line("  of them before the catalog was open", kills_before_open_);
        line("  of them after the disk was full", full_);
        line("catalogs begun anew", catalogs_);
        line("requests acknowledged, all found", tally_.acknowledged);
        line("requests refused as they should be", tally_.refused);
        line("requests refused for lack of space", tally_.refused_for_space);
        line("opens refused for lack of space", unopened_for_space_);
        line("requests in doubt, found done", tally_.in_doubt_done);
        line("requests in doubt, found undone", tally_.in_doubt_undone);
        line("changes of the feed followed", tally_.changes);
        line("looks at a feed already trimmed", tally_.trimmed);
        line("backups verified", tally_.backups);
    }

    const Options options_;
    Prng prng_;
    std::optional<testing::TemporaryDirectory> directory_;
    Known known_;
    Tally tally_;
    std::string story_;
    std::uint64_t kills_ = 0;
    std::uint64_t kills_before_open_ = 0;
    std::uint64_t full_ = 0;
    std::uint64_t unopened_for_space_ = 0;
    std::uint64_t catalogs_ = 0;
};

int main_with(const std::vector<std::string>& arguments) {
    Options options;
    options.seed = static_cast<std::uint64_t>(::getpid());
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
        const bool is_number =
            !value.empty() && value.find_first_not_of("0123456789") > value.size();
        if (arguments[i] == "--seconds" && is_number) {
            options.duration = std::chrono::seconds(std::stoll(value));
        } else if (arguments[i] == "--seed" && is_number) {
            options.seed = std::stoull(value);
        } else if (arguments[i] == "--keep" && !value.empty()) {
            options.keep = value;
        } else {
            std::cerr << "usage: crash [--seconds N] [--seed N] [--keep DIRECTORY]\n";
            return 2;
        }
    }
    return Campaign(options).run() ? 0 : 1;
}

}  // namespace
}  // namespace baton::crash

int main(int argc, char** argv) {
    return baton::crash::main_with({argv + 1, argv + argc});
}
