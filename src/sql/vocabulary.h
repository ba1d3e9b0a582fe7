// The vocabulary of the dialect as three tables: what SHOW shows, the kinds that are created and
// dropped, and the statements. The parser, the printer, access, sessions, the doors and the
// completion of the shell take their words and facts from here and list none themselves.
//
// A statement does not compile until its row is given, with all of its facts: the role above all.
// Readers that treat a few statements apart take the others by a concept (ChangesCatalog and the
// like), so that a row that says otherwise does not compile before they are extended.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/check.h"
#include "base/error.h"
#include "model/role.h"
#include "sql/ast.h"

namespace baton::sql {

// "TASK" of "TASK LISTS"
[[nodiscard]] constexpr std::string_view first_word(std::string_view words) {
    return words.substr(0, words.find(' '));
}

// The rows of a table begin with different words, so that the parser needs to look at one only.
template <class Rows>
[[nodiscard]] constexpr bool begin_differently(const Rows& rows) {
    for (const auto& row : rows) {
        const auto same = [&](const auto& other) {
            return first_word(other.words) == first_word(row.words);
        };
        if (std::count_if(rows.begin(), rows.end(), same) != 1) return false;
    }
    return true;
}

// ---- what SHOW shows ----------------------------------------------------------------------------

struct Shown {
    ShowWhat what;
    std::string_view words;  // behind SHOW
    std::string_view view;   // of schema BATON, which it reads; empty: nothing of the catalog
};

// In the order in which errors list them. The parser knows what has a row, and nothing else.
inline constexpr std::array kShown = {
    Shown{ShowWhat::queries, "QUERIES", "QUERIES"},
    Shown{ShowWhat::fragments, "FRAGMENTS", "FRAGMENTS"},
    Shown{ShowWhat::workers, "WORKERS", "WORKERS"},
    Shown{ShowWhat::links, "LINKS", "LINKS"},
    Shown{ShowWhat::sinks, "SINKS", "SINKS"},
    Shown{ShowWhat::statements, "STATEMENTS", "STATEMENTS"},
    Shown{ShowWhat::counters, "COUNTERS", "COUNTERS"},
    Shown{ShowWhat::partitions, "PARTITIONS", "PARTITIONS"},
    Shown{ShowWhat::locks, "LOCKS", "LOCKS"},
    Shown{ShowWhat::tables, "TABLES", "TABLES"},
    Shown{ShowWhat::segments, "SEGMENTS", ""},
    Shown{ShowWhat::version, "VERSION", ""},
    Shown{ShowWhat::logical_sources, "LOGICAL SOURCES", "LOGICAL_SOURCES"},
    Shown{ShowWhat::physical_sources, "PHYSICAL SOURCES", "PHYSICAL_SOURCES"},
    Shown{ShowWhat::task_lists, "TASK LISTS", "TASK_LISTS"},
    Shown{ShowWhat::source_types, "SOURCE TYPES", ""},
    Shown{ShowWhat::sink_types, "SINK TYPES", ""},
    Shown{ShowWhat::format_types, "FORMAT TYPES", ""},
};
static_assert(begin_differently(kShown));

[[nodiscard]] constexpr const Shown& row_of(ShowWhat what) {
    const auto* row = std::find_if(kShown.begin(), kShown.end(),
                                   [&](const Shown& one) { return one.what == what; });
    CHECK(row != kShown.end());
    return *row;
}

// "QUERIES, FRAGMENTS, .. and FORMAT TYPES"
[[nodiscard]] std::string all_shown();

// ---- kinds that are created and dropped ---------------------------------------------------------

enum class KnownBy : std::uint8_t { name, number, either };

struct Kind {
    EntityKind kind;
    std::string_view words;  // behind CREATE and DROP
    std::string_view noun;   // in messages
    ShowWhat listed;         // SHOW of all of them, and so their view
    KnownBy known_by;
    ErrorCode unknown;  // none is known by this name or number
};

// In the order in which errors list them.
inline constexpr std::array kKinds = {
    Kind{EntityKind::logical_source, "LOGICAL SOURCE", "source", ShowWhat::logical_sources,
         KnownBy::name, ErrorCode::unknown_source},
    Kind{EntityKind::physical_source, "PHYSICAL SOURCE", "physical source",
         ShowWhat::physical_sources, KnownBy::number, ErrorCode::unknown_source},
    Kind{EntityKind::sink, "SINK", "sink", ShowWhat::sinks, KnownBy::name, ErrorCode::unknown_sink},
    Kind{EntityKind::worker, "WORKER", "worker", ShowWhat::workers, KnownBy::name,
         ErrorCode::unknown_worker},
    Kind{EntityKind::task_list, "TASK LIST", "task list", ShowWhat::task_lists, KnownBy::name,
         ErrorCode::unknown_task_list},
    Kind{EntityKind::table, "TABLE", "table", ShowWhat::tables, KnownBy::name,
         ErrorCode::unknown_table},
    Kind{EntityKind::query, "QUERY", "query", ShowWhat::queries, KnownBy::either,
         ErrorCode::unknown_query},
};
static_assert(begin_differently(kKinds));

[[nodiscard]] constexpr const Kind& row_of(EntityKind kind) {
    const auto* row = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const Kind& one) { return one.kind == kind; });
    CHECK(row != kKinds.end());
    return *row;
}

