// Time, chance, the story and the first problem of a simulated exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/prng.h"
#include "base/time.h"
#include "testing/exchange/world.h"

namespace baton::testing {

class ExchangeStage {
public:
    ExchangeStage(std::uint64_t seed, bool with_story) : prng_(seed), with_story_(with_story) {}

    [[nodiscard]] Instant now() const { return now_; }
    void after(Duration wait, std::function<void()> what) {
        agenda_.emplace(std::pair{now_ + wait, sequence_++}, std::move(what));
    }
    // Until nothing is to be done before `end`, something is wrong, or `stop` says so.
    void run_until(Instant end, const std::function<bool()>& stop) {
        while (!failed() && !agenda_.empty() && agenda_.begin()->first.first <= end) {
            auto next = agenda_.extract(agenda_.begin());
            now_ = next.key().first;
            next.mapped()();
            if (++run.events > kEventsMax) fail("it spins");
            if (stop()) return;
        }
        if (!failed()) now_ = end;
    }
    [[nodiscard]] bool is_idle() const { return agenda_.empty(); }

    Duration up_to(Duration most) {
        return Duration(prng_.between(1, static_cast<std::uint64_t>(most.count())));
    }
    bool happens(std::uint64_t of_1000) { return of_1000 > 0 && prng_.chance(of_1000, 1000); }
    std::uint64_t between(std::uint64_t low, std::uint64_t high) {
        return prng_.between(low, high);
    }

    template <class Text>
    void tell(std::uint64_t kind, const Text& text) {
        mix(kind);
        if (with_story_) run.story.push_back(stamp() + text());
    }
    [[nodiscard]] bool failed() const { return run.problem.has_value(); }
    void fail(const std::string& what) {
        if (!failed()) run.problem = "at " + stamp() + what;
    }
    void mix(std::uint64_t number) {
        for (const std::uint64_t one :
             {number, static_cast<std::uint64_t>(now_.time_since_epoch().count())}) {
            run.fingerprint = (run.fingerprint ^ one) * 1099511628211ULL;
        }
    }

    ExchangeRun run;

private:
    static constexpr std::uint64_t kEventsMax = 300'000;

    [[nodiscard]] std::string stamp() const {
        return std::to_string(now_.time_since_epoch().count() / 1000) + " ms: ";
    }

    Prng prng_;
    const bool with_story_;
    Instant now_{};
    std::uint64_t sequence_ = 0;
    std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> agenda_;
};

}  // namespace baton::testing
