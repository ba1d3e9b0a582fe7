// Prepared statements and portals of a Runner. The rest is in runner.cc.
#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "doors/pg/server/parameter_types.h"
#include "doors/pg/server/rows.h"
#include "doors/pg/server/runner.h"
#include "doors/pg/server/runner_desk.h"
#include "doors/pg/server/world.h"
#include "doors/pg/wire/sqlstate.h"

namespace baton::pgserver {

using namespace pgwire::connection;  // NOLINT: its events and effects
using pgwire::TransactionStatus;

namespace {

// Those that the client left open take the types of their places.
void take_types(std::vector<pgwire::TypeId>& types, std::span<const pgwire::TypeId> given,
                const std::vector<std::optional<SqlType>>& places) {
    for (std::size_t i = 0; i < std::min(types.size(), places.size()); ++i) {
        const bool open = i >= given.size() || given[i] == 0;
        if (open && places[i]) types[i] = pgwire::type_id_of(column_of({}, *places[i]));
    }
}

}  // namespace

void Runner::take_status(desk::Visitor::Transaction transaction) {
    status_before_ = status_;
    switch (transaction) {
        case desk::Visitor::Transaction::none:
            if (status_before_ != TransactionStatus::idle) end_cursors_of_transaction();
            status_ = TransactionStatus::idle;
            return;
        case desk::Visitor::Transaction::open:
            status_ = TransactionStatus::open;
            return;
        case desk::Visitor::Transaction::failed:
            status_ = TransactionStatus::failed;
            return;
    }
}

bool Runner::is_for_session(const Statement& statement) const {
    if (const auto* catalog = std::get_if<ForCatalog>(&statement.answerer)) {
        return catalog->calculates && options_.desk->coordinator().questions() != nullptr;
    }
    return std::holds_alternative<ForSession>(statement.answerer);
}

std::function<Result<pg::Rows>()> Runner::question(std::string text,
                                                   std::vector<SqlValue> parameters) {
    halt_ = std::make_shared<std::atomic<bool>>(false);
    pg::World world{.relations = {},
                    .user = visitor_->who().name,
                    .database = database_,
                    .version = "PostgreSQL 15.0 (Baton " + options_.version + ")",
                    .process = options_.process,
                    .may_write = visitor_->who().role != desk::Role::reader,
                    .settings = settings_.all()};
    return [coordinator = &options_.desk->coordinator(), world = std::move(world),
            text = std::move(text), parameters = std::move(parameters),
            halt = halt_]() mutable -> Result<pg::Rows> {
        if (pg::concerns_relations(text)) {
            TRY_ASSIGN(relations, relations_of(*coordinator));
            world.relations = std::move(relations);
        }
        return pg::answer(world, text, parameters, halt.get());
    };
}

void Runner::prepare(Prepare effect) {
    turn_ += 1;
    preparing_since_ = now();
    const auto text = std::make_shared<PreparedText>();
    auto statements = statements_of(effect.text);
    if (statements.size() > 1) {
        return could_not(
            {.sqlstate = "42601", .message = "a prepared statement is one statement, not several"});
    }
    text->text = effect.text;
    if (statements.empty()) return prepared(effect.prepared, text, effect.parameter_types);
    text->statement = std::move(statements.front());
    const Answerer& answerer = text->statement->answerer;
    if (has_failed() && !std::holds_alternative<EndTransaction>(answerer)) {
        return could_not({.sqlstate = "25P02",
                          .message = "the transaction has failed",
                          .hint = "ROLLBACK ends it"});
    }
    if (const auto* refused = std::get_if<Refuse>(&answerer)) return could_not(refused->report);
    if (const auto* shown = std::get_if<ShowParameter>(&answerer);
        shown != nullptr && !text->statement->copy) {
        text->columns = {{shown->name}};
        if (shown->name == "all") text->columns = {{"name"}, {"setting"}, {"description"}};
    }
    if (const auto* fetch = std::get_if<FetchCursor>(&answerer);
        fetch != nullptr && !fetch->moves) {
        const auto cursor = cursors_.find(fetch->name);
        if (cursor != cursors_.end()) text->columns = cursor->second.stream.columns;
    }
    describe(effect, text);
}

void Runner::describe(const Prepare& effect, const std::shared_ptr<PreparedText>& text) {
    const Statement& statement = *text->statement;
    const auto types_for = [&](std::size_t count) {
        return parameter_types_of(statement.text, effect.parameter_types,
                                  std::max(count, effect.parameter_types.size()));
    };
    const std::size_t parameters = parameter_count(statement.text);
    if (std::holds_alternative<ForCatalog>(statement.answerer) && !is_for_session(statement)) {
        const std::vector<SqlValue> unknown(parameters);
        return on_desk<pg::Rows>(
            question(statement.text, unknown),
            [this, text, id = effect.prepared,
             types = types_for(parameters)](Result<pg::Rows> rows) {
                if (!rows) return could_not(pgwire::report_of(rows.error(), text->text));
                if (!text->statement->copy) text->columns = std::move(rows->columns);
                prepared(id, text, types);
            });
    }
    if (!is_for_session(statement)) {
        return prepared(effect.prepared, text, types_for(parameters));
    }
    using SharedResult = std::shared_ptr<Result<coordinator::Described>>;
    auto then =
        back<SharedResult>([this, text, id = effect.prepared, given = effect.parameter_types,
                            known = types_for(parameters)](const SharedResult& told) {
            std::vector<pgwire::TypeId> types = known;
            const Result<coordinator::Described>& described = *told;
            if (!described) {
                Error error = described.error();
                if (error.at) error.at->offset += static_cast<std::uint32_t>(text->statement->at);
                return could_not(pgwire::report_of(error, text->text, status_));
            }
            if (!described->statements.empty() && !text->statement->copy) {
                const coordinator::Described::Statement& one = described->statements.front();
                if (one.columns) {
                    text->columns =
                        one.watches ? watched_columns_of(*one.columns) : columns_of(*one.columns);
                }
            }
            if (!described->statements.empty()) {
                take_types(types, given, described->statements.front().parameters);
            }
            prepared(id, text, std::move(types));
        });
    visitor_->describe(statement.text, [then](Result<coordinator::Described> described) {
        then(std::make_shared<Result<coordinator::Described>>(std::move(described)));
    });
}

void Runner::prepared(pgwire::PreparedId id, const std::shared_ptr<PreparedText>& text,
                      std::vector<pgwire::TypeId> types) {
    prepared_[id] = text;
    Prepared event{.parameter_types = std::move(types), .columns = text->columns};
    count(event);
    preparing_since_.reset();
    options_.tell(std::move(event));
}

void Runner::could_not(pgwire::Report report) {
    Failed event{.report = std::move(report), .status = status_};
    count(event);
    preparing_since_.reset();
    options_.tell(std::move(event));
}

void Runner::bind(BindPortal effect) {
    portals_[effect.portal] = {.prepared = prepared_.at(effect.prepared),
                               .parameters = std::move(effect.parameters),
                               .formats = std::move(effect.formats)};
    options_.tell(Bound{});
}

void Runner::close(const ClosePrepared& effect) {
    prepared_.erase(effect.prepared);
}

void Runner::close(const ClosePortal& effect) {
    portals_.erase(effect.portal);
}

// What ran is kept: each statement is a transaction of its own, or is in one of the client's.
void Runner::end_series(const EndSeries& effect) {
    turn_ += 1;
    if (!effect.failed || status_ != TransactionStatus::open) {
        options_.tell(Ended{status_});
        return;
    }
    fail_transaction(
        [this](const std::shared_ptr<coordinator::Execution>&) { options_.tell(Ended{status_}); });
}

}  // namespace baton::pgserver
