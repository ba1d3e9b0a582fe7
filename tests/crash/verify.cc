#include "crash/verify.h"

#include <algorithm>
#include <map>
#include <optional>

#include "adapters/sqlite/sqlite.h"
#include "base/text.h"
#include "catalog/check.h"
#include "catalog/history.h"
#include "crash/load.h"

namespace baton::crash {

namespace {

std::string list_of(const Facts& facts) {
    const std::vector<std::string> words(facts.begin(), facts.end());
    return "{" + join(words, " ") + "}";
}

// What a thread owned as of an acknowledged revision.
struct Milestone {
    const Attempt* attempt = nullptr;
    Facts facts;
};

// What a thread owns now: what it was told, or what it was not told yet.
struct Expected {
    Facts facts;
    std::optional<Facts> in_doubt;
};

class Verification {
public:
    Verification(Known& known, Tally& tally) : known_(known), tally_(tally) {
        for (const Facts& facts : known.facts) expected_.push_back({facts, {}});
    }

    void judge_answers(const Story& story) {
        for (const Attempt& attempt : story.attempts()) judge(attempt);
    }

    void judge_catalog(const std::string& path) {
        auto database = sqlite::open_sqlite(catalog_options(path));
        if (!database) return complain("it does not open: " + to_string(database.error()));
        auto sql = (*database)->connect(Access::read);
        if (!sql) return complain("it cannot be read: " + to_string(sql.error()));
        judge_soundness(path, **sql);
        if (auto done = judge_content(**sql); !done) complain(to_string(done.error()));
    }

    void judge_backup(const std::string& path) {
        auto database = sqlite::open_sqlite({.path = path, .initialise = {}, .lock = false});
        if (!database) return complain("backup: " + to_string(database.error()));
        auto sql = (*database)->connect(Access::read);
        if (!sql) return complain("backup: " + to_string(sql.error()));
        judge_soundness(path, **sql);
        tally_.backups += 1;
    }

    std::vector<std::string> problems() && { return std::move(problems_); }

private:
    void complain(std::string what) { problems_.push_back(std::move(what)); }

    void judge(const Attempt& attempt) {
        Expected& expected = expected_.at(static_cast<std::size_t>(attempt.thread));
        const Prediction prediction = predict(expected.facts, attempt.operation);
        const std::string what =
            "thread " + std::to_string(attempt.thread) + ", " + to_words(attempt.operation) + ": ";
        if (attempt.done) {
            tally_.acknowledged += 1;
            if (!prediction.refusal.empty()) complain(what + "was done, but cannot be");
            expected.facts = prediction.facts;
            const Milestone milestone{&attempt, prediction.facts};
            if (!milestones_.emplace(*attempt.done, milestone).second) {
                complain(what + "shares its revision with another");
            }
        } else if (attempt.refused == number(ErrorCode::catalog_full)) {
            tally_.refused_for_space += 1;
        } else if (attempt.refused) {
            tally_.refused += 1;
            const bool foreseen =
                std::any_of(prediction.refusal.begin(), prediction.refusal.end(),
                            [&](ErrorCode code) { return number(code) == *attempt.refused; });
            if (!foreseen) complain(what + "refused with " + std::to_string(*attempt.refused));
        } else if (prediction.refusal.empty()) {
            expected.in_doubt = prediction.facts;
        }
    }

    void judge_soundness(const std::string& path, Sql& sql) {
        for (const auto& found :
             {sqlite::integrity_problems(path), catalog::catalog_problems(sql)}) {
            if (!found) complain(path + ": " + to_string(found.error()));
            if (!found) continue;
            for (const std::string& problem : *found) complain(path + ": " + problem);
        }
    }

    Result<Done> judge_content(Sql& sql) {
        TRY(sql.begin(Access::read));
        TRY_ASSIGN(tables, Replica::of_tables(sql));
        if (!milestones_.empty() && tables.revision() < milestones_.rbegin()->first) {
            complain("revision " + to_string(milestones_.rbegin()->first) +
                     " was acknowledged, but the catalog is at " + to_string(tables.revision()));
        }
        TRY(follow_feed(sql, tables));
        TRY(judge_log(sql));
        TRY(judge_reads(sql));
        for (std::size_t i = 0; i < expected_.size(); ++i) judge_end(static_cast<int>(i), tables);
        known_.replica = std::move(tables);
        sql.rollback();
        return Done{};
    }

