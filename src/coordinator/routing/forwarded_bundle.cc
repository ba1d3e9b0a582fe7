#include "coordinator/routing/forwarded_bundle.h"

#include <array>
#include <utility>
#include <variant>

#include "base/overload.h"
#include "coordinator/routing/field_codec.h"
#include "coordinator/statements/bind.h"
#include "sql/parser.h"
#include "sql/vocabulary.h"

namespace baton::coordinator {

namespace {

constexpr std::string_view kBundle = "baton bundle 1";
constexpr std::string_view kCounts = "baton counts 1";
constexpr std::string_view kAccepted = "accepted";
constexpr std::string_view kRefused = "refused";

Error malformed_order(std::string why) {
    return {.code = ErrorCode::malformed_message, .message = std::move(why)};
}

// ---- values -------------------------------------------------------------------------------------

void pack(Packer& to, const sql::Literal& literal) {
    to.number(literal.index());
    std::visit(Overload{
                   [](const sql::Null&) {},
                   [&](bool value) { to.flag(value); },
                   [&](const sql::Integer& value) {
                       to.flag(value.negative);
                       to.number(value.magnitude);
                   },
                   [&](double value) { to.real(value); },
                   [&](const std::string& value) { to.text(value); },
               },
               literal);
}

Result<sql::Literal> literal_in(Unpacker& from) {
    TRY_ASSIGN(kind, from.number_below(std::variant_size_v<sql::Literal>));
    switch (kind) {
        case 1: {
            TRY_ASSIGN(value, from.flag());
            return sql::Literal(value);
        }
        case 2: {
            TRY_ASSIGN(negative, from.flag());
            TRY_ASSIGN(magnitude, from.number());
            return sql::Literal(sql::Integer{.negative = negative, .magnitude = magnitude});
        }
        case 3: {
            TRY_ASSIGN(value, from.real());
            return sql::Literal(value);
        }
        case 4: {
            TRY_ASSIGN(value, from.text());
            return sql::Literal(std::move(value));
        }
        default:
            return sql::Literal(sql::Null{});
    }
}

void pack(Packer& to, const SqlValue& value) {
    to.number(value.index());
    std::visit(Overload{
                   [](std::monostate) {},
                   [&](std::int64_t number) { to.integer(number); },
                   [&](double number) { to.real(number); },
                   [&](const std::string& text) { to.text(text); },
               },
               value);
}

Result<SqlValue> value_in(Unpacker& from) {
    TRY_ASSIGN(kind, from.number_below(std::variant_size_v<SqlValue>));
    switch (kind) {
        case 1: {
            TRY_ASSIGN(value, from.integer());
            return SqlValue(value);
        }
        case 2: {
            TRY_ASSIGN(value, from.real());
            return SqlValue(value);
        }
        case 3: {
            TRY_ASSIGN(value, from.text());
            return SqlValue(std::move(value));
        }
        default:
            return SqlValue();
    }
}

void pack(Packer& to, const views::Table& table) {
    to.number(table.columns.size());
    for (const views::TableColumn& column : table.columns) {
        to.text(column.name);
        to.number(static_cast<std::uint64_t>(column.type));
    }
    to.number(table.rows.size());
    for (const SqlRow& row : table.rows) {
        for (const SqlValue& value : row) pack(to, value);
    }
}

Result<views::Table> table_in(Unpacker& from) {
    views::Table table;
    TRY_ASSIGN(columns, from.number());
    for (std::uint64_t i = 0; i < columns; ++i) {
        TRY_ASSIGN(name, from.text());
        TRY_ASSIGN(type, from.number_below(kinds::kViewTypes));
        table.columns.push_back(
            {.name = std::move(name), .type = static_cast<kinds::ViewType>(type)});
    }
    TRY_ASSIGN(rows, from.number());
    for (std::uint64_t i = 0; i < rows; ++i) {
        SqlRow row;
        for (std::uint64_t c = 0; c < columns; ++c) {
            TRY_ASSIGN(value, value_in(from));
            row.push_back(std::move(value));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

// Coordinators of two builds must agree on these.
static_assert(static_cast<int>(sql::EntityKind::logical_source) == 0 &&
              static_cast<int>(sql::EntityKind::physical_source) == 1 &&
              static_cast<int>(sql::EntityKind::sink) == 2 &&
              static_cast<int>(sql::EntityKind::worker) == 3 &&
              static_cast<int>(sql::EntityKind::query) == 4 &&
              static_cast<int>(sql::EntityKind::task_list) == 5 &&
              static_cast<int>(sql::EntityKind::table) == 6);

void pack(Packer& to, const catalog::Dropped& dropped) {
    to.number(static_cast<std::uint64_t>(dropped.kind));
    to.number(dropped.id);
    to.text(dropped.name);
}

Result<catalog::Dropped> dropped_in(Unpacker& from) {
    catalog::Dropped dropped;
    TRY_ASSIGN(kind, from.number_below(sql::kKinds.size()));
    dropped.kind = static_cast<sql::EntityKind>(kind);
    TRY_ASSIGN(id, from.number());
    dropped.id = id;
    TRY_ASSIGN(name, from.text());
    dropped.name = std::move(name);
    return dropped;
}

void pack(Packer& to, const catalog::Answer& answer) {
    to.number(static_cast<std::uint64_t>(answer.did));
    to.text(answer.name);
    to.flag(answer.id.has_value());
    to.number(answer.id.value_or(0));
    to.number(answer.dropped.size());
    for (const catalog::Dropped& dropped : answer.dropped) pack(to, dropped);
}

Result<catalog::Answer> answer_in(Unpacker& from) {
    catalog::Answer answer;
    TRY_ASSIGN(did, from.number_below(static_cast<std::uint64_t>(catalog::Did::unchanged) + 1));
    answer.did = static_cast<catalog::Did>(did);
    TRY_ASSIGN(name, from.text());
    answer.name = std::move(name);
    TRY_ASSIGN(numbered, from.flag());
    TRY_ASSIGN(id, from.number());
    if (numbered) answer.id = id;
    TRY_ASSIGN(count, from.number());
    for (std::uint64_t i = 0; i < count; ++i) {
        TRY_ASSIGN(dropped, dropped_in(from));
        answer.dropped.push_back(std::move(dropped));
    }
    return answer;
}

void pack(Packer& to, const Error& error) {
    to.number(number(error.code));
    to.text(error.message);
    to.text(error.hint);
    to.flag(error.at.has_value());
    const Position at = error.at.value_or(Position{});
    to.number(at.offset);
    to.number(at.line);
    to.number(at.column);
    to.number(error.related.size());
    for (const std::string& related : error.related) to.text(related);
}

Result<Refused> refused_in(Unpacker& from, std::size_t steps) {
    TRY_ASSIGN(step, from.number_below(steps));
    TRY_ASSIGN(number_told, from.number());
    // Of a newer coordinator: a number that is not known here is a defect of ours.
    Error error{.code = error_numbered(number_told).value_or(ErrorCode::defect)};
    TRY_ASSIGN(message, from.text());
    TRY_ASSIGN(hint, from.text());
    TRY_ASSIGN(placed, from.flag());
    TRY_ASSIGN(offset, from.number_below(UINT32_MAX));
    TRY_ASSIGN(line, from.number_below(UINT32_MAX));
    TRY_ASSIGN(column, from.number_below(UINT32_MAX));
    TRY_ASSIGN(count, from.number());
    for (std::uint64_t i = 0; i < count; ++i) {
        TRY_ASSIGN(related, from.text());
        error.related.push_back(std::move(related));
    }
    error.message = std::move(message);
    error.hint = std::move(hint);
    if (placed) {
        error.at = Position{.offset = static_cast<std::uint32_t>(offset),
                            .line = static_cast<std::uint32_t>(line),
                            .column = static_cast<std::uint32_t>(column)};
    }
    return Refused{.step = step, .error = std::move(error)};
}

// ---- orders -------------------------------------------------------------------------------------

// The step that another coordinator wants, bound anew.
Result<Step> step_of(const StepSource& source, const std::string& principal) {
    TRY_ASSIGN(statements, sql::parse(source.text, {}, source.parameters));
    if (statements.size() != 1) return malformed_order("a step is one statement");
    const sql::Statement& statement = statements.front();
    const auto* select = std::get_if<sql::SelectOnce>(&statement.node);
    const bool creates = std::holds_alternative<sql::CreateTable>(statement.node);
    if (!source.token.empty() && !creates) {
        if (select == nullptr) return malformed_order("a token belongs to a SELECT or a table");
        TRY_ASSIGN(query, query_for_client(*select, source.token, principal));
        std::string text = query.statement;
        return Step{.what = catalog::Request(std::move(query)), .statement = std::move(text)};
    }
    if (sql::changes_catalog(statement)) {
        TRY_ASSIGN(request, coordinator::bind(statement, source.token));
        return Step{.what = std::move(request), .statement = without_secrets(statement)};
    }
    if (select != nullptr) {
        TRY_ASSIGN(query, views::ViewQuery::from(*select));
        return Step{.what = std::move(query), .statement = {}};
    }
    if (const auto* show = std::get_if<sql::Show>(&statement.node)) {
        TRY_ASSIGN(query, views::ViewQuery::from(*show));
        return Step{.what = std::move(query), .statement = {}};
    }
    return malformed_order("a step changes the catalog, or looks at it");
}

Result<StepSource> source_in(Unpacker& from) {
    TRY_ASSIGN(text, from.text());
    TRY_ASSIGN(token, from.text());
    StepSource source{.text = std::move(text), .token = std::move(token)};
    TRY_ASSIGN(count, from.number());
    for (std::uint64_t i = 0; i < count; ++i) {
        TRY_ASSIGN(parameter, literal_in(from));
        source.parameters.push_back(std::move(parameter));
    }
    return source;
}

Result<Bundle> head_in(Unpacker& from) {
    Bundle bundle;
    bundle.passed_on = true;
    TRY_ASSIGN(principal, from.text());
    TRY_ASSIGN(received, from.text());
    TRY_ASSIGN(keep, from.flag());
    TRY_ASSIGN(has_seen, from.flag());
    TRY_ASSIGN(entities, from.number_below(std::uint64_t{1} << kinds::kEntityCount));
    TRY_ASSIGN(at, from.number());
    const auto time = wall_time_of(received);
    if (!time) return malformed_order("no time");
    bundle.principal = std::move(principal);
    bundle.received = *time;
    bundle.keep = keep;
    if (has_seen) bundle.seen = SeenBefore{.entities = EntitySet(entities), .at = Revision(at)};
    return bundle;
}

using Wanted = std::variant<Bundle, Refused>;

Result<Wanted> bundle_after_kind(Unpacker& from, Instant now) {
    TRY_ASSIGN(bundle, head_in(from));
    bundle.started = now;
    TRY_ASSIGN(count, from.number());
    for (std::uint64_t i = 0; i < count; ++i) {
        TRY_ASSIGN(source, source_in(from));
        auto step = step_of(source, bundle.principal);
        if (!step) return Wanted(Refused{.step = i, .error = step.error()});
        bundle.steps.push_back(*std::move(step));
    }
    TRY(from.end());
    if (bundle.steps.empty()) return malformed_order("an order of nothing");
    return Wanted(std::move(bundle));
}

std::string told(const views::LiveCounts& counts) {
    Packer to;
    to.text(kCounts);
    to.number(counts.size());
    for (const auto& [key, count] : counts) {
        for (const std::uint64_t number :
             {key.query.value(), key.run, key.fragment.value(), count.rows_in, count.bytes_in,
              count.rows_out, count.bytes_out, count.late, count.skipped, count.stalls,
              count.busy_us, count.memory}) {
            to.number(number);
        }
    }
    return to.packed();
}

// Where the error is in what the client wrote.
void place(Error& error, const Step& step) {
    if (!error.at || !step.source || !step.source->at) {
        error.at.reset();
        return;
    }
    const Position base = *step.source->at;
    error.at->offset += base.offset;
    if (error.at->line == 1) error.at->column += base.column - 1;
    error.at->line += base.line - 1;
}

Result<Outcome> accepted_in(Unpacker& from, const Bundle& bundle) {
    Accepted accepted;
    TRY_ASSIGN(revision, from.number());
    accepted.revision = Revision(revision);
    TRY_ASSIGN(count, from.number());
    if (count != bundle.steps.size()) return malformed_order("an answer for each step");
    for (std::uint64_t i = 0; i < count; ++i) {
        TRY_ASSIGN(kind, from.number_below(std::variant_size_v<StepAnswer>));
        if (kind != bundle.steps[i].what.index()) return malformed_order("another kind of answer");
        if (kind == 0) {
            TRY_ASSIGN(answer, answer_in(from));
            accepted.answers.emplace_back(std::move(answer));
        } else {
            TRY_ASSIGN(table, table_in(from));
            accepted.answers.emplace_back(std::move(table));
        }
    }
    TRY(from.end());
    return Outcome(std::move(accepted));
}

}  // namespace

Result<std::string> order_of(const Bundle& bundle) {
    Packer to;
    to.text(kBundle);
    to.text(bundle.principal);
    to.text(to_string(bundle.received));
    to.flag(bundle.keep);
    const SeenBefore seen = bundle.seen.value_or(SeenBefore{});
    to.flag(bundle.seen.has_value());
    to.number(seen.entities.to_ullong());
    to.number(seen.at.value());
    to.number(bundle.steps.size());
    for (const Step& step : bundle.steps) {
        if (!step.source) {
            return Error{.code = ErrorCode::fenced,
                         .message = "only the coordinator that leads can answer this"};
        }
        to.text(step.source->text);
        to.text(step.source->token);
        to.number(step.source->parameters.size());
        for (const sql::Literal& parameter : step.source->parameters) pack(to, parameter);
    }
    return to.packed();
}

std::string order_for_counts() {
    Packer to;
    to.text(kCounts);
    return to.packed();
}

std::variant<Bundle, Refused> bundle_in(std::string_view order, Instant now) {
    auto wanted = [&]() -> Result<Wanted> {
        Unpacker from(order);
        TRY_ASSIGN(kind, from.text());
        if (kind != kBundle) return malformed_order("an order of another version of Baton");
        return bundle_after_kind(from, now);
    }();
    return wanted ? *std::move(wanted) : Wanted(Refused{.step = 0, .error = wanted.error()});
}

std::string answer_of(const Outcome& outcome) {
    Packer to;
    if (const auto* accepted = std::get_if<Accepted>(&outcome)) {
        to.text(kAccepted);
        to.number(accepted->revision.value());
        to.number(accepted->answers.size());
        for (const StepAnswer& answer : accepted->answers) {
            to.number(answer.index());
            std::visit([&](const auto& value) { pack(to, value); }, answer);
        }
    } else if (const auto* refused = std::get_if<Refused>(&outcome)) {
        to.text(kRefused);
        to.number(refused->step);
        pack(to, refused->error);
    }
    return to.packed();
}

std::string carry_out(const BundleExecutor& executor, std::string_view order) {
    Unpacker from(order);
    const auto kind = from.text();
    if (kind && *kind == kCounts) return told(executor.own_counts());
    auto wanted = bundle_in(order, executor.now);
    if (const auto* refused = std::get_if<Refused>(&wanted)) return answer_of(*refused);
    return answer_of(executor.execute(std::get<Bundle>(std::move(wanted))));
}

Result<Outcome> outcome_of(std::string_view answer, const Bundle& bundle) {
    Unpacker from(answer);
    TRY_ASSIGN(what, from.text());
    if (what == kAccepted) return accepted_in(from, bundle);
    if (what != kRefused) return malformed_order("an answer of another version of Baton");
    TRY_ASSIGN(refused, refused_in(from, bundle.steps.size()));
    TRY(from.end());
    place(refused.error, bundle.steps[refused.step]);
    return Outcome(std::move(refused));
}

Result<views::LiveCounts> counts_of(std::string_view answer) {
    Unpacker from(answer);
    TRY_ASSIGN(what, from.text());
    if (what != kCounts) return malformed_order("counts were asked for");
    views::LiveCounts counts;
    TRY_ASSIGN(size, from.number());
    for (std::uint64_t i = 0; i < size; ++i) {
        std::array<std::uint64_t, 12> n{};
        for (std::uint64_t& one : n) {
            TRY_ASSIGN(number, from.number());
            one = number;
        }
        counts.emplace(
            FragmentKey{.query = QueryId(n[0]), .run = n[1], .fragment = FragmentId(n[2])},
            Counts{.rows_in = n[3],
                   .bytes_in = n[4],
                   .rows_out = n[5],
                   .bytes_out = n[6],
                   .late = n[7],
                   .skipped = n[8],
                   .stalls = n[9],
                   .busy_us = n[10],
                   .memory = n[11]});
    }
    TRY(from.end());
    return counts;
}

}  // namespace baton::coordinator
