#include "sim/scenario.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/prng.h"

namespace baton::sim {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSmall = 8;  // workers
constexpr std::uint64_t kContestSalt = 0x6c656164;
constexpr std::uint64_t kListSalt = 0x6c697374;
constexpr std::uint64_t kStrangerSalt = 0x7374726e;
constexpr std::uint64_t kForwardSalt = 0x666f7277;

class Author {
public:
    Author(std::uint64_t seed, const Size& size)
        : prng_(seed),
          contest_prng_(seed ^ kContestSalt),
          list_prng_(seed ^ kListSalt),
          stranger_prng_(seed ^ kStrangerSalt),
          forward_prng_(seed ^ kForwardSalt),
          size_(size) {
        scenario_.seed = seed;
        scenario_.length = size.length;
    }

    Scenario write() {
        cluster();
        sources_and_sinks();
        for (std::uint64_t i = prng_.between(1, size_.asks_max); i > 0; --i) ask();
        for (std::uint64_t i = prng_.between(0, size_.incidents_max); i > 0; --i) incident();
        unkindness();
        // By dice of their own: the others are as they would be without.
        if (contest_prng_.chance(size_.contests, 100)) contest();
        if (list_prng_.chance(size_.task_lists, 100)) task_lists();
        if (stranger_prng_.chance(size_.strangers, 100)) strangers();
        const bool may_forward = forward_prng_.chance(size_.forwards, 100);
        if (may_forward && scenario_.coordinators() > 1) forwards();
        const auto by_time = [](const auto& a, const auto& b) { return a.at < b.at; };
        std::stable_sort(scenario_.asks.begin(), scenario_.asks.end(), by_time);
        std::stable_sort(scenario_.incidents.begin(), scenario_.incidents.end(), by_time);
        return scenario_;
    }

private:
    std::uint64_t up_to(std::uint64_t limit) { return prng_.between(0, limit); }
    Duration some_time(Duration limit) {
        return Duration(prng_.between(1, static_cast<std::uint64_t>(limit.count())));
    }
    std::string any_worker() { return scenario_.workers[up_to(scenario_.workers.size() - 1)]; }
    // In a large cluster anything anywhere would rarely have a way: sources are near the beginning
    // of the links there, sinks near their end, and there is more room.
    [[nodiscard]] bool is_large() const { return scenario_.workers.size() > kSmall; }
    std::string source_worker() {
        if (!is_large()) return any_worker();
        return scenario_.workers[up_to(scenario_.workers.size() / 2)];
    }
    std::string sink_worker() {
        if (!is_large()) return any_worker();
        return scenario_
            .workers[scenario_.workers.size() - 1 - up_to(scenario_.workers.size() / 4)];
    }
    std::uint64_t some_slots() {
        constexpr std::uint64_t kMoreRoom = 8;
        return prng_.between(1, slots_max_) * (is_large() ? kMoreRoom : 1);
    }

    // Links lead from lower to higher numbers, so there are no circles; most workers reach the
    // last.
    void cluster() {
        const std::uint64_t count = prng_.between(1, size_.workers_max);
        slots_max_ = prng_.chance(1, 2) ? prng_.between(1, 2) : 6;
        for (std::uint64_t i = 0; i < count; ++i) {
            scenario_.workers.push_back("W" + std::to_string(i) + ":1");
        }
        for (std::uint64_t i = count; i-- > 0;) scenario_.setup.push_back(create_worker(i));
    }

    std::string create_worker(std::uint64_t i) {
        const std::uint64_t count = scenario_.workers.size();
        std::string text = "CREATE WORKER '" + scenario_.workers[i] + "'";
        std::string settings;
        const auto add = [&](const std::string& setting) {
            settings += (settings.empty() ? "" : ", ") + setting;
        };
        if (prng_.chance(2, 3)) add(std::to_string(some_slots()) + " AS CAPACITY");
        for (std::uint64_t j = i + 1; j < count; ++j) {
            const bool next = j == i + 1 || prng_.chance(1, 4);
            if (next) add("'" + scenario_.workers[j] + "' AS DOWNSTREAM");
        }
        return settings.empty() ? text : text + " SET (" + settings + ")";
    }

    void sources_and_sinks() {
        sources_ = prng_.between(1, 4);
        sinks_ = prng_.between(1, 4);
        for (std::uint64_t i = 0; i < sources_; ++i) {
            const std::string name = "S" + std::to_string(i);
            scenario_.setup.push_back("CREATE LOGICAL SOURCE " + name +
                                      " (ID UINT64 NOT NULL, X INT32 NOT NULL)");
            for (std::uint64_t j = prng_.between(1, 3); j > 0; --j) {
                scenario_.setup.push_back(physical_source(name, j));
            }
        }
        for (std::uint64_t i = 0; i < sinks_; ++i) scenario_.setup.push_back(create_sink(i));
    }

