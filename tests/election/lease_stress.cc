#include "election/lease_stress.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "election/journal.h"

namespace baton::testing {

namespace {

using Steady = std::chrono::steady_clock;

const std::string kKey{catalog::kLeaderLock};

struct Span {
    int node = 0;
    Steady::time_point from;
    Steady::time_point to;
};

std::string upsert_sql(SqlDialect dialect) {
    const std::string end = std::string(catalog::now_us(dialect)) + " + ?";
    const bool mariadb = dialect == SqlDialect::mariadb;
    const std::string wins =
        mariadb ? "owner = VALUES(owner) OR expires_at < VALUES(expires_at)"
                : "lease.owner = excluded.owner OR lease.expires_at < excluded.expires_at";
    const auto set = [&](const std::string& column, const std::string& value) {
        const std::string old = mariadb ? column : "lease." + column;
        return column + " = CASE WHEN " + wins + " THEN " + value + " ELSE " + old + " END";
    };
    const std::string next = mariadb ? "VALUES(" : "excluded.";
    const std::string close = mariadb ? ")" : "";
    return "INSERT INTO lease (lock_key, owner, expires_at, epoch, status) VALUES (?, ?, " + end +
           ", 1, 'ACTIVE') " +
           (mariadb ? "ON DUPLICATE KEY UPDATE " : "ON CONFLICT (lock_key) DO UPDATE SET ") +
           set("owner", next + "owner" + close) + ", " +
           set("expires_at", next + "expires_at" + close) + ", " +
           set("epoch", (mariadb ? "" : "lease.") + std::string("epoch + 1"));
}

class Fighter {
public:
    Fighter(SqlDatabase& database, const LeaseStress& stress, int number)
        : stress_(stress),
          number_(number),
          owner_("node" + std::to_string(number)),
          prng_(stress.seed * 1'000 + static_cast<std::uint64_t>(number)),
          lock_sql_(*database.connect(Access::write)),
          work_sql_(*database.connect(Access::write)),
          leases_(*lock_sql_),
          upsert_(upsert_sql(lock_sql_->dialect())) {}

    void run(Steady::time_point end) {
        while (Steady::now() < end) {
            if (take()) {
                lead(end);
            } else {
                stall(stress_.ttl / 6);
            }
        }
    }
    [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
    [[nodiscard]] std::uint64_t fenced() const { return fenced_; }

private:
    void stall(Duration most) {
        std::this_thread::sleep_for(
            Duration(prng_.between(0, static_cast<std::uint64_t>(most.count()))));
    }
    void maybe_stall() {
        if (prng_.chance(1, 12)) stall(stress_.ttl * 2);
    }
    void believe(Steady::time_point sent) { valid_until_ = sent + stress_.ttl - stress_.margin; }

    bool take() {
        const auto sent = Steady::now();
        if (stress_.locking == Locking::upsert) {
            if (!upserted()) return false;
        } else {
            const auto outcome = leases_.acquire(kKey, owner_, stress_.ttl);
            const auto* taken = outcome ? std::get_if<catalog::lease::Taken>(&*outcome) : nullptr;
            if (taken == nullptr) return false;
            epoch_ = taken->epoch;
        }
        believe(sent);
        return Steady::now() < valid_until_;
    }
    bool renew() {
        const auto sent = Steady::now();
        if (stress_.locking == Locking::upsert) {
            if (!upserted()) return false;
        } else {
            const auto renewed = leases_.renew(kKey, owner_, epoch_, stress_.ttl);
            if (!renewed) return Steady::now() < valid_until_;  // it may be better next time
            if (!*renewed) return false;
        }
        // A term that has run out stays over, whatever the answer.
        if (Steady::now() >= valid_until_) return false;
        believe(sent);
        return true;
    }
    bool upserted() {
        if (!lock_sql_->execute(upsert_, {kKey, owner_, std::int64_t{stress_.ttl.count()}})) {
            return false;
        }
        const auto state = leases_.watch(kKey);
        if (!state || !*state || (*state)->owner != owner_) return false;
        epoch_ = (*state)->epoch;
        return true;
    }

    void lead(Steady::time_point end) {
        Span span{.node = number_, .from = Steady::now(), .to = {}};
        while (Steady::now() < std::min(valid_until_, end)) {
            write();
            maybe_stall();
            if (!renew()) break;
        }
        span.to = std::min(Steady::now(), valid_until_);
        if (span.from < span.to) spans_.push_back(span);
        if (prng_.chance(1, 3)) (void)leases_.release(kKey, owner_, epoch_);
    }

    void write() {
        if (Steady::now() >= valid_until_) return;
        maybe_stall();
        if (stress_.fencing == Fencing::looked_at_before && !fence_is_ours()) return;
        maybe_stall();
        const bool weakly = stress_.fencing == Fencing::looked_at_within;
        if (!(weakly ? begin_weakly(*work_sql_) : work_sql_->begin(Access::write))) return;
        if (!pass_fence() || !append(*work_sql_, epoch_)) {
            work_sql_->rollback();
            return;
        }
        if (!work_sql_->commit()) work_sql_->rollback();
    }
    bool pass_fence() {
        if (stress_.fencing == Fencing::looked_at_before) return true;
        if (stress_.fencing == Fencing::none) return true;
        if (stress_.fencing == Fencing::looked_at_within) {
            if (!fence_is_ours()) return false;
        } else if (!catalog::hold_fence(*work_sql_, kKey, epoch_)) {
            fenced_ += 1;
            return false;
        }
        maybe_stall();
        return true;
    }
    bool fence_is_ours() {
        const auto ours = is_fence_of(*work_sql_, kKey, epoch_);
        if (ours && !*ours) fenced_ += 1;
        return ours && *ours;
    }

    LeaseStress stress_;
    int number_;
    std::string owner_;
    Prng prng_;
    std::unique_ptr<Sql> lock_sql_;
    std::unique_ptr<Sql> work_sql_;
    catalog::Leases leases_;
    std::string upsert_;
    Epoch epoch_;
    Steady::time_point valid_until_;
    std::vector<Span> spans_;
    std::uint64_t fenced_ = 0;
};

std::uint64_t overlaps_in(std::vector<Span> spans) {
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.from < b.from; });
    std::uint64_t overlaps = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        for (std::size_t j = i + 1; j < spans.size() && spans[j].from < spans[i].to; ++j) {
            if (spans[i].node != spans[j].node) overlaps += 1;
        }
    }
    return overlaps;
}

}  // namespace

LeaseFindings fight(SqlDatabase& database, const LeaseStress& stress) {
    const auto sql = *database.connect(Access::write);
    make_journal(*sql);
    std::vector<std::unique_ptr<Fighter>> fighters;
    fighters.reserve(static_cast<std::size_t>(stress.nodes));
    for (int i = 0; i < stress.nodes; ++i) {
        fighters.push_back(std::make_unique<Fighter>(database, stress, i));
    }
    const auto end = Steady::now() + stress.lasts;
    std::vector<std::thread> threads;
    threads.reserve(fighters.size());
    for (const auto& fighter : fighters) {
        threads.emplace_back([&fighter, end] { fighter->run(end); });
    }
    for (std::thread& thread : threads) thread.join();

    LeaseFindings findings;
    std::vector<Span> spans;
    for (const auto& fighter : fighters) {
        spans.insert(spans.end(), fighter->spans().begin(), fighter->spans().end());
        findings.fenced += fighter->fenced();
    }
    findings.terms = spans.size();
    findings.overlaps = overlaps_in(std::move(spans));
    const JournalFindings journal = read_journal(*sql);
    findings.writes = journal.writes;
    findings.stale = journal.stale;
    return findings;
}

}  // namespace baton::testing