    Result<Done> follow_feed(Sql& sql, const Replica& tables) {
        TRY_ASSIGN(floor, catalog::feed_floor(sql));
        if (known_.replica.revision() < floor) {
            tally_.trimmed += 1;
            return Done{};
        }
        TRY_ASSIGN(found, catalog::changes_after(sql, known_.replica.revision(), std::nullopt,
                                                 SIZE_MAX / 2));
        tally_.changes += found.changes.size();
        Replica replica = known_.replica;
        for (std::size_t i = 0; i < found.changes.size(); ++i) {
            const catalog::Change& change = found.changes[i];
            if (std::string problem = replica.follow(change); !problem.empty()) {
                complain("change feed: " + problem);
                return Done{};
            }
            const bool last =
                i + 1 == found.changes.size() || found.changes[i + 1].revision != change.revision;
            if (last) judge_milestone(replica);
        }
        if (replica.revision() != tables.revision()) {
            complain("the change feed ends at revision " + to_string(replica.revision()) +
                     ", the catalog is at " + to_string(tables.revision()));
        }
        if (const std::string difference = replica.difference(tables); !difference.empty()) {
            complain("the change feed does not lead to the tables: " + difference);
        }
        return Done{};
    }

    void judge_milestone(const Replica& replica) {
        const auto milestone = milestones_.find(replica.revision());
        if (milestone == milestones_.end()) return;
        const int thread = milestone->second.attempt->thread;
        const Facts found = replica.facts_of(thread);
        if (found == milestone->second.facts) return;
        complain("as of revision " + to_string(replica.revision()) + ", thread " +
                 std::to_string(thread) + " has " + list_of(found) + " instead of " +
                 list_of(milestone->second.facts));
    }

    Result<Done> judge_log(Sql& sql) {
        std::map<Revision, std::size_t> logged;
        TRY(sql.run(
            "SELECT revision, COUNT(*) FROM statement_log WHERE outcome = 'OK' AND "
            "revision > ? GROUP BY revision",
            std::array<SqlValue, 1>{static_cast<std::int64_t>(known_.replica.revision().value())},
            [&](const SqlRow& row) {
                const auto revision = std::get<std::int64_t>(row.at(0));
                logged[Revision(static_cast<std::uint64_t>(revision))] =
                    static_cast<std::size_t>(std::get<std::int64_t>(row.at(1)));
            }));
        for (const auto& [revision, milestone] : milestones_) {
            if (logged[revision] == milestone.attempt->operation.size()) continue;
            complain("of revision " + to_string(revision) + ", " +
                     to_words(milestone.attempt->operation) + ", " +
                     std::to_string(logged[revision]) + " statements are in the log");
        }
        return Done{};
    }

    // A query reads the source that it was written for, whatever numbers were given out meanwhile.
    Result<Done> judge_reads(Sql& sql) {
        TRY_ASSIGN(rows, sql.query("SELECT q.name, p.logical FROM query q JOIN query_source s ON "
                                   "s.query = q.id JOIN physical_source p ON p.id = s.source WHERE "
                                   "replace(q.name, '_Q', '_L') <> p.logical"));
        for (const SqlRow& row : rows) {
            complain("query " + std::get<std::string>(row.at(0)) + " reads a source of " +
                     std::get<std::string>(row.at(1)));
        }
        return Done{};
    }

    void judge_end(int thread, const Replica& tables) {
        const Expected& expected = expected_.at(static_cast<std::size_t>(thread));
        const Facts found = tables.facts_of(thread);
        if (expected.in_doubt == found) {
            tally_.in_doubt_done += 1;
        } else if (found == expected.facts) {
            tally_.in_doubt_undone += expected.in_doubt ? 1 : 0;
        } else {
            complain("thread " + std::to_string(thread) + " has " + list_of(found) +
                     " instead of " + list_of(expected.facts) +
                     (expected.in_doubt ? " or " + list_of(*expected.in_doubt) : ""));
        }
        known_.facts.at(static_cast<std::size_t>(thread)) = found;
    }

    Known& known_;
    Tally& tally_;
    std::vector<Expected> expected_;
    std::map<Revision, Milestone> milestones_;
    std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> verify(const std::string& path, const Story& story, Known& known,
                                Tally& tally) {
    Verification verification(known, tally);
    verification.judge_answers(story);
    verification.judge_catalog(path);
    for (const std::string& backup : story.backups()) verification.judge_backup(backup);
    return std::move(verification).problems();
}

}  // namespace baton::crash
