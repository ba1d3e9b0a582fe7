// A real cluster under load, to which blows.h does what it can at random; then it is left alone,
// and must come to rest as the catalog says.
//
//     chaos [--seconds N] [--seed N] [--keep DIRECTORY]
//
// When it has healed, within a bound:
//   - every query runs, or has ended, with a reason if it failed; every finite one has ended;
//   - every query that was acknowledged and not dropped is there, and every dropped one is not;
//   - what a finite query wrote that has ended by itself is complete and correct;
//   - workers hold nothing that the catalog does not want, and nothing at all when all is dropped.
// While the disk is full, what is asked is refused with an error of the catalog, and everything
// that was acknowledged can be read. A process that ends by itself, or a statement that is not
// answered, fails at once.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "base/check.h"
#include "base/prng.h"
#include "chaos/blows.h"
#include "chaos/cluster.h"
#include "chaos/coordinator.h"
#include "chaos/disk.h"
#include "chaos/isolation.h"
#include "chaos/load.h"
#include "chaos/network.h"
#include "testing/temporary_directory.h"

namespace baton::chaos {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Asked = Query::Asked;

struct Options {
    std::chrono::seconds duration{40};
    std::uint64_t seed = 0;
    std::string keep = "chaos-found";
};

struct Tally {
    std::uint64_t rounds = 0;
    std::uint64_t queries = 0;
    std::uint64_t refused = 0;
    std::uint64_t without_space = 0;  // statements
    std::uint64_t verified = 0;
    std::uint64_t failed = 0;
    std::uint64_t restarted = 0;
    std::uint64_t unanswered = 0;
    milliseconds slowest_rest{0};
};

class Campaign {
public:
    // `isolated`: in namespaces, where there is more to break.
    Campaign(const Options& options, const std::string& self, bool isolated)
        : options_(options),
          prng_(options.seed),
          load_(directory_.path()),
          network_(isolated ? Network::make(kWorkers + 1) : std::nullopt),
          disk_(isolated ? Disk::make(directory_ / "disk") : std::nullopt),
          workers_(BATON_PROGRAMS "/baton", directory_.path(), network_ ? &*network_ : nullptr),
          coordinator_(self, directory_ / (isolated ? "disk/catalog" : "catalog"),
                       directory_ / "coordinator.log",
                       network_ ? network_->space(kCoordinatorNode) : -1),
          story_(directory_ / "story.txt"),
          blows_({.workers = workers_,
                  .coordinator = coordinator_,
                  .network = network_ ? &*network_ : nullptr,
                  .disk = disk_ ? &*disk_ : nullptr},
                 prng_, [this](const std::string& line) { tell(line); }) {
        CHECK(network_.has_value() == isolated && disk_.has_value() == isolated);
    }

    bool run() {
        const auto begin = steady_clock::now();
        const bool good = begin_all() && rounds(begin + options_.duration);
        if (good) {
            print_tally(std::chrono::duration<double>(steady_clock::now() - begin).count());
            return true;
        }
        std::cout << "seed " << options_.seed << ": " << problem_ << "\n";
        if (disk_) disk_->make_room();  // what filled it tells nothing
        story_.flush();
        fs::remove_all(options_.keep);
        fs::copy(directory_.path(), options_.keep, fs::copy_options::recursive);
        std::cout << "logs, files and the story are in " << options_.keep << "\n";
        return false;
    }

private:
    bool fail(const std::string& problem) {
        if (problem_.empty()) problem_ = problem;
        tell("FAILED: " + problem);
        return false;
    }
    void tell(const std::string& line) {
        const auto at = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start_);
        story_ << at.count() << " ms " << line << std::endl;
    }

    bool begin_all() {
        for (std::size_t i = 0; i < kWorkers; ++i) workers_.start(i);
        if (const std::string why = coordinator_.start(); !why.empty()) return fail(why);
        return ask(workers_.statements()).has_value();
    }

