#include "properties/world.h"

#include <sstream>

#include <rapidcheck.h>

#include "adapters/sqlite/sqlite.h"
#include "base/check.h"
#include "base/text.h"
#include "catalog/check.h"
#include "catalog/schema.h"

namespace baton::properties {

namespace {

std::string_view to_string(catalog::Did did) {
    switch (did) {
        case catalog::Did::created:
            return "created";
        case catalog::Did::existed:
            return "existed";
        case catalog::Did::dropped:
            return "dropped";
        case catalog::Did::absent:
            return "absent";
        case catalog::Did::accepted:
            return "accepted";
        case catalog::Did::changed:
            return "changed";
        case catalog::Did::unchanged:
            return "unchanged";
    }
    CHECK(false && "an unknown answer");
}

std::string names_of(const std::set<ErrorCode>& codes) {
    std::vector<std::string> names;
    for (const ErrorCode code : codes) names.emplace_back(entry_of(code).name);
    return join(names, " or ");
}

std::string shown(const Item& item) {
    std::ostringstream text;
    showValue(item, text);
    return text.str();
}

// A query that is not planned yet and everything else as it is, with nothing logged.
coordinator::Bundle bundle_of(const std::vector<catalog::Request>& requests, bool keep) {
    coordinator::Bundle bundle;
    for (const catalog::Request& request : requests) {
        bundle.steps.push_back({.what = request, .statement = {}});
    }
    bundle.keep = keep;
    return bundle;
}

void require_same_answer(const Verdict& verdict, const catalog::Answer& answer) {
    require(answer.did == verdict.did, "answered " + std::string(to_string(answer.did)) +
                                           ", expected " + std::string(to_string(verdict.did)));
    if (verdict.id) {
        require(answer.id == verdict.id, "another number than " + std::to_string(*verdict.id));
    }
    if (!verdict.name.empty()) {
        require(answer.name == verdict.name, answer.name + " instead of " + verdict.name);
    }
}

void require_same_refusal(const Verdict& verdict, const Error& error) {
    require(verdict.refusals.contains(error.code),
            "refused with " + baton::to_string(error) + ", expected " + names_of(verdict.refusals));
    if (verdict.related.empty()) return;
    require(std::set(error.related.begin(), error.related.end()) == verdict.related,
            "names others than those in the way: " + error.message);
}

}  // namespace

void require(bool condition, const std::string& message) {
    if (!condition) RC_FAIL(message);
}

void require_same_lines(const std::set<std::string>& expected, const std::set<std::string>& actual,
                        const std::string& of_what) {
    if (expected == actual) return;
    std::string text = of_what + " differs:";
    for (const std::string& line : expected) {
        if (!actual.contains(line)) text += "\n  missing: " + line;
    }
    for (const std::string& line : actual) {
        if (!expected.contains(line)) text += "\n  too many: " + line;
    }
    RC_FAIL(text);
}

World::World(coordinator::CoordinatorOptions options) {
    sqlite::SqliteOptions sqlite;
    sqlite.initialise = [](Sql& sql) { return catalog::migrate(sql); };
    auto database = require_value(sqlite::open_temporary_sqlite(sqlite));
    sql_ = require_value(database->connect(Access::read));
    options.planner = [this](const sql::CreateQuery& query, const planning::PlanningView& view) {
        if (auto meanwhile = std::exchange(meanwhile_, nullptr)) meanwhile();
        return plan(query, view);
    };
    coordinator_ =
        require_value(coordinator::CoordinatorRuntime::open(std::move(database), clock_, options));
}

coordinator::Outcome World::ask(const catalog::Request& request, bool keep) {
    return coordinator_->execute(bundle_of({request}, keep));
}

void World::perform(const Item& item) {
    RC_LOG() << "  " << shown(item) << std::endl;
    Model after = model_;
    std::vector<catalog::Request> requests;
    std::vector<Verdict> verdicts;
    for (const Ask& ask : item.asks) {
        if (!verdicts.empty() && verdicts.back().refused()) {
            requests.push_back(ask.request);  // never reached
            continue;
        }
        requests.push_back(resolved(ask.request, after.state()));
        verdicts.push_back(after.apply(requests.back()));
    }
    const Revision before = revision();
    const coordinator::Outcome outcome = coordinator_->execute(bundle_of(requests, item.keep));

    bool changes = false;
    if (const auto* refused = std::get_if<coordinator::Refused>(&outcome)) {
        require(refused->step + 1 == verdicts.size() || !verdicts.back().refused(),
                "the wrong step was refused: " + baton::to_string(refused->error));
        require(verdicts.back().refused(), "refused: " + baton::to_string(refused->error));
        require_same_refusal(verdicts.back(), refused->error);
    } else {
        require(!verdicts.back().refused(),
                "accepted, expected " + names_of(verdicts.back().refusals));
        const auto& answers = std::get<coordinator::Accepted>(outcome).answers;
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            require_same_answer(verdicts[i], std::get<catalog::Answer>(answers.at(i)));
            changes = changes || (verdicts[i].changes() && item.keep);
        }
        if (item.keep) model_ = after;
    }
    require(revision() == (changes ? before.next() : before),
            "the revision was " + baton::to_string(before) + " and is " +
                baton::to_string(revision()) + (changes ? " after a change" : " without a change"));
}

void World::perform(const Sequence& sequence) {
    for (const Item& item : sequence.items) perform(item);
}

Error World::must_refuse(const catalog::Request& request, ErrorCode code) {
    const auto before = lines_of(actual());
    const Revision at = revision();
    const coordinator::Outcome outcome = ask(request);
    const auto* refused = std::get_if<coordinator::Refused>(&outcome);
    require(refused != nullptr, "accepted, expected " + names_of({code}));
    require(refused->error.code == code,
            "refused with " + baton::to_string(refused->error) + ", expected " + names_of({code}));
    require_same_lines(before, lines_of(actual()), "the catalog after a refusal");
    require(revision() == at, "the revision rose with a refusal");
    return refused->error;
}

ModelState World::actual() {
    return state_in(require_value(coordinator_->snapshot()).read());
}

Revision World::revision() {
    return require_value(coordinator_->snapshot()).revision();
}

void World::compare() {
    require_same_lines(lines_of(expected()), lines_of(actual()), "the catalog");
}

void World::check_soundness() {
    const auto problems = require_value(catalog::catalog_problems(*sql_));
    require(problems.empty(), "baton check says: " + join(problems, "; "));
}

bool accepted(const coordinator::Outcome& outcome) {
    return std::holds_alternative<coordinator::Accepted>(outcome);
}

void require_none(World& world, const std::string& sql, const std::string& what) {
    const auto rows = require_value(world.sql().query(sql));
    require(rows.empty(),
            what + (rows.empty() ? "" : ": " + shown(rows[0].at(0), kinds::ViewType::text)));
}

}  // namespace baton::properties
