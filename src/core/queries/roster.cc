#include "core/queries/roster.h"

#include <algorithm>

#include "base/check.h"
#include "base/overload.h"

namespace baton::queries {

namespace {

// The least key that a fragment of the query can have.
FragmentKey first_of(QueryId query) {
    return {.query = query, .run = 0, .fragment = FragmentId(0)};
}

}  // namespace

bool Roster::is_ready(const Entry& entry) {
    return entry.recorded && entry.stream && entry.recorded->state == WorkerState::active &&
           entry.recorded->incarnation == entry.stream->incarnation;
}

const Roster::Entry* Roster::entry(const std::string& worker) const {
    const auto found = workers_.find(worker);
    return found == workers_.end() ? nullptr : &found->second;
}

Roster::Stream* Roster::stream(const std::string& worker, Attempt attempt) {
    const auto found = workers_.find(worker);
    if (found == workers_.end() || !found->second.stream) return nullptr;
    if (found->second.stream->attempt != attempt) return nullptr;
    return &*found->second.stream;
}

// ---- what the catalog says ----------------------------------------------------------------------

bool Roster::record(Instant now, const Worker& worker) {
    auto [found, added] = workers_.try_emplace(worker.name);
    Entry& entry = found->second;
    const bool was_ready = is_ready(entry);
    entry.recorded = worker;
    if (added) entry.ready_since = now;
    if (is_ready(entry) == was_ready) return false;
    entry.ready_since = now;
    return true;
}

void Roster::remove(const std::string& worker) {
    const auto found = workers_.find(worker);
    if (found == workers_.end()) return;
    (void)disconnected(found->second.ready_since, worker);
    workers_.erase(found);
}

const Worker* Roster::recorded(const std::string& worker) const {
    const Entry* known = entry(worker);
    return known == nullptr || !known->recorded ? nullptr : &*known->recorded;
}

std::vector<std::string> Roster::names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : workers_) names.push_back(name);
    return names;
}

// ---- what the worker says -----------------------------------------------------------------------

Roster::Queries Roster::connected(Instant now, const std::string& worker, Attempt attempt,
                                  const control::Welcome& welcome) {
    Queries concerned = disconnected(now, worker);
    Entry& entry = workers_[worker];
    entry.stream.emplace(Stream{.attempt = attempt,
                                .incarnation = welcome.incarnation,
                                .seen = welcome.last_event,
                                .held = {},
                                .exchanges = {},
                                .requests = {}});
    for (const control::FragmentStatus& status : welcome.fragments) {
        hold(worker, *entry.stream, status);
        concerned.insert(status.key.query);
    }
    if (is_ready(entry)) entry.ready_since = now;
    return concerned;
}

Roster::Queries Roster::disconnected(Instant now, const std::string& worker) {
    Queries concerned;
    const auto found = workers_.find(worker);
    if (found == workers_.end() || !found->second.stream) return concerned;
    Entry& entry = found->second;
    if (is_ready(entry)) entry.ready_since = now;
    for (const auto& [key, status] : entry.stream->held) concerned.insert(key.query);
    for (const QueryId query : concerned) {
        auto& holders = holders_.at(query);
        holders.erase(worker);
        if (holders.empty()) holders_.erase(query);
    }
    entry.stream.reset();
    return concerned;
}

void Roster::hold(const std::string& worker, Stream& stream,
                  const control::FragmentStatus& status) {
    stream.held[status.key] = status;
    holders_[status.key.query].insert(worker);
}

void Roster::unhold(const std::string& worker, Stream& stream, const FragmentKey& key) {
    if (stream.held.erase(key) == 0) return;
    const auto next = stream.held.lower_bound(first_of(key.query));
    if (next != stream.held.end() && next->first.query == key.query) return;
    auto& holders = holders_.at(key.query);
    holders.erase(worker);
    if (holders.empty()) holders_.erase(key.query);
}

void Roster::refused(Instant now, Exchange& exchange, Trouble trouble, std::uint64_t jitter) {
    exchange.state = StepState::refused;
    exchange.failures += 1;
    exchange.at = now + delay_after(pace_, exchange.failures, jitter);
    exchange.trouble = std::move(trouble);
}

void Roster::merge(Instant now, const std::string& worker, Stream& stream,
                   const control::FragmentStatus& status, std::uint64_t jitter) {
    const auto known = stream.held.find(status.key);
    if (known != stream.held.end() && status.event <= known->second.event) return;
    const auto exchange = stream.exchanges.find(status.key);
    if (status.state) {
        hold(worker, stream, status);
        const bool over =
            exchange != stream.exchanges.end() && exchange->second.state != StepState::asked;
        if (over && *status.state != FragmentState::pending) stream.exchanges.erase(exchange);
        return;
    }
    unhold(worker, stream, status.key);
    // It could not be prepared; how often that was so is remembered. If it was asked for again
    // since, the worker may be about to have it, and only the answer to that tells.
    const bool was_registering = exchange != stream.exchanges.end() &&
                                 exchange->second.state != StepState::asked &&
                                 std::holds_alternative<RegisterFragment>(exchange->second.step);
    if (!was_registering) return;
    refused(now, exchange->second, {.why = status.reason, .error = status.error}, jitter);
}