[[nodiscard]] constexpr std::string_view view_of(const Kind& kind) {
    return row_of(kind.listed).view;
}

// Null if the view lists nothing that is created and dropped.
[[nodiscard]] constexpr const Kind* kind_in_view(std::string_view view) {
    for (const Kind& kind : kKinds) {
        if (view_of(kind) == view) return &kind;
    }
    return nullptr;
}

// ---- statements ---------------------------------------------------------------------------------

enum class Effect : std::uint8_t {
    catalog,      // it changes the catalog
    rows,         // it gives rows and changes nothing
    transaction,  // it begins or ends a transaction
    beside,       // it acts beside the catalog, or waits
    none,         // it is refused: nothing carries it out
};
// Between BEGIN and COMMIT. A SELECT from streams is refused there by the session.
enum class InTransaction : std::uint8_t { allowed, refused };
// Whether it may make a worker open files, which is a right of its own.
enum class Files : std::uint8_t { never, perhaps };

// The words that it begins with.
struct Opening {
    std::string_view verb;
    std::string_view object;  // behind the verb; empty: anything may follow
    bool object_in_tag = true;
};

// One way to write a statement.
struct Form {
    std::size_t node;  // the alternative of Statement::node
    Opening opening;
    Role role;  // the least that may give it; a SELECT over an inline source needs a writer
    Effect effect;
    InTransaction in_transaction;
    Files files;
};

template <class Node, std::size_t I = 0>
[[nodiscard]] constexpr std::size_t node_index() {
    using Nodes = decltype(Statement::node);
    static_assert(I < std::variant_size_v<Nodes>, "no statement");
    if constexpr (std::is_same_v<std::variant_alternative_t<I, Nodes>, Node>) {
        return I;
    } else {
        return node_index<Node, I + 1>();
    }
}

// Every fact is an argument: a row that leaves one out does not compile.
template <class Node>
[[nodiscard]] constexpr Form form(Opening opening, Role role, Effect effect,
                                  InTransaction in_transaction, Files files) {
    return {.node = node_index<Node>(),
            .opening = opening,
            .role = role,
            .effect = effect,
            .in_transaction = in_transaction,
            .files = files};
}

