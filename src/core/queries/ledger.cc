#include "core/queries/ledger.h"

#include <algorithm>
#include <utility>

namespace baton::queries {

namespace {

constexpr std::uint64_t kCountMax = 64;                // beyond which delays do not grow
constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // so that queries are not restarted at once

}  // namespace

void Ledger::record(const Query& query, const std::vector<Fragment>& fragments, Instant since,
                    Instant restarted) {
    const auto known = queries_.find(query.id);
    Entry entry;
    // How long it is so is asked once: the calendar may jump.
    const bool same = known != queries_.end() && known->second.recorded.state == query.state;
    entry.since = same ? known->second.since : since;
    entry.recorded = {.desired = query.desired,
                      .state = query.state,
                      .run = query.run,
                      .stop_mode = query.stop_mode,
                      .reason = query.reason,
                      .lagging = query.lagging,
                      .settings = settings_of(query.settings)};
    for (const Fragment& fragment : fragments) {
        entry.fragments.push_back({.id = fragment.id,
                                   .worker = fragment.worker,
                                   .stage = fragment.stage,
                                   .state = fragment.state,
                                   .reason = fragment.reason,
                                   .fingerprint = fragment.fingerprint});
        query_of_[fragment.id] = query.id;
        on_worker_[fragment.worker].insert(query.id);
    }
    queries_[query.id] = std::move(entry);
    if (query.restarts == 0) return;
    Restarts& restarts = restarts_[query.id];
    if (restarts.run == query.run) return;  // known; when it was is asked once, too
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(query.restarts, kCountMax));
    restarts = {.run = query.run,
                .count = count,
                .last = restarted,
                .next = restarted + delay_after(pace_, count, query.id.value() * kSpread)};
}

void Ledger::remove(QueryId query) {
    const auto known = queries_.find(query);
    if (known == queries_.end()) return;
    for (const FragmentEntry& fragment : known->second.fragments) {
        query_of_.erase(fragment.id);
        const auto there = on_worker_.find(fragment.worker);
        there->second.erase(query);
        if (there->second.empty()) on_worker_.erase(there);
    }
    restarts_.erase(query);
    queries_.erase(known);
}

void Ledger::restart_refused(QueryId query, Instant now, const Trouble& trouble,
                             std::uint64_t jitter) {
    if (!queries_.contains(query)) return;
    Restarts& restarts = restarts_[query];
    restarts.refused += 1;
    restarts.next = now + delay_after(pace_, restarts.refused, jitter);
    restarts.trouble = trouble;
}

std::set<QueryId> Ledger::on_worker(const std::string& worker) const {
    const auto found = on_worker_.find(worker);
    return found == on_worker_.end() ? std::set<QueryId>() : found->second;
}

std::optional<QueryId> Ledger::query_of(FragmentId fragment) const {
    const auto found = query_of_.find(fragment);
    if (found == query_of_.end()) return std::nullopt;
    return found->second;
}

std::vector<QueryId> Ledger::unfinished() const {
    std::vector<QueryId> ids;
    for (const auto& [id, entry] : queries_) {
        if (!has_ended(entry.recorded.state)) ids.push_back(id);
    }
    return ids;
}

QueryView Ledger::view(QueryId query, const Roster& roster) const {
    QueryView view{.id = query};
    std::set<std::pair<std::string, FragmentKey>> wanted;  // where
    if (const auto found = queries_.find(query); found != queries_.end()) {
        const Entry& entry = found->second;
        view.recorded = entry.recorded;
        view.since = entry.since;
        if (const auto restarts = restarts_.find(query); restarts != restarts_.end()) {
            view.restarts = restarts->second.count;
            view.restarted = restarts->second.last;
            view.restart_at = restarts->second.next;
            view.restart_trouble = restarts->second.trouble;
        }
        for (const FragmentEntry& fragment : entry.fragments) {
            const FragmentKey key{
                .query = query, .run = entry.recorded.run, .fragment = fragment.id};
            wanted.emplace(fragment.worker, key);
            FragmentView seen{.id = fragment.id,
                              .worker = fragment.worker,
                              .ready = roster.ready(fragment.worker),
                              .ready_since = roster.ready_since(fragment.worker),
                              .stage = fragment.stage,
                              .recorded = fragment.state,
                              .reason = fragment.reason,
                              .held = {},
                              .last_step = {}};
            if (seen.ready) {
                const auto* held = roster.held(fragment.worker, key);
                seen.usurped = held != nullptr && held->fingerprint != fragment.fingerprint;
                seen.last_step = roster.last_step(fragment.worker, key);
                if (seen.usurped) {
                    view.strays.push_back(
                        {.worker = fragment.worker, .held = *held, .last_step = seen.last_step});
                    seen.last_step = {};
                } else if (held != nullptr) {
                    seen.held = *held;
                }
            }
            view.fragments.push_back(std::move(seen));
        }
    }
    for (const auto& [worker, statuses] : roster.held_of(query)) {
        for (const control::FragmentStatus& held : statuses) {
            if (wanted.contains({worker, held.key})) continue;
            view.strays.push_back(
                {.worker = worker, .held = held, .last_step = roster.last_step(worker, held.key)});
        }
    }
    return view;
}

}  // namespace baton::queries
