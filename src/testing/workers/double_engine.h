// DoubleEngine stands in for the engine of a worker: fragments prepare, run until they are stopped,
// and do otherwise only if a test says so.
//
// obey() returns the reports that follow at once. A slow engine keeps them back until finish().
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/worker/station.h"
#include "model/control.h"

namespace baton::testing {

class DoubleEngine {
public:
    using Reports = std::vector<fragments::Event>;

    struct Trouble {
        control::Fault fault = control::Fault::transient;
        std::string why;
        std::uint32_t error = 0;  // its number; 0: it has none
    };

    [[nodiscard]] Reports obey(const worker::engine_calls::EngineCommand& order);

    // From now on, every prepare fails so; none: prepares succeed.
    void fail_prepares(std::optional<Trouble> trouble) { trouble_ = std::move(trouble); }
    // Whether orders are carried out only when finish() is called.
    void set_slow(bool slow) { slow_ = slow; }
    [[nodiscard]] Reports finish();

    // The fragment ends, or fails, by itself. No reports if it does not run. The key may be one of
    // running().
    [[nodiscard]] Reports end(FragmentKey key);
    [[nodiscard]] Reports fail(FragmentKey key, const Trouble& trouble);

    [[nodiscard]] const std::set<FragmentKey>& running() const { return running_; }
    // The plan that a fragment was prepared with.
    [[nodiscard]] std::optional<std::string> plan_of(const FragmentKey& key) const;

private:
    [[nodiscard]] Reports carry_out(const worker::engine_calls::EngineCommand& order);
    [[nodiscard]] Reports prepare(const worker::engine_calls::Prepare& order);
    [[nodiscard]] Reports start(const worker::engine_calls::Start& order);
    [[nodiscard]] Reports halt(const FragmentKey& key);

    std::optional<Trouble> trouble_;
    bool slow_ = false;
    std::vector<worker::engine_calls::EngineCommand> waiting_;
    std::map<FragmentKey, std::string> plans_;
    std::set<FragmentKey> running_;
};

}  // namespace baton::testing
