// Statements that change something, and those around them.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/text.h"
#include "sql/grammar.h"
#include "sql/reserved_words.h"

namespace baton::sql {

// SELECT is first, and may stand in parentheses.
std::span<const Grammar::Beginning> Grammar::beginnings() {
    static constexpr std::array kBeginnings = {
        Beginning{"SELECT", &Grammar::query_or_question},
        Beginning{"WITH", &Grammar::query_or_question},
        Beginning{"CREATE", &Grammar::create},
        Beginning{"DROP", &Grammar::drop},
        Beginning{"INSERT", &Grammar::insert},
        Beginning{"VACUUM", &Grammar::vacuum},
        Beginning{"SHOW", &Grammar::show_statement},
        Beginning{"EXPLAIN", &Grammar::explain},
        Beginning{"WATCH", &Grammar::watch},
        Beginning{"STOP", &Grammar::stop_query},
        Beginning{"DRAIN", &Grammar::drain_worker},
        Beginning{"RESUME", &Grammar::resume_worker},
        Beginning{"BEGIN", &Grammar::begin},
        Beginning{"COMMIT", &Grammar::commit},
        Beginning{"ROLLBACK", &Grammar::rollback},
        Beginning{"CANCEL", &Grammar::cancel},
        Beginning{"WAIT", &Grammar::wait_for_query},
        Beginning{"ACQUIRE", &Grammar::acquire_lock},
        Beginning{"RENEW", &Grammar::renew_lock},
        Beginning{"RELEASE", &Grammar::release_lock},
        Beginning{"ENABLE", &Grammar::enable_lock},
        Beginning{"DISABLE", &Grammar::disable_lock},
    };
    static_assert(std::all_of(kForms.begin(), kForms.end(),
                              [](const Form& form) {
                                  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                                                     [&](const Beginning& one) {
                                                         return one.word == form.opening.verb;
                                                     });
                              }),
                  "each verb of a statement needs its production");
    return kBeginnings;
}

Result<std::vector<Statement>> Grammar::statements() {
    std::vector<Statement> list;
    while (true) {
        while (tokens_.accept_unlisted(Symbol::semicolon)) continue;
        if (tokens_.peek().kind == TokenKind::end) return list;
        if (list.size() == limits_.statements_max) {
            return tokens_.fails(
                ErrorCode::too_large,
                "the text has more than " + std::to_string(limits_.statements_max) + " statements",
                "send the statements in several requests");
        }
        TRY_ASSIGN(next, statement());
        list.push_back(std::move(next));
        TRY(end_of_statement());
    }
}

Result<Statement> Grammar::only_statement() {
    while (tokens_.accept_unlisted(Symbol::semicolon)) continue;
    TRY_ASSIGN(only, statement());
    TRY(end_of_statement());
    while (tokens_.accept_unlisted(Symbol::semicolon)) continue;
    if (tokens_.peek().kind != TokenKind::end) {
        return tokens_.refused("only one statement can be given here", "send them one by one");
    }
    return only;
}

Result<Done> Grammar::end_of_statement() {
    if (tokens_.peek().kind == TokenKind::end || tokens_.accept(Symbol::semicolon)) return Done{};
    tokens_.note("the end of the text");
    return tokens_.unexpected();
}

Result<Statement> Grammar::statement() {
    const Position at = tokens_.peek().at;
    parts_ = 0;
    if (begins_query()) {
        TRY_ASSIGN(node, query_or_question());
        return Statement{.node = std::move(node), .at = at};
    }
    for (const Beginning& beginning : beginnings()) {
        if (!tokens_.sees(beginning.word)) continue;
        if (beginning.production == &Grammar::query_or_question) break;  // only if refused
        tokens_.take();
        TRY_ASSIGN(node, (this->*beginning.production)());
        return Statement{.node = std::move(node), .at = at};
    }
    return no_statement();
}

bool Grammar::begins_query() {
    if (tokens_.sees("SELECT") || tokens_.sees(Symbol::open)) return true;
    return questions_ == Questions::accepted &&
           (tokens_.sees("WITH") || tokens_.sees("VALUES") || tokens_.sees("FROM"));
}

Error Grammar::no_statement() {
    const Token& token = tokens_.peek();
    if (token.kind == TokenKind::word) {
        if (const Unsupported* known = unsupported_statement(token.text)) {
            return tokens_.not_supported(known->name, known->instead);
        }
    }
    std::vector<std::string> words;
    for (const Beginning& beginning : beginnings()) words.emplace_back(beginning.word);
    Error error = tokens_.unexpected_word("a statement", words);
    if (error.code == ErrorCode::syntax && error.hint.empty() && token.kind != TokenKind::invalid) {
        error.hint = "a statement begins with " + baton::join(words, ", ");
    }
    return error;
}

