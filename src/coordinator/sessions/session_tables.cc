// What a session does about tables: questions, CREATE TABLE, INSERT, VACUUM.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "coordinator/questions/answer_stream.h"
#include "coordinator/sessions/session.h"
#include "coordinator/sessions/session_parts.h"
#include "coordinator/statements/bind.h"
#include "core/binding/connector.h"
#include "tables/access/keep_up.h"

namespace baton::coordinator {

using session_parts::kTransactionBytesMax;
using session_parts::made_up_token;
using session_parts::transaction_state;

namespace {

// Answers up to here are given whole; larger ones as they are read.
constexpr std::size_t kRowsAtOnce = 10'000;

QuestionParameter parameter_of(const sql::Literal& literal) {
    return std::visit(Overload{
                          [](sql::Null) -> QuestionParameter { return std::monostate(); },
                          [](bool flag) -> QuestionParameter { return flag; },
                          [](const sql::Integer& number) -> QuestionParameter {
                              constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
                              const std::string sign = number.negative ? "-" : "";
                              if (number.magnitude > kMost)
                                  return sign + std::to_string(number.magnitude);
                              const auto value = static_cast<std::int64_t>(number.magnitude);
                              return number.negative ? -value : value;
                          },
                          [](double number) -> QuestionParameter { return number; },
                          [](const std::string& text) -> QuestionParameter { return text; },
                      },
                      literal);
}

std::vector<tables::ConstantRow> constants_of(const std::vector<std::vector<sql::Literal>>& rows) {
    std::vector<tables::ConstantRow> constants;
    constants.reserve(rows.size());
    for (const auto& row : rows) {
        tables::ConstantRow& into = constants.emplace_back();
        for (const sql::Literal& literal : row) into.push_back(parameter_of(literal));
    }
    return constants;
}

}  // namespace

// ---- work of other threads ----------------------------------------------------------------------

template <class T>
Result<T> Session::awaited(
    const std::function<std::shared_ptr<threads::Later<Result<T>>>(threads::SharedHalt)>& start) {
    Running& now = *running_;
    if (!now.work) {
        now.halt = std::make_shared<threads::Halt>();
        now.work = start(now.halt);
    }
    if (interrupt_.raised()) now.halt->raise();
    const auto later = std::static_pointer_cast<threads::Later<Result<T>>>(now.work);
    if (!later->given()) return pause(Pause::work);
    now.work.reset();
    return later->take();
}

sql::Questions Session::takes_questions() const {
    return coordinator_.questions() != nullptr ? sql::Questions::accepted : sql::Questions::refused;
}

Result<Questions*> Session::questions() const {
    if (Questions* questions = coordinator_.questions()) return questions;
    return Error{.code = ErrorCode::not_supported,
                 .message = "tables are not available here: this process has no store for them"};
}

AskedQuestion Session::asked(std::string text, std::optional<Error> otherwise) const {
    AskedQuestion asked{
        .text = std::move(text), .user = principal_, .otherwise = std::move(otherwise)};
    if (!running_) return asked;
    for (const sql::Literal& literal : running_->parameters) {
        asked.parameters.push_back(parameter_of(literal));
    }
    return asked;
}

Error Session::placed(Error error, const std::string& question) const {
    if (!error.at || !running_ || running_->next >= running_->statements.size()) return error;
    const Position from = running_->statements[running_->next].at;
    const std::size_t found = running_->text.find(question, from.offset);
    if (found == std::string::npos) return error;
    Position begin = from;
    for (std::size_t i = from.offset; i < found; ++i) {
        begin.column += 1;
        if (running_->text[i] != '\n') continue;
        begin.line += 1;
        begin.column = 1;
    }
    if (error.at->line == 1) error.at->column += begin.column - 1;
    error.at->line += begin.line - 1;
    error.at->offset += static_cast<std::uint32_t>(found);
    return error;
}

// ---- questions ----------------------------------------------------------------------------------

Result<Done> Session::check_questions(const std::vector<sql::Statement>& statements) {
    Questions* const there = coordinator_.questions();
    if (there == nullptr) return Done{};
    for (const sql::Statement& statement : statements) {
        const auto* question = std::get_if<sql::Question>(&statement.node);
        if (question == nullptr) continue;
        TRY(there->check_syntax(question->text, question->otherwise));
    }
    return Done{};
}

Result<bool> Session::is_question(const sql::SelectOnce& select) const {
    Questions* const there = coordinator_.questions();
    if (there == nullptr) return false;
    if (views::asks_views(select.query)) return !views::ViewQuery::from(select).has_value();
    std::vector<std::string> names;
    for (const auto& [name, at] : planning::names_in(select.query, std::nullopt).sources) {
        names.push_back(name);
    }
    return there->is_table(names);
}

Result<StatementResult> Session::run_question(std::string text, std::optional<Error> otherwise) {
    TRY_ASSIGN(there, questions());
    auto first = awaited<FirstRows>([&](threads::SharedHalt halt) {
        AskedQuestion question = asked(text, otherwise);
        question.halt = std::move(halt);
        return there->ask(std::move(question));
    });
    if (!first) {
        const bool own = otherwise && first.error().message == otherwise->message;
        return own || paused_ ? first.error() : placed(first.error(), text);
    }
    StatementResult result{.tag = "SELECT", .value = {}, .format = {}, .revision = {}};
    if (!first->rest && first->rows.size() <= kRowsAtOnce) {
        result.value =
            views::Table{.columns = std::move(first->columns), .rows = std::move(first->rows)};
    } else {
        result.value = std::unique_ptr<RowStream>(
            std::make_unique<AnswerStream>(*std::move(first), there->lane(), principal_));
    }
    return result;
}

// ---- CREATE TABLE -------------------------------------------------------------------------------

Result<std::optional<Table>> Session::find_table(const std::string& name) const {
    TRY_ASSIGN(snapshot, coordinator_.snapshot(urgency_));
    return snapshot.read().find<Table>(name);
}

// The table with its columns, once its log is there.
Result<sql::CreateTable> Session::make_log(const sql::CreateTable& create) {
    TRY_ASSIGN(there, questions());
    using Made = threads::Later<Result<sql::CreateTable>>;
    return awaited<sql::CreateTable>([&](threads::SharedHalt halt) {
        auto later = std::make_shared<Made>();
        AskedQuestion question = asked(create.question.value_or(""), std::nullopt);
        question.halt = halt;
        const auto work = [there, later, create, question, halt,
                           token = running_->creation.token](bool may) {
            later->give([&]() -> Result<sql::CreateTable> {
                if (!may) {
                    return Error{.code = ErrorCode::cancelled,
                                 .message = "the coordinator shuts down: no table was made"};
                }
                sql::CreateTable declared = create;
                if (declared.question) {
                    TRY_ASSIGN(columns, there->columns_of(question));
                    declared.columns = std::move(columns);
                    declared.question.reset();
                }
                TRY_ASSIGN(request, coordinator::bind({.node = declared, .at = {}}, token));
                const Table& table = std::get<catalog::request::CreateTable>(request).table;
                if (table.type != "Delta") return declared;
                const StoreCall call{.given_up = [halt] { return halt->raised(); }};
                TRY(there->tables().create(table, call));
                return declared;
            }());
        };
        if (!there->lane().post(principal_, work)) work(false);
        return later;
    });
}

// The rows of CREATE TABLE .. AS.
Result<std::uint64_t> Session::fill(const sql::CreateTable& create) {
    auto added = awaited<tables::Added>([&](threads::SharedHalt halt) {
        auto failed = std::make_shared<tables::AddedLater>();
        const auto begin = [&]() -> Result<tables::Addition> {
            TRY_ASSIGN(table, table_to_write(create.name));
            TRY_ASSIGN(there, questions());
            AskedQuestion question = asked(*create.question, std::nullopt);
            question.halt = halt;
            TRY_ASSIGN(task, there->prepare(question));
            return tables::Addition{.table = std::move(table),
                                    .columns = {},
                                    .rows = std::move(task),
                                    .key = {},
                                    .given_up = [halt] { return halt->raised(); }};
        };
        auto addition = begin();
        if (addition) return coordinator_.ingest()->add(*std::move(addition));
        failed->give(addition.error());
        return failed;
    });
    if (!added) return added.error();
    return added->rows;
}

Result<StatementResult> Session::run_create_table(const sql::Statement& statement,
                                                  const sql::CreateTable& create) {
    TRY(questions());
    if (create.question) TRY(outside_transaction("CREATE TABLE .. AS"));
    Running::Creation& creation = running_->creation;
    if (!creation.declared) {
        TRY_ASSIGN(existing, find_table(create.name));
        if (existing) {
            creation.declared = create;  // the catalog answers
            creation.declared->question.reset();
        } else {
            if (creation.token.empty()) creation.token = made_up_token();
            TRY_ASSIGN(declared, make_log(create));
            creation.declared = std::move(declared);
        }
    }
    if (!creation.answer) {
        const sql::Statement declared{.node = *creation.declared, .at = statement.at};
        TRY_ASSIGN(result, run_change(declared));
        creation.answer = std::get<catalog::Answer>(result.value);
        if (!create.question || creation.answer->did != catalog::Did::created) return result;
    }
    auto rows = fill(create);
    if (paused_) return pause(*paused_);
    if (!rows) {
        (void)coordinator_.execute(
            catalog::Request(catalog::request::DropTable{.name = create.name}));
        return rows.error();
    }
    return StatementResult{
        .tag = "SELECT " + std::to_string(*rows), .value = {}, .format = {}, .revision = {}};
}

// ---- INSERT -------------------------------------------------------------------------------------

void Session::begin_insert(std::string text, InsertedRows rows) {
    begin(std::move(text));
    if (running_->execution.error) return;
    CHECK(running_->statements.size() == 1);
    auto* insert = std::get_if<sql::Insert>(&running_->statements.front().node);
    CHECK(insert != nullptr);
    insert->source = std::move(rows);
}

Result<Table> Session::table_to_write(const std::string& name) const {
    TRY_ASSIGN(found, find_table(name));
    if (!found) {
        TRY_ASSIGN(snapshot, coordinator_.snapshot(urgency_));
        TRY_ASSIGN(all, snapshot.read().all<Table>());
        std::vector<std::string> known;
        for (const Table& table : all) known.push_back(table.name);
        return Error{.code = ErrorCode::unknown_table,
                     .message = "unknown table " + in_quotes(name),
                     .hint = did_you_mean(name, known)};
    }
    if (found->type != "Delta") {
        return Error{.code = ErrorCode::not_supported,
                     .message = "table " + in_quotes(name) + " is of type " + found->type +
                                ": it is read only"};
    }
    return *std::move(found);
}

Result<tables::Addition> Session::addition_of(const Table& table, const sql::Insert& insert) {
    TRY_ASSIGN(settings, binding::bind_insert(insert.settings));
    tables::Addition addition{
        .table = table, .columns = insert.columns, .rows = {}, .key = std::move(settings.key)};
    if (const auto* rows = std::get_if<0>(&insert.source)) {
        addition.rows = constants_of(*rows);
    }
    return addition;
}

Result<StatementResult> Session::run_insert(const sql::Insert& insert) {
    TRY(questions());
    if (transaction_) {
        TRY_ASSIGN(table, table_to_write(insert.table));
        TRY_ASSIGN(addition, addition_of(table, insert));
        return insert_later(std::move(addition));
    }
    const auto* question = std::get_if<std::string>(&insert.source);
    auto added = awaited<tables::Added>([&](threads::SharedHalt halt) {
        const auto begin = [&]() -> Result<tables::Addition> {
            TRY_ASSIGN(table, table_to_write(insert.table));
            TRY_ASSIGN(addition, addition_of(table, insert));
            addition.given_up = [halt] { return halt->raised(); };
            if (question == nullptr) return addition;
            AskedQuestion asking = asked(*question, std::nullopt);
            asking.halt = halt;
            TRY_ASSIGN(there, questions());
            auto task = there->prepare(asking);
            if (!task) return placed(task.error(), *question);
            addition.rows = *std::move(task);
            return addition;
        };
        auto addition = begin();
        if (addition) return coordinator_.ingest()->add(*std::move(addition));
        auto failed = std::make_shared<tables::AddedLater>();
        failed->give(addition.error());
        return failed;
    });
    if (!added) return added.error();
    return StatementResult{.tag = "INSERT 0 " + std::to_string(added->rows),
                           .value = {},
                           .format = {},
                           .revision = {}};
}

// In a transaction: the rows of all its INSERTs are added together by COMMIT.
Result<StatementResult> Session::insert_later(tables::Addition addition) {
    Transaction& now = *transaction_;
    auto* rows = std::get_if<std::vector<tables::ConstantRow>>(&addition.rows);
    if (rows == nullptr || rows->empty() || addition.key) {
        return transaction_state("a transaction takes INSERTs of constants alone",
                                 "give this INSERT outside of a transaction: it is one by itself");
    }
    if (!now.steps.empty()) {
        return transaction_state("a transaction changes either the catalog or one table",
                                 "COMMIT the changes of the catalog first");
    }
    if (now.addition && now.addition->table.name != addition.table.name) {
        return transaction_state("a transaction adds rows to one table only",
                                 "COMMIT the rows of table " + now.addition->table.name + " first");
    }
    // All rows get all columns, so that INSERTs that name different ones go together.
    const SqlColumns& columns = addition.table.columns;
    TRY_ASSIGN(places, tables::places_of(addition.columns, columns));
    std::vector<tables::ConstantRow> whole;
    for (tables::ConstantRow& row : *rows) {
        if (row.size() != places.size()) {
            return Error{.code = ErrorCode::arity,
                         .message = "a row has " + std::to_string(row.size()) + " values for " +
                                    std::to_string(places.size()) + " columns"};
        }
        tables::ConstantRow& into = whole.emplace_back(columns.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            TRY(tables::fit(columns[places[i]], row[i]));
            if (const auto* text = std::get_if<std::string>(&row[i])) now.bytes += text->size();
            now.bytes += sizeof(tables::Constant);
            into[places[i]] = std::move(row[i]);
        }
    }
    if (now.bytes > kTransactionBytesMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "a transaction holds at most " +
                                std::to_string(kTransactionBytesMax >> 20U) + " MB of rows",
                     .hint = "COMMIT in smaller portions"};
    }
    const std::size_t count = whole.size();
    if (!now.addition) {
        addition.columns.clear();
        addition.rows = std::move(whole);
        now.addition = std::move(addition);
    } else {
        auto& all = std::get<std::vector<tables::ConstantRow>>(now.addition->rows);
        std::move(whole.begin(), whole.end(), std::back_inserter(all));
    }
    return StatementResult{
        .tag = "INSERT 0 " + std::to_string(count), .value = {}, .format = {}, .revision = {}};
}

