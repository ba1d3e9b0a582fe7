#include "testing/stores/faulty_attempts.h"

#include <algorithm>

namespace baton::testing {

FaultyAttempts::FaultyAttempts(std::shared_ptr<StoreAttempts> store, const StoreFaults& faults,
                               std::uint64_t seed, std::function<void(Duration)> wait)
    : store_(std::move(store)), wait_(std::move(wait)), faults_(faults), prng_(seed) {}

void FaultyAttempts::plan(std::vector<std::optional<AttemptTrouble>> troubles, bool done) {
    const std::lock_guard lock(mutex_);
    planned_.clear();
    for (const auto& trouble : troubles) {
        planned_.push_back(trouble ? std::optional(Fault{.trouble = *trouble, .done = done})
                                   : std::nullopt);
    }
    std::reverse(planned_.begin(), planned_.end());
}

void FaultyAttempts::set(const StoreFaults& faults) {
    const std::lock_guard lock(mutex_);
    faults_ = faults;
}

std::uint64_t FaultyAttempts::attempts() const {
    const std::lock_guard lock(mutex_);
    return attempts_;
}

std::optional<FaultyAttempts::Fault> FaultyAttempts::draw() {
    struct Kind {
        std::uint64_t percent;
        Fault fault;
    };
    const Kind kinds[] = {
        {faults_.not_sent, {.trouble = AttemptTrouble::not_sent, .done = false}},
        {faults_.lost_request, {.trouble = AttemptTrouble::unknown, .done = false}},
        {faults_.lost_answer, {.trouble = AttemptTrouble::unknown, .done = true}},
        {faults_.throttled, {.trouble = AttemptTrouble::throttled, .done = false}},
        {faults_.refused_500, {.trouble = AttemptTrouble::server, .done = false}},
        {faults_.done_500, {.trouble = AttemptTrouble::server, .done = true}},
        {faults_.contended, {.trouble = AttemptTrouble::server, .done = false}},
    };
    std::uint64_t drawn = prng_.between(0, 99);
    for (const Kind& kind : kinds) {
        if (drawn < kind.percent) return kind.fault;
        drawn -= kind.percent;
    }
    return std::nullopt;
}

template <class T, class Call>
Attempted<T> FaultyAttempts::attempt(const Call& call) {
    std::optional<Fault> fault;
    Duration delay{};
    {
        const std::lock_guard lock(mutex_);
        ++attempts_;
        if (planned_.empty()) {
            fault = draw();
        } else {
            fault = planned_.back();
            planned_.pop_back();
        }
        const auto most = static_cast<std::uint64_t>(faults_.delay_max.count());
        if (most > 0) delay = Duration(static_cast<std::int64_t>(prng_.between(0, most)));
    }
    if (delay > Duration(0) && wait_) wait_(delay);
    if (fault && !fault->done) {
        return {.outcome = AttemptFailure{.trouble = fault->trouble, .why = "a planned fault"},
                .cost = {.requests = 1}};
    }
    Attempted<T> attempted = call();
    if (!fault) return attempted;
    return {.outcome = AttemptFailure{.trouble = fault->trouble, .why = "the answer was lost"},
            .cost = attempted.cost};
}

Attempted<GotWithStamp> FaultyAttempts::get(const std::string& key, const GetOptions& options,
                                            const AttemptCall& call) {
    return attempt<GotWithStamp>([&] { return store_->get(key, options, call); });
}
Attempted<PutOutcome> FaultyAttempts::put(const std::string& key, const PutAttempt& put,
                                          const AttemptCall& call) {
    return attempt<PutOutcome>([&] { return store_->put(key, put, call); });
}
Attempted<ListPage> FaultyAttempts::list(const ListOptions& options, const AttemptCall& call) {
    return attempt<ListPage>([&] { return store_->list(options, call); });
}
Attempted<Done> FaultyAttempts::remove(std::span<const std::string> keys, const AttemptCall& call) {
    return attempt<Done>([&] { return store_->remove(keys, call); });
}

}  // namespace baton::testing