Result<Grammar::Node> Grammar::create() {
    TRY_ASSIGN(kind, entity_kind("CREATE"));
    switch (kind) {
        case EntityKind::logical_source:
            return create_logical_source();
        case EntityKind::physical_source:
            return create_physical_source();
        case EntityKind::sink:
            return create_sink();
        case EntityKind::worker:
            return create_worker();
        case EntityKind::task_list:
            return create_task_list();
        case EntityKind::query:
            return create_query();
        case EntityKind::table:
            return create_table();
    }
    CHECK(false && "an unknown kind");
}

Result<bool> Grammar::if_not_exists() {
    if (!tokens_.sees("IF") || !tokens_.sees("NOT", 1)) return false;
    tokens_.take();
    tokens_.take();
    TRY(tokens_.expect("EXISTS"));
    return true;
}

Result<Grammar::Node> Grammar::create_logical_source() {
    CreateLogicalSource node;
    TRY_ASSIGN(lenient, if_not_exists());
    node.if_not_exists = lenient;
    TRY_ASSIGN(name, tokens_.name_or_string("the name of a logical source"));
    node.name = std::move(name);
    TRY_ASSIGN(columns, schema(Qualified::no));
    node.schema = std::move(columns);
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::create_physical_source() {
    if (tokens_.sees("IF")) {
        return tokens_.not_supported("IF NOT EXISTS of a physical source", "it has no name");
    }
    TRY(tokens_.expect("FOR"));
    CreatePhysicalSource node;
    TRY_ASSIGN(logical, tokens_.name_or_string("the name of a logical source"));
    node.logical = std::move(logical);
    TRY(tokens_.expect("TYPE"));
    TRY_ASSIGN(type, tokens_.name_or_string("the type of a source"));
    node.type = std::move(type);
    TRY_ASSIGN(settings, settings_clause());
    node.settings = std::move(settings);
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::create_sink() {
    CreateSink node;
    TRY_ASSIGN(lenient, if_not_exists());
    node.if_not_exists = lenient;
    TRY_ASSIGN(name, tokens_.name_or_string("the name of a sink"));
    node.name = std::move(name);
    TRY_ASSIGN(columns, schema(Qualified::yes));
    node.schema = std::move(columns);
    TRY(tokens_.expect("TYPE"));
    TRY_ASSIGN(type, tokens_.name_or_string("the type of a sink"));
    node.type = std::move(type);
    TRY_ASSIGN(settings, settings_clause());
    node.settings = std::move(settings);
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::create_worker() {
    CreateWorker node;
    TRY_ASSIGN(address, tokens_.name_or_string("the address of a worker, 'host:port'"));
    node.address = std::move(address);
    TRY_ASSIGN(settings, settings_clause());
    node.settings = std::move(settings);
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::create_task_list() {
    CreateTaskList node;
    TRY_ASSIGN(lenient, if_not_exists());
    node.if_not_exists = lenient;
    TRY_ASSIGN(name, tokens_.name_or_string("the name of a task list"));
    node.name = std::move(name);
    TRY(tokens_.expect("PARTITIONS"));
    if (tokens_.peek().kind != TokenKind::integer) {
        tokens_.note("a number of partitions");
        return tokens_.unexpected();
    }
    node.partitions = tokens_.take().integer;
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::create_query() {
    CreateQuery node;
    TRY_ASSIGN(name, tokens_.name_or_string("the name of a query"));
    node.name = std::move(name);
    TRY_ASSIGN(settings, settings_clause());
    node.settings = std::move(settings);
    TRY(tokens_.expect("AS"));
    TRY(query(node.query));
    TRY(tokens_.expect("INTO"));
    TRY_ASSIGN(sink, sink_target());
    node.sink = std::move(sink);
    if (tokens_.sees("SET")) {
        return tokens_.refused("the SET of a CREATE QUERY stands before AS", "move it there");
    }
    return Node(std::move(node));
}

// Behind the verb: CREATE or DROP.
Result<EntityKind> Grammar::entity_kind(std::string_view verb) {
    TRY_ASSIGN(row, row_among(kKinds));
    if (row != nullptr) return row->kind;
    const std::string before = std::string(verb) + " ";
    const Token& token = tokens_.peek();
    if (token.kind == TokenKind::word) {
        if (const Unsupported* known = unsupported_entity(token.text)) {
            return tokens_.not_supported(before + std::string(known->name), known->instead);
        }
    }
    Error error = tokens_.unexpected();
    if (tokens_.sees("SOURCE")) {
        error.hint = "write " + before + "LOGICAL SOURCE or " + before + "PHYSICAL SOURCE";
    }
    return error;
}

Result<Grammar::Node> Grammar::drop() {
    if (tokens_.accept("LOCK")) return drop_lock();
    Drop node;
    TRY_ASSIGN(kind, entity_kind("DROP"));
    node.kind = kind;
    if (tokens_.sees("IF") && tokens_.sees("EXISTS", 1)) {
        tokens_.take();
        tokens_.take();
        node.if_exists = true;
    }
    if (tokens_.accept_unlisted("WHERE")) {
        AttributeIs condition;
        TRY_ASSIGN(attribute, tokens_.name("the name of an attribute"));
        condition.attribute = std::move(attribute);
        TRY(tokens_.expect(Symbol::eq));
        TRY_ASSIGN(value, literal());
        condition.value = std::move(value);
        node.target = std::move(condition);
    } else {
        TRY_ASSIGN(named, target("a name, a number or WHERE"));
        node.target = std::move(named);
    }
    if (kind == EntityKind::query) {
        TRY_ASSIGN(mode, stop_mode());
        node.mode = mode;
    } else if (tokens_.sees("MODE")) {
        return tokens_.refused("only a query is dropped with a MODE", "leave it out");
    }
    return Node(node);
}

// A name, a 'string' or a number.
Result<Target> Grammar::target(std::string_view what) {
    if (tokens_.peek().kind == TokenKind::integer) return Target(tokens_.take().integer);
    if (tokens_.sees("WHERE")) {
        return tokens_.refused("only DROP has a WHERE", "give a name or a number");
    }
    TRY_ASSIGN(name, tokens_.name_or_string(what));
    return Target(std::move(name));
}

Result<std::optional<StopMode>> Grammar::stop_mode() {
    if (!tokens_.accept("MODE")) return std::optional<StopMode>();
    if (tokens_.accept("GRACEFUL")) return std::optional(StopMode::graceful);
    if (tokens_.accept("FORCEFUL")) return std::optional(StopMode::forceful);
    return tokens_.unexpected();
}

Result<Grammar::Node> Grammar::stop_query() {
    TRY(tokens_.expect("QUERY"));
    StopQuery node;
    TRY_ASSIGN(named, target("the name or number of a query"));
    node.target = std::move(named);
    TRY_ASSIGN(mode, stop_mode());
    node.mode = mode;
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::drain_worker() {
    TRY(tokens_.expect("WORKER"));
    TRY_ASSIGN(name, tokens_.name_or_string("the name of a worker"));
    return Node(DrainWorker{.name = std::move(name)});
}

Result<Grammar::Node> Grammar::resume_worker() {
    TRY(tokens_.expect("WORKER"));
    TRY_ASSIGN(name, tokens_.name_or_string("the name of a worker"));
    return Node(ResumeWorker{.name = std::move(name)});
}

Result<Grammar::Node> Grammar::begin() {
    if (!tokens_.accept("TRANSACTION")) tokens_.accept("WORK");
    return Node(Begin{});
}

Result<Grammar::Node> Grammar::commit() {
    if (!tokens_.accept("TRANSACTION")) tokens_.accept("WORK");
    return Node(Commit{});
}

Result<Grammar::Node> Grammar::rollback() {
    if (!tokens_.accept("TRANSACTION")) tokens_.accept("WORK");
    return Node(Rollback{});
}

Result<Grammar::Node> Grammar::cancel() {
    Cancel node;
    if (tokens_.accept("CONNECTION")) {
        node.what = CancelWhat::connection;
    } else {
        TRY(tokens_.expect("QUERY"));
    }
    TRY_ASSIGN(named, target("a name or a number"));
    node.target = std::move(named);
    return Node(std::move(node));
}

Result<Grammar::Node> Grammar::wait_for_query() {
    TRY(tokens_.expect("FOR"));
    TRY(tokens_.expect("QUERY"));
    WaitForQuery node;
    TRY_ASSIGN(named, target("the name or number of a query"));
    node.target = std::move(named);
    if (tokens_.accept("STATE")) {
        TRY_ASSIGN(state, query_state());
        node.state = state;
    }
    if (tokens_.accept("TIMEOUT")) {
        TRY_ASSIGN(timeout, time_span());
        node.timeout = timeout;
    }
    return Node(std::move(node));
}

Result<QueryState> Grammar::query_state() {
    for (const auto& [state, name] : StateNames<QueryState>::kNames) {
        if (tokens_.accept(std::string_view(name))) return state;
    }
    return tokens_.unexpected();
}

}  // namespace baton::sql
