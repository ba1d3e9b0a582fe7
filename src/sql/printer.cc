#include "sql/printer.h"

#include "base/overload.h"
#include "sql/printing.h"
#include "sql/vocabulary.h"

namespace baton::sql {

namespace {

std::string_view text_of(ExplainLevel level) {
    switch (level) {
        case ExplainLevel::logical:
            return "LOGICAL";
        case ExplainLevel::optimized:
            return "OPTIMIZED";
        case ExplainLevel::distributed:
            return "DISTRIBUTED";
    }
    return "?";
}

const std::string kNoType;  // of settings that belong to no source or sink

}  // namespace

void Printing::statement(const Statement& statement) {
    std::visit(*this, statement.node);
}

void Printing::operator()(const CreateLogicalSource& node) {
    put("CREATE LOGICAL SOURCE ");
    if (node.if_not_exists) put("IF NOT EXISTS ");
    name(node.name);
    put(" ");
    schema(node.schema);
}

void Printing::operator()(const CreatePhysicalSource& node) {
    put("CREATE PHYSICAL SOURCE FOR ");
    name(node.logical);
    put(" TYPE ");
    name(node.type);
    settings_clause(node.settings, node.type);
}

void Printing::operator()(const CreateSink& node) {
    put("CREATE SINK ");
    if (node.if_not_exists) put("IF NOT EXISTS ");
    name(node.name);
    put(" ");
    schema(node.schema);
    put(" TYPE ");
    name(node.type);
    settings_clause(node.settings, node.type);
}

void Printing::operator()(const CreateTaskList& node) {
    put("CREATE TASK LIST ");
    if (node.if_not_exists) put("IF NOT EXISTS ");
    name(node.name);
    put(" PARTITIONS " + std::to_string(node.partitions));
}

void Printing::operator()(const CreateWorker& node) {
    put("CREATE WORKER ");
    string(node.address);
    settings_clause(node.settings, kNoType);
}

void Printing::operator()(const CreateQuery& node) {
    if (node.name) {
        put("CREATE QUERY ");
        name(*node.name);
        settings_clause(node.settings, kNoType);
        put(" AS ");
    }
    query(node.query);
    sink(node.sink);
    if (!node.name) settings_clause(node.settings, kNoType);
}

void Printing::operator()(const SelectOnce& node) {
    query(node.query);
    if (!node.limit) return;
    put(" LIMIT ");
    put(std::to_string(*node.limit));
}

void Printing::target(const Target& target) {
    std::visit(Overload{
                   [&](const std::string& named) { name(named); },
                   [&](std::uint64_t number) { put(std::to_string(number)); },
                   [&](const AttributeIs& condition) {
                       put("WHERE ");
                       name(condition.attribute);
                       put(" = ");
                       literal(condition.value);
                   },
               },
               target);
}

void Printing::worker(const std::string& name) {
    const std::string plain = print_name(name);
    if (plain == name) {
        put(plain);
    } else {
        string(name);
    }
}

void Printing::mode(const std::optional<StopMode>& mode) {
    if (!mode) return;
    put(" MODE ");
    put(to_string(*mode));
}

void Printing::format(const std::optional<OutputFormat>& format) {
    if (!format) return;
    put(*format == OutputFormat::text ? " FORMAT TEXT" : " FORMAT JSON");
}

void Printing::operator()(const Drop& node) {
    put("DROP ");
    put(row_of(node.kind).words);
    put(" ");
    if (node.if_exists) put("IF EXISTS ");
    const auto* named = std::get_if<std::string>(&node.target);
    if (named != nullptr && node.kind == EntityKind::worker) {
        worker(*named);
    } else {
        target(node.target);
    }
    mode(node.mode);
}

void Printing::operator()(const StopQuery& node) {
    put("STOP QUERY ");
    target(node.target);
    mode(node.mode);
}

void Printing::operator()(const DrainWorker& node) {
    put("DRAIN WORKER ");
    worker(node.name);
}

void Printing::operator()(const ResumeWorker& node) {
    put("RESUME WORKER ");
    worker(node.name);
}

void Printing::operator()(const Show& node) {
    put("SHOW ");
    put(row_of(node.what).words);
    if (node.for_name) {
        put(" FOR ");
        name(*node.for_name);
    }
    if (node.where) {
        put(" WHERE ");
        expression(*node.where);
    }
    format(node.format);
}

void Printing::operator()(const Explain& node) {
    put("EXPLAIN");
    for (std::size_t i = 0; i < node.levels.size(); ++i) {
        put(i == 0 ? " (" : ", ");
        put(text_of(node.levels[i]));
    }
    if (!node.levels.empty()) put(")");
    format(node.format);
    put(" ");
    query(node.query);
    if (!node.sink) return;
    sink(*node.sink);
    settings_clause(node.settings, kNoType);
}

void Printing::operator()(const Watch& node) {
    put("WATCH ");
    if (const auto* shown = std::get_if<Show>(&node.source)) {
        (*this)(*shown);
    } else {
        query(std::get<Query>(node.source));
    }
    if (!node.since) return;
    put(" SINCE REVISION ");
    put(std::to_string(*node.since));
}

void Printing::operator()(Begin /*node*/) {
    put("BEGIN");
}

void Printing::operator()(Commit /*node*/) {
    put("COMMIT");
}

void Printing::operator()(Rollback /*node*/) {
    put("ROLLBACK");
}

void Printing::operator()(const Cancel& node) {
    put(node.what == CancelWhat::query ? "CANCEL QUERY " : "CANCEL CONNECTION ");
    target(node.target);
}

void Printing::operator()(const WaitForQuery& node) {
    put("WAIT FOR QUERY ");
    target(node.target);
    if (node.state) {
        put(" STATE ");
        put(to_string(*node.state));
    }
    if (!node.timeout) return;
    put(" TIMEOUT ");
    span(*node.timeout);
}

void Printing::operator()(const LockStatement& node) {
    const auto begin = [&](std::string_view words) {
        put(words);
        name(node.name);
    };
    const auto by = [&](const std::string& owner) {
        put(" OWNER ");
        string(owner);
    };
    const auto under = [&](std::uint64_t epoch) { put(" EPOCH " + std::to_string(epoch)); };
    const auto lasting = [&](const TimeSpan& ttl) {
        put(" TTL ");
        span(ttl);
    };
    std::visit(Overload{
                   [&](const lock::Acquire& act) {
                       begin("ACQUIRE LOCK ");
                       by(act.owner);
                       lasting(act.ttl);
                   },
                   [&](const lock::Renew& act) {
                       begin("RENEW LOCK ");
                       by(act.owner);
                       under(act.epoch);
                       lasting(act.ttl);
                   },
                   [&](const lock::Release& act) {
                       begin("RELEASE LOCK ");
                       by(act.owner);
                       under(act.epoch);
                   },
                   [&](lock::Enable) { begin("ENABLE LOCK "); },
                   [&](lock::Disable) { begin("DISABLE LOCK "); },
                   [&](lock::Drop) { begin("DROP LOCK "); },
               },
               node.act);
}

std::string print(const Statement& statement, const IsSecret& is_secret) {
    Printing printing(is_secret);
    printing.statement(statement);
    return printing.take();
}

std::string print(const Query& query, const IsSecret& is_secret) {
    Printing printing(is_secret);
    printing.query(query);
    return printing.take();
}

std::string print(const Expr& expr) {
    const IsSecret none;
    Printing printing(none);
    printing.expression(expr);
    return printing.take();
}

std::string print(const Literal& literal) {
    const IsSecret none;
    Printing printing(none);
    printing.literal(literal);
    return printing.take();
}

}  // namespace baton::sql
