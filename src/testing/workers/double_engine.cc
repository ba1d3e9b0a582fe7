#include "testing/workers/double_engine.h"

#include <utility>

#include "base/overload.h"

namespace baton::testing {

DoubleEngine::Reports DoubleEngine::obey(const worker::engine_calls::EngineCommand& order) {
    if (!slow_) return carry_out(order);
    waiting_.push_back(order);
    return {};
}

DoubleEngine::Reports DoubleEngine::finish() {
    Reports all;
    for (const worker::engine_calls::EngineCommand& order : std::exchange(waiting_, {})) {
        Reports some = carry_out(order);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

DoubleEngine::Reports DoubleEngine::carry_out(const worker::engine_calls::EngineCommand& order) {
    return std::visit(Overload{
                          [&](const worker::engine_calls::Prepare& o) { return prepare(o); },
                          [&](const worker::engine_calls::Start& o) { return start(o); },
                          [&](const worker::engine_calls::Drain& o) { return halt(o.key); },
                          [&](const worker::engine_calls::Abort& o) { return halt(o.key); },
                      },
                      order);
}

DoubleEngine::Reports DoubleEngine::prepare(const worker::engine_calls::Prepare& order) {
    if (trouble_) {
        return {fragments::PrepareFailed{.key = order.key,
                                         .fault = trouble_->fault,
                                         .why = trouble_->why,
                                         .error = trouble_->error}};
    }
    plans_[order.key] = order.plan;
    return {fragments::Prepared{order.key}};
}

DoubleEngine::Reports DoubleEngine::start(const worker::engine_calls::Start& order) {
    if (!plans_.contains(order.key)) return {};  // aborted meanwhile
    running_.insert(order.key);
    return {fragments::BeganToRun{order.key}};
}

DoubleEngine::Reports DoubleEngine::halt(const FragmentKey& key) {
    plans_.erase(key);
    running_.erase(key);
    return {fragments::Halted{key}};
}

DoubleEngine::Reports DoubleEngine::end(FragmentKey key) {
    if (running_.erase(key) == 0) return {};
    plans_.erase(key);
    return {fragments::Ended{key}};
}

DoubleEngine::Reports DoubleEngine::fail(FragmentKey key, const Trouble& trouble) {
    if (running_.erase(key) == 0) return {};
    plans_.erase(key);
    return {fragments::Broke{
        .key = key, .fault = trouble.fault, .why = trouble.why, .error = trouble.error}};
}

std::optional<std::string> DoubleEngine::plan_of(const FragmentKey& key) const {
    const auto found = plans_.find(key);
    if (found == plans_.end()) return std::nullopt;
    return found->second;
}

}  // namespace baton::testing
