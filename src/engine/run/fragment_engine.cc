#include "engine/run/fragment_engine.h"

#include <algorithm>
#include <utility>

#include "engine/run/caught.h"

namespace baton::engine {

FragmentEngine::FragmentEngine(Connectors& connectors, Exchanges& exchanges, const Clock& clock,
                               FragmentOptions options)
    : connectors_(connectors), exchanges_(exchanges), clock_(clock), options_(std::move(options)) {
    memory_.most = options_.memory_most_in_all;
}

FragmentEngine::~FragmentEngine() {
    listen({});
    std::map<FragmentKey, std::shared_ptr<FragmentRun>> runs;
    {
        const std::lock_guard lock(mutex_);
        runs = runs_;
    }
    for (const auto& [key, run] : runs) run->abort();
    runs.clear();
    // Each run moves itself to the ended ones; then its thread can be waited for.
    while (true) {
        std::vector<std::shared_ptr<FragmentRun>> ended;
        {
            const std::lock_guard lock(mutex_);
            ended.swap(ended_);
            for (const auto& [key, run] : runs_) ended.push_back(run);
            runs_.clear();
        }
        if (ended.empty()) return;
        ended.clear();
    }
}

void FragmentEngine::listen(Listener listener) {
    std::unique_lock lock(listener_mutex_);
    listener_ = listener ? std::make_shared<const Listener>(std::move(listener)) : nullptr;
    if (!listener_) told_.wait(lock, [&] { return telling_ == 0; });
}

void FragmentEngine::tell(fragments::Event event) {
    std::shared_ptr<const Listener> listener;
    {
        const std::lock_guard lock(listener_mutex_);
        listener = listener_;
        if (!listener) return;
        telling_ += 1;
    }
    const auto over = [&](void*) {
        const std::lock_guard lock(listener_mutex_);
        telling_ -= 1;
        told_.notify_all();
    };
    const std::unique_ptr<void, decltype(over)> telling(this, over);  // also if it throws
    (*listener)(std::move(event));
}

std::shared_ptr<FragmentRun> FragmentEngine::find(const FragmentKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(key);
    return found == runs_.end() ? nullptr : found->second;
}

void FragmentEngine::bury(const FragmentKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(key);
    if (found == runs_.end()) return;  // the engine ends
    ended_.push_back(std::move(found->second));
    runs_.erase(found);
}

void FragmentEngine::reap() {
    std::vector<std::shared_ptr<FragmentRun>> gone;
    const std::lock_guard lock(mutex_);
    const auto done =
        std::partition(ended_.begin(), ended_.end(), [](const auto& run) { return !run->done(); });
    gone.assign(std::make_move_iterator(done), std::make_move_iterator(ended_.end()));
    ended_.erase(done, ended_.end());
}

void FragmentEngine::prepare(const FragmentKey& key, const std::string& plan) {
    const auto made = caught([&]() -> Result<Done> {
        reap();
        make(key, plan);
        return Done{};
    });
    if (made) return;
    tell(fragments::PrepareFailed{.key = key,
                                  .fault = control::Fault::transient,
                                  .why = to_string(made.error()),
                                  .error = number(made.error().code)});
}

void FragmentEngine::make(const FragmentKey& key, const std::string& plan) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = runs_.try_emplace(key);
    if (!is_new) return;
    try {
        at->second = std::make_shared<FragmentRun>(
            key, plan, options_, clock_,
            Pipeline::ConnectorPorts{.connectors = connectors_, .exchanges = exchanges_},
            FragmentRun::Owner{.report = [this](fragments::Event event) { tell(std::move(event)); },
                               .ended = [this, key] { bury(key); },
                               .leaves = leaves_,
                               .memory = memory_});
    } catch (...) {
        runs_.erase(at);
        throw;
    }
}

void FragmentEngine::start(const FragmentKey& key) {
    if (const auto run = find(key)) run->start();
}

void FragmentEngine::drain(const FragmentKey& key) {
    if (const auto run = find(key)) run->drain();
}

void FragmentEngine::abort(const FragmentKey& key) {
    if (const auto run = find(key)) {
        run->abort();
        return;
    }
    tell(fragments::Halted{key});
}

std::vector<control::FragmentCounts> FragmentEngine::counts() const {
    std::map<FragmentKey, std::shared_ptr<FragmentRun>> runs;
    {
        const std::lock_guard lock(mutex_);
        runs = runs_;
    }
    std::vector<control::FragmentCounts> all;
    for (const auto& [key, run] : runs) {
        if (const auto counts = run->counts()) all.push_back({.key = key, .counts = *counts});
    }
    return all;
}

}  // namespace baton::engine