    bool rounds(Time until) {
        constexpr milliseconds kRound = 9s;
        do {
            tally_.rounds += 1;
            // Some things give up only after ten or twenty seconds.
            const Mood mood{.length = prng_.chance(1, 5) ? 3 : 1,
                            .kills_coordinators = prng_.chance(1, 2)};
            blows_.set_mood(mood);
            const Time end = std::min<Time>(until, steady_clock::now() + kRound * mood.length);
            const std::uint64_t pause_max = prng_.between(30, 250);  // calm rounds and wild ones
            while (steady_clock::now() < end) {
                if (!act()) return false;
                if (!wait_and_look(milliseconds(prng_.between(5, pause_max)))) return false;
            }
            if (!heal() || !comes_to_rest() || !verify() || !drop_everything()) return false;
        } while (steady_clock::now() < until);
        return true;
    }

    // Somebody always looks whether a process has ended that should not have.
    bool wait_and_look(milliseconds duration) {
        const Time end = steady_clock::now() + duration;
        for (;;) {
            const std::string wrong = blows_.look(steady_clock::now());
            if (!wrong.empty()) return fail(wrong);
            if (steady_clock::now() >= end) return true;
            std::this_thread::sleep_for(5ms);
        }
    }

    // ---- what happens ---------------------------------------------------------------------------

    bool act() {
        const std::uint64_t what = prng_.between(0, 99);
        if (what < 45) return create();
        if (what < 64) return drop();
        if (what < 69) return stop();
        if (what < 95) {
            blows_.strike();
            return true;
        }
        return !blows_.disk_is_full() || acknowledged_are_there();
    }

    // Sends a statement; once in a while nobody waits for its answer. Without an answer, or with
    // one that does not know, `asked` says so; if it was refused, it stays as it was.
    bool submit(const std::string& statement, Asked& asked) {
        tell(statement);
        if (blows_.mood().kills_coordinators && prng_.chance(1, 12)) {
            asked = Asked::unanswered;
            coordinator_.ask_and_kill(statement);
            blows_.coordinator_is_gone();
            tally_.unanswered += 1;
            return true;
        }
        const auto reply = ask(statement);
        if (!reply) return false;
        if (reply->error.empty()) {
            asked = Asked::done;
            return true;
        }
        tell(reply->error);
        if (blows_.disk_is_full() && reply->error.starts_with("error error 6")) {
            tally_.without_space += 1;
            if (reply->error.starts_with("error error 6006")) asked = Asked::unanswered;
            return true;
        }
        tally_.refused += 1;
        const bool in_vain = reply->error.find(" is UNREACHABLE") != std::string::npos ||
                             reply->error.find(" is leaving") != std::string::npos;
        return in_vain || fail(statement + "\n  " + reply->error);
    }

    // What was acknowledged can be read, whatever else is wrong.
    bool acknowledged_are_there() {
        if (!coordinator_.listens()) return true;
        const auto reply = ask("SELECT NAME FROM baton.QUERIES");
        if (!reply) return false;
        if (!reply->error.empty()) return fail("reading without space: " + reply->error);
        std::set<std::string> there;
        for (const auto& cells : reply->rows) there.insert(cells[0]);
        for (const Query& query : queries_) {
            const bool must = query.created == Asked::done && query.dropped == Asked::no;
            if (must && !there.contains(query.name)) return fail(query.name + " is not there");
        }
        return true;
    }

    bool create() {
        constexpr std::size_t kLivingMax = 16;
        if (!coordinator_.listens() || living().size() >= kLivingMax) return true;
        tally_.queries += 1;
        queries_.push_back(load_.draw(prng_));
        const std::string statement = load_.statement(queries_.back());
        if (!submit(statement, queries_.back().created)) return false;
        if (queries_.back().created == Asked::no) queries_.pop_back();
        return true;
    }
    bool drop() {
        const auto living = this->living();
        if (!coordinator_.listens() || living.empty()) return true;
        Query& query = *living[prng_.between(0, living.size() - 1)];
        return submit("DROP QUERY IF EXISTS " + query.name, query.dropped);
    }
    bool stop() {
        const auto living = this->living();
        if (!coordinator_.listens() || living.empty()) return true;
        Query& query = *living[prng_.between(0, living.size() - 1)];
        if (query.created != Asked::done) return true;  // it may not be there
        return submit("STOP QUERY " + query.name, query.stopped);
    }
    // Those that may still be there.
    std::vector<Query*> living() {
        std::vector<Query*> found;
        for (Query& query : queries_) {
            if (query.dropped == Asked::no) found.push_back(&query);
        }
        return found;
    }