// One row a statement, in the order of Statement::node; DROP has one a kind, and the statements of
// locks one an act.
inline constexpr auto kForms = [] {
    using enum EntityKind;
    using enum Role;
    using enum Effect;
    using enum InTransaction;
    using enum Files;
    constexpr auto create = [](EntityKind kind) { return Opening{"CREATE", row_of(kind).words}; };
    constexpr auto drop = [](EntityKind kind) { return Opening{"DROP", row_of(kind).words}; };
    // clang-format off
    return std::array{
        form<CreateLogicalSource>(create(logical_source),   writer, catalog,     allowed, never),
        form<CreatePhysicalSource>(create(physical_source), writer, catalog,     allowed, perhaps),
        form<CreateSink>(create(sink),                      writer, catalog,     allowed, perhaps),
        form<CreateWorker>(create(worker),                  admin,  catalog,     allowed, never),
        form<CreateTaskList>(create(task_list),             writer, catalog,     allowed, never),
        form<CreateTable>(create(table),                    writer, catalog,     allowed, perhaps),
        form<CreateQuery>(create(query),                    writer, catalog,     allowed, perhaps),
        form<SelectOnce>({"SELECT", ""},                    reader, rows,        allowed, perhaps),
        form<Question>({"WITH", ""},                        reader, rows,        allowed, never),
        form<Insert>({"INSERT", "INTO", false},             writer, beside,      allowed, never),
        form<Vacuum>({"VACUUM", ""},                        writer, beside,      refused, never),
        form<Drop>(drop(logical_source),                    writer, catalog,     allowed, never),
        form<Drop>(drop(physical_source),                   writer, catalog,     allowed, never),
        form<Drop>(drop(sink),                              writer, catalog,     allowed, never),
        form<Drop>(drop(worker),                            admin,  catalog,     allowed, never),
        form<Drop>(drop(task_list),                         writer, catalog,     allowed, never),
        form<Drop>(drop(table),                             writer, catalog,     allowed, never),
        form<Drop>(drop(query),                             writer, catalog,     allowed, never),
        form<StopQuery>({"STOP", "QUERY"},                  writer, catalog,     allowed, never),
        form<DrainWorker>({"DRAIN", "WORKER"},              admin,  catalog,     allowed, never),
        form<ResumeWorker>({"RESUME", "WORKER"},            admin,  catalog,     allowed, never),
        form<Show>({"SHOW", ""},                            reader, rows,        allowed, never),
        form<Explain>({"EXPLAIN", ""},                      reader, rows,        refused, never),
        form<Watch>({"WATCH", ""},                          reader, rows,        refused, never),
        form<Begin>({"BEGIN", ""},                          reader, transaction, allowed, never),
        form<Commit>({"COMMIT", ""},                        reader, transaction, allowed, never),
        form<Rollback>({"ROLLBACK", ""},                    reader, transaction, allowed, never),
        form<Cancel>({"CANCEL", ""},                        writer, none,        allowed, never),
        form<WaitForQuery>({"WAIT", "FOR QUERY", false},    reader, beside,      refused, never),
        form<LockStatement>({"ACQUIRE", "LOCK"},            writer, beside,      refused, never),
        form<LockStatement>({"RENEW", "LOCK"},              writer, beside,      refused, never),
        form<LockStatement>({"RELEASE", "LOCK"},            writer, beside,      refused, never),
        form<LockStatement>({"ENABLE", "LOCK"},             admin,  beside,      refused, never),
        form<LockStatement>({"DISABLE", "LOCK"},            admin,  beside,      refused, never),
        form<LockStatement>({"DROP", "LOCK"},               admin,  beside,      refused, never),
    };
    // clang-format on
}();

// How many forms a statement has: by what it holds, if there are several.
[[nodiscard]] constexpr std::size_t forms_of(std::size_t node) {
    if (node == node_index<Drop>()) return kKinds.size();
    if (node == node_index<LockStatement>()) {
        return std::variant_size_v<decltype(LockStatement::act)>;
    }
    return 1;
}

[[nodiscard]] constexpr std::size_t first_form(std::size_t node) {
    std::size_t first = 0;
    for (std::size_t before = 0; before < node; ++before) first += forms_of(before);
    return first;
}

// Every statement has its rows, in order, and they agree in all but the opening and the role.
[[nodiscard]] constexpr bool every_statement_has_its_forms() {
    constexpr std::size_t kNodes = std::variant_size_v<decltype(Statement::node)>;
    if (first_form(kNodes) != kForms.size()) return false;
    for (std::size_t node = 0; node < kNodes; ++node) {
        const Form& first = kForms.at(first_form(node));
        for (std::size_t i = 0; i < forms_of(node); ++i) {
            const Form& one = kForms.at(first_form(node) + i);
            if (one.node != node || one.effect != first.effect || one.files != first.files ||
                one.in_transaction != first.in_transaction) {
                return false;
            }
            const bool drops = node == node_index<Drop>();
            if (drops && one.opening.object != kKinds.at(i).words) return false;
        }
    }
    return true;
}
static_assert(every_statement_has_its_forms(), "each statement needs a row of kForms, in order");

template <class Node>
concept ChangesCatalog = kForms.at(first_form(node_index<Node>())).effect == Effect::catalog;
template <class Node>
concept LeavesCatalog = !ChangesCatalog<Node>;
template <class Node>
concept OpensNoFiles = kForms.at(first_form(node_index<Node>())).files == Files::never;

// The kind that a CREATE makes.
template <class Node>
[[nodiscard]] constexpr const Kind& kind_made_by() {
    constexpr Opening kOpening = kForms.at(first_form(node_index<Node>())).opening;
    static_assert(kOpening.verb == "CREATE");
    const auto* row = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const Kind& one) { return one.words == kOpening.object; });
    CHECK(row != kKinds.end());
    return *row;
}

[[nodiscard]] const Form& form_of(const Statement& statement);
[[nodiscard]] bool changes_catalog(const Statement& statement);

// "CREATE SINK", "WAIT": what kind of statement it is.
[[nodiscard]] std::string tag_of(const Form& form);
[[nodiscard]] std::string tag_of(const Statement& statement);

}  // namespace baton::sql
