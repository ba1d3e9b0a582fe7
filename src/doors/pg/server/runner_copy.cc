// COPY .. FROM STDIN of a Runner. The rows are gathered, and added by one INSERT when all have
// come: all of them or none. The rest is in runner.cc.
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "core/tables/constants.h"
#include "doors/pg/server/rows.h"
#include "doors/pg/server/runner.h"
#include "doors/pg/server/runner_desk.h"
#include "doors/pg/wire/sqlstate.h"
#include "model/entities.h"
#include "sql/parser.h"

namespace baton::pgserver {

using namespace pgwire::connection;  // NOLINT: its events and effects

namespace {

// The columns that the INSERT names, or all.
Result<SqlColumns> columns_to_fill(coordinator::CoordinatorRuntime& coordinator,
                                   const std::string& insert_text) {
    TRY_ASSIGN(statements, sql::parse(insert_text));
    const auto* insert =
        statements.size() == 1 ? std::get_if<sql::Insert>(&statements.front().node) : nullptr;
    if (insert == nullptr) {
        return Error{.code = ErrorCode::syntax, .message = "COPY .. FROM STDIN needs a table"};
    }
    TRY_ASSIGN(snapshot, coordinator.snapshot());
    TRY_ASSIGN(table, snapshot.read().find<Table>(insert->table));
    if (!table) {
        return Error{.code = ErrorCode::unknown_table,
                     .message = "unknown table " + in_quotes(insert->table)};
    }
    TRY_ASSIGN(places, tables::places_of(insert->columns, table->columns));
    SqlColumns columns;
    for (const std::size_t place : places) columns.push_back(table->columns[place]);
    return columns;
}

}  // namespace

void Runner::copy_in(const Statement& statement) {
    if (visitor_->who().role == desk::Role::reader) {
        return fail({.sqlstate = "42501",
                     .message = "COPY .. FROM STDIN needs the role writer",
                     .code = ErrorCode::not_permitted});
    }
    run_->asked = true;
    on_desk<SqlColumns>(
        [&coordinator = options_.desk->coordinator(), text = statement.text] {
            return columns_to_fill(coordinator, text);
        },
        [this, statement](Result<SqlColumns> columns) {
            run_->asked = false;
            if (!columns) {
                Error error = columns.error();
                error.at.reset();
                return fail(pgwire::report_of(error));
            }
            const auto count = static_cast<std::uint16_t>(columns->size());
            const CopyFormat& format = std::get<CopyIn>(statement.answerer).format;
            run_->copied = std::make_shared<CopyReader>(format, *std::move(columns));
            run_->insert = statement.text;
            options_.tell(CopyInBegan{
                .columns = count,
                .format = format.binary ? pgwire::Format::binary : pgwire::Format::text});
        });
}

void Runner::give(const GiveCopied& effect) {
    if (!run_ || !run_->copied) return;  // it has failed
    if (auto read = run_->copied->feed(effect.bytes); !read) fail(pgwire::report_of(read.error()));
}

void Runner::end_copied(const EndCopied& effect) {
    if (!run_ || !run_->copied) return;
    if (effect.failed) {
        return fail({.sqlstate = "57014",
                     .message = "COPY from stdin failed: " + *effect.failed,
                     .code = ErrorCode::cancelled});
    }
    if (auto read = run_->copied->finish(); !read) return fail(pgwire::report_of(read.error()));
    const auto reader = std::exchange(run_->copied, nullptr);
    if (reader->count() == 0) {
        complete("COPY 0");
        return advance();
    }
    const std::string tag = "COPY " + std::to_string(reader->count());
    run_->asked = true;
    using Answer = std::shared_ptr<coordinator::Execution>;
    auto then = back<Answer>([this, tag](const Answer& execution) {
        run_->asked = false;
        if (execution->error) {
            Error error = *execution->error;
            error.at.reset();
            return fail(pgwire::report_of(error));
        }
        complete(tag);
        advance();
    });
    visitor_->ask({.text = run_->insert, .parameters = {}, .wait = {}, .rows = reader->take()},
                  [then](coordinator::Execution execution) {
                      then(std::make_shared<coordinator::Execution>(std::move(execution)));
                  });
}

}  // namespace baton::pgserver