    // ---- what must then be so -------------------------------------------------------------------

    bool heal() {
        tell("healed");
        const std::string wrong = blows_.heal();
        return wrong.empty() || fail(wrong);
    }

    std::optional<Reply> ask(const std::string& statement) {
        auto reply = coordinator_.ask(statement);
        if (!reply) (void)fail("no answer to: " + statement);
        return reply;
    }

    // Polls until nothing is wrong any more.
    bool eventually(const std::function<std::string()>& wrong) {
        constexpr milliseconds kBound = 30s;
        const Time begin = steady_clock::now();
        for (;;) {
            const std::string what = wrong();
            const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
            tally_.slowest_rest = std::max(tally_.slowest_rest, took);
            if (what.empty()) return problem_.empty();
            if (took > kBound) return fail("after 30 s " + what);
            if (!problem_.empty() || !wait_and_look(50ms)) return false;
        }
    }

    bool comes_to_rest() {
        return eventually([&] { return unrest(); }) && eventually([&] { return strays(); });
    }

    const Query* query_named(const std::string& name) const {
        const auto found = std::find_if(queries_.begin(), queries_.end(),
                                        [&](const Query& query) { return query.name == name; });
        return found == queries_.end() ? nullptr : &*found;
    }

    // What is wrong with the states of queries; reads them into `states_`.
    std::string unrest() {
        const auto reply = ask("SELECT NAME, STATE, REASON, RUN FROM baton.QUERIES");
        if (!reply) return "";
        states_.clear();
        for (const auto& cells : reply->rows) {
            const std::string& name = cells[0];
            const std::string& state = cells[1];
            const std::string told = name + " is " + state + ": " + cells[2];
            const Query* query = query_named(name);
            if (query == nullptr) return told + ", and nobody created it";
            if (query->dropped == Asked::done) return told + ", and was dropped";
            const bool runs = state == "RUNNING" && !query->finite();
            const bool ended = state == "STOPPED" || (state == "TERMINATED" && query->finite()) ||
                               (state == "FAILED" && !cells[2].empty());
            if (!runs && !ended) return told;
            if (state == "STOPPED" && query->stopped == Asked::no) return told + ", unasked";
            if (state == "RUNNING" && query->stopped == Asked::done) return told + ", but stopped";
            if (state == "FAILED" && !query->fails) return told + ", not to be restarted";
            states_[name] = {state, std::stoull(cells[3])};
        }
        for (const Query& query : queries_) {
            const bool must = query.created == Asked::done && query.dropped == Asked::no;
            if (must && !states_.contains(query.name)) return query.name + " is not there";
        }
        return "";
    }

    // What workers hold and the catalog does not want. Whoever asks takes the coordinator's place,
    // so that has to go; nothing may come of it.
    std::string strays() {
        const auto reply = ask("SELECT QUERY, RUN, ID, WORKER FROM baton.FRAGMENTS");
        if (!reply) return "";
        std::set<std::string> wanted;
        for (const auto& cells : reply->rows)
            wanted.insert(cells[0] + "/" + cells[1] + "/" + cells[2] + " on " + cells[3]);
        coordinator_.kill();
        const std::string wrong = held_beyond(wanted);
        if (heal() && !wrong.empty()) (void)wait_and_look(1s);
        return wrong;
    }

    std::string held_beyond(const std::set<std::string>& wanted) const {
        for (std::size_t i = 0; i < kWorkers; ++i) {
            const auto held = workers_.held(i);
            if (!held) return Workers::name(i) + " cannot be asked";
            for (const auto& status : *held) {
                const std::string text = to_string(status.key) + " on " + Workers::name(i);
                if (!wanted.contains(text)) return "a worker holds what nobody wants: " + text;
            }
        }
        return "";
    }

