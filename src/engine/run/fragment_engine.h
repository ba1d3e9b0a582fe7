// FragmentEngine runs fragments: it reads their plans, opens what they name, and moves their rows.
//
// An error that the plan, the configuration or the data will give again is terminal: plans that
// cannot be compiled, options that cannot be, arithmetic (3013), late rows (3014), too much memory
// (3015), records that cannot be read (4003) and exchanges that are refused for good (2001). All
// others are transient.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/run/fragment_run.h"
#include "engine/streams/connectors.h"
#include "engine/streams/exchange.h"
#include "ports/clock.h"
#include "ports/engine.h"

namespace baton::engine {

class FragmentEngine : public Engine {
public:
    // All of them outlive the engine.
    FragmentEngine(Connectors& connectors, Exchanges& exchanges, const Clock& clock,
                   FragmentOptions options = {});
    FragmentEngine(const FragmentEngine&) = delete;
    FragmentEngine& operator=(const FragmentEngine&) = delete;
    ~FragmentEngine() override;  // ends everything, without a report

    void listen(Listener listener) override;
    void prepare(const FragmentKey& key, const std::string& plan) override;
    void start(const FragmentKey& key) override;
    void drain(const FragmentKey& key) override;
    void abort(const FragmentKey& key) override;
    [[nodiscard]] std::vector<control::FragmentCounts> counts() const override;

private:
    void tell(fragments::Event event);
    [[nodiscard]] std::shared_ptr<FragmentRun> find(const FragmentKey& key) const;
    void make(const FragmentKey& key, const std::string& plan);  // throws if it lacks a thread
    void bury(const FragmentKey& key);                           // by the run itself: it ends
    void reap();

    Connectors& connectors_;
    Exchanges& exchanges_;
    const Clock& clock_;
    const FragmentOptions options_;

    std::mutex listener_mutex_;
    std::condition_variable told_;
    std::shared_ptr<const Listener> listener_;
    std::size_t telling_ = 0;  // calls under way

    std::atomic<std::size_t> leaves_ = 0;  // that all runs have
    WindowMemory memory_;                  // and their windows
    mutable std::mutex mutex_;
    std::map<FragmentKey, std::shared_ptr<FragmentRun>> runs_;
    std::vector<std::shared_ptr<FragmentRun>> ended_;  // their threads may still be about to return
};

}  // namespace baton::engine
