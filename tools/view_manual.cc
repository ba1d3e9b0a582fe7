// view_manual prints docs/VIEWS.md from the list of views, so that the contract cannot drift.
//
//     build/dev/view_manual > docs/VIEWS.md
#include <cstdio>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "catalog/views/views.h"
#include "model/reason.h"

namespace {

constexpr std::string_view kOpening = R"(# Views

Clients see the catalog through the views of schema `baton`. The views are a contract: columns are
added, never renamed, removed or given another meaning. The tables below the views are not part of
it.

    SELECT name, state FROM baton.queries WHERE state <> 'RUNNING';
    WATCH SELECT name, state FROM baton.workers WHERE state = 'UNREACHABLE';
    SHOW QUERIES;                                   -- the columns marked *

To query a view, write `SELECT columns FROM baton.view [WHERE condition]`. A condition compares
columns with literals by `= <> < <= > >=`, `[NOT] BETWEEN`, `[NOT] IN`, `IS [NOT] NULL`, joined by
`AND`, `OR`, `NOT`. Rows come in the order of the key. Everything that one statement shows, and all
that is read in one transaction before its first change, belongs to one revision.

Times are UTC texts such as `2026-11-15T09:46:16.123456Z`, which sort as they are. Secrets are shown
as `***`. In the SQLite file the views have the prefix `baton_` instead of the schema.

A view with changes can be watched: first all rows, then every change, with the revision to resume
from by `SINCE REVISION n`. Derived columns are computed from other rows and cannot be watched.
)";

std::string_view name_of(baton::kinds::ViewType type) {
    switch (type) {
        case baton::kinds::ViewType::text:
            return "text";
        case baton::kinds::ViewType::unsigned_integer:
        case baton::kinds::ViewType::float32:
        case baton::kinds::ViewType::float64:
        case baton::kinds::ViewType::integer:
            return "integer";
        case baton::kinds::ViewType::boolean:
            return "boolean";
        case baton::kinds::ViewType::time:
            return "time";
        case baton::kinds::ViewType::json:
            return "JSON";
    }
    CHECK(false && "a type without a name");
}

void print(const baton::kinds::View& view) {
    std::string keys;
    for (std::size_t i = 0; i < view.key_columns; ++i) {
        keys += (i > 0 ? ", " : "") + std::string(view.columns[i].name);
    }
    std::printf("\n## baton.%s\n\n%s. Key: %s. %s\n\n| column | type | meaning |\n|---|---|---|\n",
                std::string(view.name).c_str(), std::string(view.meaning).c_str(), keys.c_str(),
                view.entity ? "Can be watched." : "Cannot be watched.");
    for (const baton::kinds::ViewColumn& column : view.columns) {
        std::printf("| %s%s | %s | %s%s |\n", std::string(column.name).c_str(),
                    column.brief ? " *" : "", std::string(name_of(column.type)).c_str(),
                    std::string(column.meaning).c_str(), column.derived ? " (derived)" : "");
    }
}

constexpr std::string_view kReasons = R"(
## Reasons

REASON says in words why a worker, a query or a fragment is in its state. REASON_CODE says it for
programs, REASON_WHO names the worker that it is about, and REASON_ERROR is the number of the error
behind it ([ERRORS.md](ERRORS.md)), NULL if there is none. Codes are added, never renamed; words may
change.

| code | of | meaning |
|---|---|---|
)";

void print(const baton::ReasonMeaning& reason) {
    std::printf("| %s | %s | %s |\n", reason.name.empty() ? "(empty)" : reason.name.data(),
                reason.of.data(), reason.meaning.data());
}

}  // namespace

int main() {
    std::fputs(kOpening.data(), stdout);
    for (const baton::kinds::View& view : baton::views::views()) print(view);
    std::fputs(kReasons.data(), stdout);
    for (const baton::ReasonMeaning& reason : baton::kReasonMeanings) print(reason);
    return 0;
}
