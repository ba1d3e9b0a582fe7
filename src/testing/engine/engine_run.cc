#include "testing/engine/engine_run.h"

#include <chrono>

#include "base/overload.h"
#include "core/plan_format/plan_format.h"
#include "testing/eventually.h"

namespace baton::testing {

namespace {

std::string name_of(const fragments::Event& report) {
    return std::visit(Overload{
                          [](const fragments::Prepared&) { return "Prepared"; },
                          [](const fragments::PrepareFailed&) { return "PrepareFailed"; },
                          [](const fragments::BeganToRun&) { return "BeganToRun"; },
                          [](const fragments::Ended&) { return "Ended"; },
                          [](const fragments::Halted&) { return "Halted"; },
                          [](const fragments::Broke&) { return "Broke"; },
                      },
                      report);
}

}  // namespace

Engine::Listener Reports::listener() {
    return [this](fragments::Event report) {
        const std::lock_guard lock(mutex_);
        reports_.push_back(std::move(report));
        changed_.notify_all();
    };
}

const fragments::Event* Reports::last_of(const FragmentKey& key) const {
    const fragments::Event* last = nullptr;
    for (const fragments::Event& report : reports_) {
        if (key_of(report) == key) last = &report;
    }
    return last;
}

fragments::Event Reports::end_of(const FragmentKey& key) {
    std::unique_lock lock(mutex_);
    await(changed_, lock, [&] {
        const fragments::Event* last = last_of(key);
        return last != nullptr && is_end(*last);
    });
    return *last_of(key);
}

std::optional<fragments::Event> Reports::first_trouble(std::size_t count) {
    std::unique_lock lock(mutex_);
    std::optional<fragments::Event> trouble;
    await(changed_, lock, [&] {
        std::size_t ended = 0;
        for (const fragments::Event& report : reports_) {
            if (!is_end(report)) continue;
            ended += 1;
            if (std::holds_alternative<fragments::Ended>(report)) continue;
            trouble = report;
            return true;
        }
        return ended == count;
    });
    return trouble;
}

void Reports::wait_until_prepared(const FragmentKey& key) {
    std::unique_lock lock(mutex_);
    await(changed_, lock, [&] { return last_of(key) != nullptr; });
}

void Reports::wait_until_ran(const FragmentKey& key) {
    std::unique_lock lock(mutex_);
    await(changed_, lock, [&] {
        const fragments::Event* last = last_of(key);
        return last != nullptr && !std::holds_alternative<fragments::Prepared>(*last);
    });
}

std::string Reports::heard_of(const FragmentKey& key) const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const fragments::Event& report : reports_) {
        if (key_of(report) != key) continue;
        if (!text.empty()) text += " ";
        text += name_of(report);
    }
    return text;
}

Instant FixedClock::now() const {
    return Instant(
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

WallTime FixedClock::wall_now() const {
    const std::lock_guard lock(mutex_);
    return WallTime(std::chrono::milliseconds(wall_ms_));
}

void FixedClock::set_wall_ms(std::uint64_t ms) {
    const std::lock_guard lock(mutex_);
    wall_ms_ = ms;
}

FragmentKey fragment_key(std::uint64_t fragment) {
    return {.query = QueryId(1), .run = 1, .fragment = FragmentId(fragment)};
}

std::optional<std::string> run_to_end(Engine& engine, const std::vector<FragmentPlan>& fragments) {
    Reports reports;
    engine.listen(reports.listener());
    for (std::size_t i = 0; i < fragments.size(); ++i) {
        engine.prepare(fragment_key(i), plan_format::write_plan(fragments[i]));
    }
    for (std::size_t i = 0; i < fragments.size(); ++i) engine.start(fragment_key(i));
    const auto report = reports.first_trouble(fragments.size());
    std::optional<std::string> trouble;
    if (report) {
        const auto* broke = std::get_if<fragments::Broke>(&*report);
        const auto* failed = std::get_if<fragments::PrepareFailed>(&*report);
        trouble = "halted";
        if (broke != nullptr) trouble = broke->why;
        if (failed != nullptr) trouble = failed->why;
        for (std::size_t i = 0; i < fragments.size(); ++i) engine.abort(fragment_key(i));
        for (std::size_t i = 0; i < fragments.size(); ++i) (void)reports.end_of(fragment_key(i));
    }
    engine.listen({});
    return trouble;
}

}  // namespace baton::testing