Result<Done> Session::commit_additions() {
    auto added = awaited<tables::Added>([&](threads::SharedHalt halt) {
        tables::Addition addition = *std::move(transaction_->addition);
        transaction_->addition.emplace(
            tables::Addition{.table = addition.table, .columns = {}, .rows = {}, .key = {}});
        addition.given_up = [halt] { return halt->raised(); };
        return coordinator_.ingest()->add(std::move(addition));
    });
    if (!added) return added.error();
    return Done{};
}

// The work of upkeep at once, on whichever coordinator the client asks.
Result<StatementResult> Session::run_vacuum(const sql::Vacuum& vacuum) {
    TRY_ASSIGN(there, questions());
    using Kept = threads::Later<Result<tables::KeptUp>>;
    auto kept = awaited<tables::KeptUp>([&](threads::SharedHalt halt) {
        auto later = std::make_shared<Kept>();
        auto table = table_to_write(vacuum.table);
        if (!table) {
            later->give(table.error());
            return later;
        }
        const auto work = [there, later, halt, table = *table](bool may) {
            if (!may) {
                later->give(
                    Error{.code = ErrorCode::cancelled, .message = "the coordinator shuts down"});
                return;
            }
            later->give(
                tables::keep_up_whole(there->tables(), table, [halt] { return halt->raised(); }));
        };
        if (!there->lane().post(principal_, work)) work(false);
        return later;
    });
    if (!kept) return kept.error();
    return StatementResult{.tag = "VACUUM",
                           .value = {},
                           .format = {},
                           .revision = {},
                           .notice = "table " + vacuum.table + ": " + kept->in_words()};
}

}  // namespace baton::coordinator