    std::string physical_source(const std::string& logical, std::uint64_t number) {
        return "CREATE PHYSICAL SOURCE FOR " + logical + " TYPE File SET ('" + source_worker() +
               "' AS \"SOURCE\".\"HOST\", '/in" + std::to_string(number) +
               "' AS \"SOURCE\".FILE_PATH, 'CSV' AS INPUT_FORMATTER.\"TYPE\")";
    }

    std::string create_sink(std::uint64_t number) {
        return "CREATE SINK K" + std::to_string(number) +
               " (ID UINT64 NOT NULL, X INT32 NOT NULL) TYPE Void SET ('" + sink_worker() +
               "' AS \"SINK\".\"HOST\")";
    }

    std::string some_query() {
        if (!follows_) last_query_ = "Q" + std::to_string(up_to(queries_ + 1));
        return last_query_;
    }
    std::string some_mode() {
        constexpr std::array kModes = {"", " MODE GRACEFUL", " MODE FORCEFUL"};
        return kModes.at(up_to(2));
    }

    std::string create_query() {
        // Now and then a name that is or was in use.
        const std::string name =
            prng_.chance(1, 4) ? some_query() : "Q" + std::to_string(queries_++);
        last_query_ = name;
        std::string settings;
        if (prng_.chance(1, 4)) settings = "'FAIL' AS QUERY.ON_FAILURE";
        if (prng_.chance(1, 3)) {
            settings += settings.empty() ? "" : ", ";
            settings +=
                std::to_string(prng_.between(5'000, 40'000)) + " AS QUERY.DEPLOY_TIMEOUT_MS";
        }
        if (!settings.empty()) settings = " SET (" + settings + ")";
        return "CREATE QUERY " + name + settings + " AS SELECT ID, X FROM S" +
               std::to_string(up_to(sources_ - 1)) + " WHERE X > 3 INTO K" +
               std::to_string(up_to(sinks_ - 1));
    }

    std::string statement() {
        const std::uint64_t kind = prng_.between(follows_ ? 25 : 0, 99);
        if (kind < 50) return create_query();
        if (kind < 70) return "DROP QUERY " + some_query() + some_mode();
        if (kind < 80) return "STOP QUERY " + some_query() + some_mode();
        if (kind < 85) return "DRAIN WORKER '" + any_worker() + "'";
        if (kind < 90) return "RESUME WORKER '" + any_worker() + "'";
        if (kind < 93) return "DROP WORKER '" + any_worker() + "'";
        if (kind < 96) return create_worker(up_to(scenario_.workers.size() - 1));
        if (kind < 98) return physical_source("S" + std::to_string(up_to(sources_ - 1)), up_to(9));
        return "DROP SINK K" + std::to_string(up_to(sinks_ - 1));
    }

    // Some come soon after the one before, or at once, to be done in the same commit; they are
    // about the same query, if about any.
    void ask() {
        follows_ = !scenario_.asks.empty() && prng_.chance(1, 3);
        const Duration soon = some_time(prng_.chance(1, 2) ? Duration(2ms) : Duration(5s));
        const Duration at = follows_ ? scenario_.asks.back().at + soon : some_time(size_.length);
        scenario_.asks.push_back({at, statement()});
    }

    void incident() {
        const auto kind = static_cast<IncidentKind>(up_to(7));
        // Short ones are more likely to meet something half done, long ones to be noticed. Who is
        // restarted at once is not missed, and has still lost everything.
        constexpr std::array kAtMost = {Duration(5ms), Duration(2s), Duration(2s), Duration(60s),
                                        Duration(60s)};
        const Duration lasts = some_time(kAtMost.at(up_to(kAtMost.size() - 1)));
        scenario_.incidents.push_back({.at = some_time(size_.length),
                                       .kind = kind,
                                       .worker = up_to(scenario_.workers.size() - 1),
                                       .lasts = lasts});
    }