Roster::Queries Roster::heard(Instant now, const std::string& worker, Attempt attempt,
                              const control::Pulse& pulse, std::uint64_t jitter) {
    Queries concerned;
    Stream* present = stream(worker, attempt);
    if (present == nullptr) return concerned;
    for (const control::FragmentStatus& status : pulse.changed) {
        merge(now, worker, *present, status, jitter);
        concerned.insert(status.key.query);
    }
    if (pulse.from <= present->seen) present->seen = std::max(present->seen, pulse.through);
    return concerned;
}

std::optional<QueryId> Roster::heard(Instant now, const std::string& worker, Attempt attempt,
                                     const control::CommandAnswer& answer, std::uint64_t jitter) {
    Stream* present = stream(worker, attempt);
    if (present == nullptr) return std::nullopt;
    const auto asked = present->requests.find(answer.request);
    if (asked == present->requests.end()) return std::nullopt;  // asked again since
    const FragmentKey key = asked->second;
    present->requests.erase(asked);
    Exchange& exchange = present->exchanges.at(key);
    if (const auto* refusal = std::get_if<control::Refusal>(&answer.outcome)) {
        refused(now, exchange, {.why = refusal->why}, jitter);
        return key.query;
    }
    const auto& status = std::get<control::FragmentStatus>(answer.outcome);
    exchange.state = StepState::done;
    if (status.state) {
        merge(now, worker, *present, status, jitter);
    } else {
        unhold(worker, *present, key);
        present->exchanges.erase(key);
    }
    return key.query;
}

void Roster::asked(Instant now, const Send& send, std::uint64_t request) {
    Entry& entry = workers_.at(send.worker);
    CHECK(entry.stream);
    auto [found, added] = entry.stream->exchanges.try_emplace(key_of(send.step));
    Exchange& exchange = found->second;
    if (!added) entry.stream->requests.erase(exchange.request);
    if (exchange.step != send.step) exchange.failures = 0;
    exchange.step = send.step;
    exchange.request = request;
    exchange.state = StepState::asked;
    exchange.at = now;
    exchange.trouble = {};
    entry.stream->requests[request] = key_of(send.step);
}

// ---- what is known ------------------------------------------------------------------------------

bool Roster::ready(const std::string& worker) const {
    const Entry* known = entry(worker);
    return known != nullptr && is_ready(*known);
}

Instant Roster::ready_since(const std::string& worker) const {
    const Entry* known = entry(worker);
    return known == nullptr ? Instant() : known->ready_since;
}

std::optional<Roster::Attempt> Roster::attempt(const std::string& worker) const {
    const Entry* known = entry(worker);
    if (known == nullptr || !known->stream) return std::nullopt;
    return known->stream->attempt;
}

std::uint64_t Roster::seen(const std::string& worker) const {
    const Entry* known = entry(worker);
    return known == nullptr || !known->stream ? 0 : known->stream->seen;
}

const control::FragmentStatus* Roster::held(const std::string& worker,
                                            const FragmentKey& key) const {
    const Entry* known = entry(worker);
    if (known == nullptr || !known->stream) return nullptr;
    const auto found = known->stream->held.find(key);
    return found == known->stream->held.end() ? nullptr : &found->second;
}

LastStep Roster::last_step(const std::string& worker, const FragmentKey& key) const {
    const Entry* known = entry(worker);
    if (known == nullptr || !known->stream) return {};
    const auto found = known->stream->exchanges.find(key);
    if (found == known->stream->exchanges.end()) return {};
    const Exchange& exchange = found->second;
    switch (exchange.state) {
        case StepState::asked:
            return StepAsked{.step = exchange.step, .at = exchange.at};
        case StepState::refused:
            return StepRefused{
                .step = exchange.step, .retry_at = exchange.at, .trouble = exchange.trouble};
        case StepState::done:
            return {};
    }
    CHECK(false && "a state that is not in the list");
}

Roster::Queries Roster::queries_held(const std::string& worker) const {
    Queries queries;
    const Entry* known = entry(worker);
    if (known == nullptr || !known->stream) return queries;
    for (const auto& [key, status] : known->stream->held) queries.insert(key.query);
    return queries;
}

std::map<std::string, std::vector<control::FragmentStatus>> Roster::held_of(QueryId query) const {
    std::map<std::string, std::vector<control::FragmentStatus>> all;
    const auto holders = holders_.find(query);
    if (holders == holders_.end()) return all;
    for (const std::string& worker : holders->second) {
        const Entry& known = workers_.at(worker);
        if (!is_ready(known)) continue;
        const auto& held = known.stream->held;
        for (auto it = held.lower_bound(first_of(query));
             it != held.end() && it->first.query == query; ++it) {
            all[worker].push_back(it->second);
        }
    }
    return all;
}

}  // namespace baton::queries
