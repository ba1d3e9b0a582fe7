#include "testing/exchange/scenario.h"

#include <algorithm>

#include "base/prng.h"
#include "testing/exchange/world.h"

namespace baton::testing {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kScenarioSalt = 0x51ed270b;

std::string_view to_string(ExchangeTrouble trouble) {
    switch (trouble) {
        case ExchangeTrouble::stream_breaks:
            return "has a stream that breaks";
        case ExchangeTrouble::sender_cut_off:
            return "is cut off";
        case ExchangeTrouble::sender_pauses:
            return "pauses";
        case ExchangeTrouble::receiver_pauses:
            return "has a receiver that pauses";
        case ExchangeTrouble::sender_killed:
            return "is killed";
        case ExchangeTrouble::receiver_killed:
            return "has a receiver that is killed";
    }
    return "";
}

ExchangeIncident incident_of(Prng& prng, const ExchangeScenario& scenario) {
    const auto up_to = [&](Duration most) {
        return Duration(prng.between(1, static_cast<std::uint64_t>(most.count())));
    };
    ExchangeIncident incident{.at = up_to(scenario.length),
                              .trouble = ExchangeTrouble(prng.between(0, 5)),
                              .sender = prng.between(0, scenario.senders - 1),
                              .lasts = up_to(prng.chance(1, 4) ? 8s : 500ms)};
    // Runs that end early are rarer than streams that do.
    const bool kills = incident.trouble == ExchangeTrouble::sender_killed ||
                       incident.trouble == ExchangeTrouble::receiver_killed;
    if (kills && prng.chance(2, 3)) incident.trouble = ExchangeTrouble::stream_breaks;
    return incident;
}

}  // namespace

ExchangeScenario exchange_scenario_of(std::uint64_t seed) {
    Prng prng(seed ^ kScenarioSalt);
    ExchangeScenario scenario{.seed = seed};
    scenario.senders = prng.between(1, 4);
    scenario.frames = prng.chance(1, 10) ? 0 : prng.between(1, prng.chance(1, 2) ? 20 : 300);
    scenario.limits.items = prng.between(1, 16);
    scenario.limits.bytes = prng.between(1, 5'000);
    scenario.length = 10s;
    // Each kind is left out of half of the runs, so that rare mixtures are tried, too.
    const auto perhaps = [&](std::uint64_t most) {
        return prng.chance(1, 2) ? prng.between(1, most) : 0;
    };
    scenario.long_frames = perhaps(200);
    scenario.breaks = perhaps(60);
    scenario.slow = perhaps(300);
    scenario.slow_max = prng.chance(1, 3) ? Duration(4s) : Duration(100ms);
    scenario.late_max = prng.chance(1, 3) ? Duration(3s) : Duration(50ms);
    for (std::uint64_t i = perhaps(20); i > 0; --i) {
        scenario.incidents.push_back(incident_of(prng, scenario));
    }
    return scenario;
}

std::vector<std::string> describe(const ExchangeScenario& scenario) {
    const auto ms = [](Duration time) { return std::to_string(time / 1ms) + " ms"; };
    std::vector<std::string> lines = {
        std::to_string(scenario.senders) + " senders of at most " +
            std::to_string(scenario.frames) + " frames; " + std::to_string(scenario.limits.items) +
            " items and " + std::to_string(scenario.limits.bytes) + " bytes may be under way",
        "of 1,000 messages " + std::to_string(scenario.breaks) + " break their stream, and " +
            std::to_string(scenario.slow) + " take up to " + ms(scenario.slow_max) + "; " +
            std::to_string(scenario.long_frames) + " frames are long; processes start within " +
            ms(scenario.late_max)};
    for (const ExchangeIncident& incident : scenario.incidents) {
        lines.push_back("at " + ms(incident.at) + " sender " + std::to_string(incident.sender) +
                        " " + std::string(to_string(incident.trouble)) + " for " +
                        ms(incident.lasts));
    }
    return lines;
}

ExchangeScenario shrink(const ExchangeScenario& failing) {
    ExchangeScenario small = failing;
    const auto keep_if_it_fails = [&](const ExchangeScenario& tried) {
        if (run_exchange(tried).problem) small = tried;
    };
    for (std::size_t i = small.incidents.size(); i > 0; --i) {
        ExchangeScenario tried = small;
        tried.incidents.erase(tried.incidents.begin() + static_cast<std::ptrdiff_t>(i - 1));
        keep_if_it_fails(tried);
    }
    for (const auto member : {&ExchangeScenario::long_frames, &ExchangeScenario::breaks,
                              &ExchangeScenario::slow, &ExchangeScenario::frames}) {
        for (const std::uint64_t less : {small.*member / 4, std::uint64_t{0}}) {
            ExchangeScenario tried = small;
            tried.*member = less;
            keep_if_it_fails(tried);
        }
    }
    ExchangeScenario alone = small;
    alone.senders = 1;
    for (ExchangeIncident& incident : alone.incidents) incident.sender = 0;
    keep_if_it_fails(alone);
    return small;
}

}  // namespace baton::testing