    bool verify() {
        for (const auto& [name, state] : states_) {
            tally_.restarted += state.run > 1 ? 1 : 0;
            tally_.failed += state.state == "FAILED" ? 1 : 0;
            if (state.state != "TERMINATED") continue;
            tally_.verified += 1;
            if (const std::string wrong = load_.verify(*query_named(name)); !wrong.empty())
                return fail(wrong);
        }
        return true;
    }

    bool drop_everything() {
        for (const auto& [name, state] : states_) {
            tell("DROP QUERY " + name);
            const auto reply = ask("DROP QUERY " + name);
            if (!reply) return false;
            if (!reply->error.empty()) return fail("DROP QUERY " + name + "\n  " + reply->error);
        }
        const auto left = [&]() -> std::string {
            const auto reply = ask("SELECT NAME, STATE, REASON FROM baton.QUERIES");
            if (!reply || reply->rows.empty()) return "";
            const auto& first = reply->rows.front();
            return first[0] + " is " + first[1] + ": " + first[2] + ", and was dropped";
        };
        if (!eventually(left) || !eventually([&] { return strays(); })) return false;
        for (const Query& query : queries_) fs::remove(query.path);
        queries_.clear();
        return true;
    }

    void print_tally(double seconds) const {
        const auto line = [](const char* what, std::uint64_t count) {
            std::printf("%10llu  %s\n", static_cast<unsigned long long>(count), what);
        };
        std::printf("%.0f s, seed %llu\n", seconds, static_cast<unsigned long long>(options_.seed));
        line("rounds", tally_.rounds);
        const Struck& struck = blows_.struck();
        line("workers killed", struck.worker_kills);
        line("workers paused", struck.worker_pauses);
        line("workers asked to leave", struck.dismissals);
        line("coordinators killed", struck.coordinator_kills);
        line("  of them before an answer", tally_.unanswered);
        line("coordinators paused", struck.coordinator_pauses);
        line("workers cut off from everyone", struck.cuts_from_all);
        line("workers cut off from the coordinator", struck.cuts_from_coordinator);
        line("workers cut off from each other", struck.cuts_between_workers);
        line("  of these cuts in one direction only", struck.cuts_one_way);
        line("full disks", struck.full_disks);
        line("  statements refused meanwhile", tally_.without_space);
        line("  starts refused meanwhile", struck.starts_without_space);
        line("queries created", tally_.queries);
        line("  of them refused, as a worker was away", tally_.refused);
        line("  of them restarted", tally_.restarted);
        line("  of them failed, as they were to", tally_.failed);
        line("  of them complete, and verified", tally_.verified);
        line("ms to come to rest, at most",
             static_cast<std::uint64_t>(tally_.slowest_rest.count()));
    }

    struct State {
        std::string state;
        std::uint64_t run = 0;
    };

    const Options options_;
    const Time start_ = steady_clock::now();
    Prng prng_;
    testing::TemporaryDirectory directory_;
    Load load_;
    const std::optional<Network> network_;
    const std::optional<Disk> disk_;
    Workers workers_;
    Coordinator coordinator_;
    std::ofstream story_;
    Blows blows_;
    std::vector<Query> queries_;           // of the round
    std::map<std::string, State> states_;  // at rest, of those that are there
    std::string problem_;
    Tally tally_;
};

int main_with(const std::string& self, const std::vector<std::string>& arguments) {
    if (arguments.size() == 2 && arguments[0] == "--coordinator")
        return run_coordinator(arguments[1]);
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
            std::cerr << "usage: chaos [--seconds N] [--seed N] [--keep DIRECTORY]\n";
            return 2;
        }
    }
    (void)std::signal(SIGPIPE, SIG_IGN);
    const std::string why_not = isolate();
    if (!why_not.empty()) std::cout << "without cuts and full disks: " << why_not << std::endl;
    return Campaign(options, self, why_not.empty()).run() ? 0 : 1;
}

}  // namespace
}  // namespace baton::chaos

int main(int argc, char** argv) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    return baton::chaos::main_with(self, {argv + 1, argv + argc});
}