    void unkindness() {
        const auto maybe = [&](std::uint64_t limit) {
            return prng_.chance(1, 2) ? up_to(limit) : 0;
        };
        Unkindness& u = scenario_.unkindness;
        u.lost = maybe(100);
        u.doubled = maybe(50);
        u.slow = maybe(300);
        u.slow_max = some_time(20s);
        u.answer_lost = maybe(200);
        u.commit_unknown = maybe(50);
        u.commit_refused = maybe(50);
        u.busy = maybe(50);
        u.prepare_terminal = maybe(50);
        u.prepare_transient = maybe(300);
        u.breaks = maybe(500);
        u.ends = maybe(300);
        u.drift_ppm = static_cast<std::int64_t>(maybe(100'000)) - 50'000;
        if (prng_.chance(1, 2)) u.drift_ppm = 0;
    }

    // ---- coordinators that contend --------------------------------------------------------------

    std::size_t who() {
        if (contest_prng_.chance(3, 5)) return Incident::kWhoLeads;
        return contest_prng_.between(0, scenario_.drifts.size() - 1);
    }

    // The margin of a lease bears clocks that are wrong by 4 %.
    void contest() {
        constexpr std::array kTtls = {Duration(1s), Duration(2s), Duration(3s), Duration(10s)};
        constexpr std::uint64_t kDrift = 40'000;
        scenario_.lease_ttl = kTtls.at(contest_prng_.between(0, kTtls.size() - 1));
        // Most of them of several.
        const std::uint64_t count = std::max(contest_prng_.between(1, size_.coordinators_max),
                                             contest_prng_.between(1, size_.coordinators_max));
        const bool drift = contest_prng_.chance(1, 2);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto ppm = static_cast<std::int64_t>(contest_prng_.between(0, 2 * kDrift));
            scenario_.drifts.push_back(drift ? ppm - static_cast<std::int64_t>(kDrift) : 0);
        }
        for (Incident& incident : scenario_.incidents) incident.coordinator = who();
        for (std::uint64_t i = contest_prng_.between(0, size_.incidents_max / 2); i > 0; --i) {
            contest_incident();
        }
        const auto maybe = [&](std::uint64_t limit) {
            return contest_prng_.chance(1, 2) ? contest_prng_.between(0, limit) : 0;
        };
        Unkindness& u = scenario_.unkindness;
        u.drift_ppm = 0;
        u.lease_lost = maybe(80);
        u.lease_slow = maybe(300);
        u.lease_refused = maybe(100);
        u.lease_unknown = maybe(150);
    }

    void contest_incident() {
        constexpr std::array kKinds = {
            IncidentKind::coordinator_killed,  IncidentKind::coordinator_paused,
            IncidentKind::coordinator_paused,  IncidentKind::store_away,
            IncidentKind::coordinator_leaves,  IncidentKind::coordinator_leaves,
            IncidentKind::coordinator_cut_off, IncidentKind::coordinator_storeless,
            IncidentKind::store_restored};
        const std::array at_most = {Duration(5ms), scenario_.lease_ttl / 2, scenario_.lease_ttl * 2,
                                    scenario_.lease_ttl * 4, Duration(60s)};
        const auto some = [&](Duration limit) {
            return Duration(contest_prng_.between(1, static_cast<std::uint64_t>(limit.count())));
        };
        const auto kind = kKinds.at(contest_prng_.between(0, kKinds.size() - 1));
        Duration lasts = some(at_most.at(contest_prng_.between(0, at_most.size() - 1)));
        if (kind == IncidentKind::store_restored) lasts += scenario_.lease_ttl;
        scenario_.incidents.push_back({.at = some(size_.length),
                                       .kind = kind,
                                       .worker = 0,
                                       .lasts = lasts,
                                       .coordinator = who()});
    }

    // ---- task lists -----------------------------------------------------------------------------

    std::uint64_t list_up_to(std::uint64_t limit) { return list_prng_.between(0, limit); }
    Duration list_time(Duration limit) {
        return Duration(list_prng_.between(1, static_cast<std::uint64_t>(limit.count())));
    }

    // Few names, so that what is created was dropped just before. Workers are silent for longer
    // than their leases, so that others get what they had.
    void task_lists() {
        constexpr std::array kLeases = {Duration(4s), Duration(10s), Duration(30s)};
        constexpr std::uint64_t kDrift = 30'000;
        scenario_.partition_lease = kLeases.at(list_up_to(kLeases.size() - 1));
        const bool drift = list_prng_.chance(1, 2);
        for (std::size_t i = 0; drift && i < scenario_.workers.size(); ++i) {
            const auto ppm = static_cast<std::int64_t>(list_up_to(2 * kDrift));
            scenario_.worker_drifts.push_back(ppm - static_cast<std::int64_t>(kDrift));
        }
        scenario_.asks.push_back({list_time(5s), create_list()});
        for (std::uint64_t i = list_up_to(size_.asks_max / 4); i > 0; --i) {
            scenario_.asks.push_back({list_time(size_.length), list_statement()});
        }
        for (std::uint64_t i = list_up_to(size_.incidents_max / 4); i > 0; --i) list_incident();
    }

    std::string some_list() { return "T" + std::to_string(list_up_to(2)); }
    std::string create_list() {
        return "CREATE TASK LIST " + some_list() + " PARTITIONS " +
               std::to_string(list_prng_.between(1, 12));
    }
    std::string list_statement() {
        const std::uint64_t kind = list_up_to(99);
        const std::string worker =
            "'" + scenario_.workers[list_up_to(scenario_.workers.size() - 1)] + "'";
        if (kind < 45) return create_list();
        if (kind < 70) return "DROP TASK LIST " + some_list();
        return (kind < 85 ? "DRAIN WORKER " : "RESUME WORKER ") + worker;
    }
    void list_incident() {
        const auto kinds = static_cast<std::uint64_t>(IncidentKind::cut_both);
        const auto kind = static_cast<IncidentKind>(list_up_to(kinds));
        scenario_.incidents.push_back({.at = list_time(size_.length),
                                       .kind = kind,
                                       .worker = list_up_to(scenario_.workers.size() - 1),
                                       .lasts = list_time(3 * scenario_.partition_lease)});
    }

    // ---- strangers ------------------------------------------------------------------------------

    // A worker that is haunted is soon given a query whose numbers may be those of the ghosts.
    void strangers() {
        const auto some = [&](Duration limit) {
            return Duration(stranger_prng_.between(1, static_cast<std::uint64_t>(limit.count())));
        };
        const auto first = static_cast<std::uint64_t>(IncidentKind::worker_courted);
        const auto last = static_cast<std::uint64_t>(
            scenario_.is_contest() ? IncidentKind::worker_contested : IncidentKind::worker_haunted);
        for (std::uint64_t i = stranger_prng_.between(1, 6); i > 0; --i) {
            const auto kind = static_cast<IncidentKind>(stranger_prng_.between(first, last));
            const Incident incident{
                .at = some(size_.length),
                .kind = kind,
                .worker = stranger_prng_.between(0, scenario_.workers.size() - 1),
                .lasts = some(stranger_prng_.chance(1, 2) ? Duration(5s) : Duration(60s))};
            scenario_.incidents.push_back(incident);
            if (kind != IncidentKind::worker_haunted) continue;
            scenario_.asks.push_back({incident.at + some(3s), create_query()});
        }
    }

    // ---- requests that are forwarded ------------------------------------------------------------

    // More of them, and such as may happen twice without anybody being refused.
    void forwards() {
        scenario_.forwards = true;
        for (std::uint64_t i = forward_prng_.between(0, size_.asks_max); i > 0; --i) {
            const auto length = static_cast<std::uint64_t>(size_.length.count());
            const Duration at(forward_prng_.between(1, length));
            const std::size_t worker = forward_prng_.between(0, scenario_.workers.size() - 1);
            const std::string verb = forward_prng_.chance(1, 3) ? "DRAIN" : "RESUME";
            scenario_.asks.push_back({at, verb + " WORKER '" + scenario_.workers.at(worker) + "'"});
        }
        const auto maybe = [&](std::uint64_t limit) {
            return forward_prng_.chance(1, 2) ? forward_prng_.between(0, limit) : 0;
        };
        Unkindness& u = scenario_.unkindness;
        u.line_refused = maybe(300);
        u.line_lost = maybe(200);
        u.line_slow = maybe(300);
    }

    Prng prng_;
    Prng contest_prng_;
    Prng list_prng_;
    Prng stranger_prng_;
    Prng forward_prng_;
    const Size size_;
    Scenario scenario_;
    std::uint64_t sources_ = 0;
    std::uint64_t sinks_ = 0;
    std::uint64_t queries_ = 0;
    std::uint64_t slots_max_ = 6;
    bool follows_ = false;
    std::string last_query_ = "Q0";
};

}  // namespace

std::string_view to_string(IncidentKind kind) {
    switch (kind) {
        case IncidentKind::worker_killed:
            return "is killed";
        case IncidentKind::worker_paused:
            return "is paused";
        case IncidentKind::cut_to_worker:
            return "hears nothing";
        case IncidentKind::cut_from_worker:
            return "is not heard";
        case IncidentKind::cut_both:
            return "is cut off";
        case IncidentKind::coordinator_killed:
            return "is killed";
        case IncidentKind::coordinator_paused:
            return "is paused";
        case IncidentKind::disk_full:
            return "the disk is full";
        case IncidentKind::store_away:
            return "the catalog is away";
        case IncidentKind::coordinator_leaves:
            return "is asked to leave";
        case IncidentKind::coordinator_cut_off:
            return "reaches no worker";
        case IncidentKind::coordinator_storeless:
            return "does not reach the catalog";
        case IncidentKind::store_restored:
            return "the leases come from an old backup, the catalog is away";
        case IncidentKind::worker_courted:
            return "is greeted for another catalog";
        case IncidentKind::worker_poisoned:
            return "is greeted under an epoch that cannot be";
        case IncidentKind::worker_lies:
            return "claims an epoch that cannot be";
        case IncidentKind::worker_haunted:
            return "has fragments of another history";
        case IncidentKind::worker_contested:
            return "is fought for by the leader of a copy of the catalog";
    }
    CHECK(false && "an unknown kind of incident");
}

bool is_of_worker(IncidentKind kind) {
    return kind < IncidentKind::coordinator_killed || kind >= IncidentKind::worker_courted;
}

bool is_of_all(IncidentKind kind) {
    return kind == IncidentKind::disk_full || kind == IncidentKind::store_away ||
           kind == IncidentKind::store_restored;
}

std::string coordinator_name(const Scenario& scenario, std::size_t number) {
    if (!scenario.is_contest()) return "the coordinator";
    if (number == Incident::kWhoLeads) return "the leader";
    return std::string("coordinator ") + static_cast<char>('A' + number);
}

std::string told(const Scenario& scenario, const Incident& incident) {
    std::string what(to_string(incident.kind));
    if (is_of_worker(incident.kind)) {
        return scenario.workers.at(incident.worker) + " " + what;
    }
    return is_of_all(incident.kind) ? what
                                    : coordinator_name(scenario, incident.coordinator) + " " + what;
}

Scenario scenario_of(std::uint64_t seed, const Size& size) {
    return Author(seed, size).write();
}

std::vector<std::string> describe(const Scenario& scenario) {
    std::vector<std::string> lines;
    const auto seconds = [](Duration time) {
        return std::to_string(time.count() / 1'000'000) + "." +
               std::to_string(time.count() / 100'000 % 10) + " s";
    };
    for (const std::string& statement : scenario.setup) lines.push_back("at first: " + statement);
    for (const Ask& ask : scenario.asks) {
        lines.push_back("at " + seconds(ask.at) + ": " + ask.statement);
    }
    for (const Incident& incident : scenario.incidents) {
        lines.push_back("at " + seconds(incident.at) + ": " + told(scenario, incident) + " for " +
                        seconds(incident.lasts));
    }
    const Unkindness& u = scenario.unkindness;
    const auto chance = [&](std::string_view what, std::uint64_t of_1000) {
        if (of_1000 == 0) return;
        lines.push_back(std::to_string(of_1000) + " of 1000: " + std::string(what));
    };
    chance("messages are lost", u.lost);
    chance("messages come twice", u.doubled);
    chance("messages are slow, up to " + seconds(u.slow_max), u.slow);
    chance("answers to users are lost", u.answer_lost);
    chance("commits have an unknown outcome", u.commit_unknown);
    chance("commits are refused", u.commit_refused);
    chance("transactions cannot begin", u.busy);
    chance("plans cannot be compiled", u.prepare_terminal);
    chance("fragments cannot be prepared just then", u.prepare_transient);
    chance("fragments fail after a while", u.breaks);
    chance("fragments end by themselves", u.ends);
    chance("calls of the lease store, or their answers, are lost", u.lease_lost);
    chance("calls of the lease store are slow", u.lease_slow);
    chance("calls of the lease store are refused", u.lease_refused);
    chance("calls of the lease store have an unknown outcome", u.lease_unknown);
    chance("connections between coordinators are refused", u.line_refused);
    chance("orders between coordinators, or their answers, are lost", u.line_lost);
    chance("orders between coordinators, or their answers, are slow", u.line_slow);
    if (u.drift_ppm != 0) {
        lines.push_back("the coordinator's clock drifts by " + std::to_string(u.drift_ppm) +
                        " ppm");
    }
    for (std::size_t i = 0; i < scenario.worker_drifts.size(); ++i) {
        lines.push_back("the clock of " + scenario.workers.at(i) + " drifts by " +
                        std::to_string(scenario.worker_drifts[i]) + " ppm");
    }
    lines.push_back("workers have partitions for " + seconds(scenario.partition_lease));
    if (scenario.forwards) lines.emplace_back("coordinators that follow forward requests");
    for (std::size_t i = 0; i < scenario.drifts.size(); ++i) {
        lines.push_back(coordinator_name(scenario, i) + " contends for a lease of " +
                        seconds(scenario.lease_ttl) + ", its clock drifts by " +
                        std::to_string(scenario.drifts[i]) + " ppm");
    }
    return lines;
}

}  // namespace baton::sim
