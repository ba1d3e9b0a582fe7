#include "adapters/duckdb/question.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "adapters/duckdb/tree_reader.h"
#include "adapters/duckdb/types.h"
#include "adapters/duckdb/values.h"
#include "base/text.h"

namespace baton::duckdb_engine {

namespace {

constexpr std::size_t kRowsOfBatch = 1'024;  // at least, where there are as many

Error given_up() {
    return {.code = ErrorCode::cancelled, .message = "the question was cancelled"};
}

duckdb::Value value_of(const QuestionParameter& parameter) {
    if (const auto* flag = std::get_if<bool>(&parameter)) return duckdb::Value::BOOLEAN(*flag);
    if (const auto* whole = std::get_if<std::int64_t>(&parameter)) {
        return duckdb::Value::BIGINT(*whole);
    }
    if (const auto* real = std::get_if<double>(&parameter)) return duckdb::Value::DOUBLE(*real);
    if (const auto* text = std::get_if<std::string>(&parameter)) return duckdb::Value(*text);
    return duckdb::Value();
}

// A number that is compared with a DECIMAL column keeps its digits behind the point, of which the
// column may have fewer.
duckdb::LogicalType with_all_digits(const duckdb::LogicalType& place, std::string_view text) {
    constexpr std::size_t kDigitsMax = 38;
    const std::size_t point = text.find('.');
    const bool plain = place.id() == duckdb::LogicalTypeId::DECIMAL &&
                       point != std::string_view::npos && text.size() <= kDigitsMax &&
                       text.find_first_not_of("+-.0123456789") == std::string_view::npos;
    if (!plain) return place;
    const std::size_t scale = text.size() - point - 1;
    if (scale <= duckdb::DecimalType::GetScale(place)) return place;
    return duckdb::LogicalType::DECIMAL(kDigitsMax, static_cast<std::uint8_t>(scale));
}

bool is_open(const duckdb::LogicalType& type) {
    return type.id() == duckdb::LogicalTypeId::UNKNOWN ||
           type.id() == duckdb::LogicalTypeId::SQLNULL || type.id() == duckdb::LogicalTypeId::ANY;
}

}  // namespace

void Question::cancel() {
    cancelled_ = true;
    const std::lock_guard lock(connection_mutex_);
    if (connection_ != nullptr) connection_->Interrupt();
}

ErrorContext Question::context() const {
    return {.text = task_.text,
            .relations = task_.relations,
            .memory_max = memory_max_,
            .spill_folder = spill_folder_,
            .written = written_};
}

Error Question::failed(const duckdb::ErrorData& problem) {
    broken_ = broken_ || is_broken(problem);
    return cancelled_ ? given_up() : error_of(problem, context());
}

Error Question::thrown(const std::exception& problem) {
    broken_ = broken_ || is_broken(duckdb::ErrorData(problem));
    return cancelled_ ? given_up() : error_of(problem, context());
}

Result<Done> Question::begin(Slot& slot, const std::string& written) {
    if (cancelled_) return given_up();
    TRY_ASSIGN(instance, slot.instance());
    const std::uint64_t share = instance->limits().memory_max;
    memory_max_ = task_.memory_max == 0 ? share : std::min(task_.memory_max, share);
    written_ = written;
    spill_folder_ = instance->limits().spill_folder;
    instance->allow(task_.relations, written);
    instance->set_memory(memory_max_);
    auto connection = instance->connect();
    instance->relations().set(task_.relations, *connection->context);
    const std::lock_guard lock(connection_mutex_);
    connection_ = std::move(connection);
    return Done{};
}

Result<Done> Question::bind(duckdb::unique_ptr<duckdb::SQLStatement> statement) {
    prepared_ = connection_->Prepare(std::move(statement));
    if (prepared_->HasError()) return failed(prepared_->GetErrorObject());
    if (cancelled_) return given_up();
    return Done{};
}

Result<Done> Question::set_parameters(Goal goal) {
    const auto types = prepared_->GetExpectedParameterTypes();
    for (const auto& [name, place] : prepared_->named_param_map) {
        const auto type = types.find(name);
        const bool open = type == types.end() || is_open(type->second);
        const std::size_t index = std::stoul(name) - 1;
        if (goal == Goal::description) {
            // As text, which is the type of a parameter whose place does not say.
            values_[name] = duckdb::BoundParameterData(
                duckdb::Value(open ? duckdb::LogicalType::VARCHAR : type->second));
            continue;
        }
        if (index >= task_.parameters.size()) {
            return Error{.code = ErrorCode::arity,
                         .message = "the question has a parameter $" + name + ", and " +
                                    std::to_string(task_.parameters.size()) + " values are given"};
        }
        duckdb::Value value = value_of(task_.parameters[index]);
        const bool is_text = std::holds_alternative<std::string>(task_.parameters[index]);
        if (is_text && !open) {
            duckdb::Value converted;
            std::string why;
            const auto& text = std::get<std::string>(task_.parameters[index]);
            if (!value.DefaultTryCastAs(with_all_digits(type->second, text), converted, &why)) {
                return Error{.code = ErrorCode::cannot_convert,
                             .message = "cannot convert parameter $" + name + " to " +
                                        to_string(sql_type_of(type->second))};
            }
            value = std::move(converted);
        }
        values_[name] = duckdb::BoundParameterData(std::move(value));
    }
    return Done{};
}

// The parameters of the question, in the order of their numbers.
Result<std::vector<SqlType>> Question::parameter_types() {
    std::vector<SqlType> parameters;
    const auto types = prepared_->GetExpectedParameterTypes();
    for (const auto& [name, place] : prepared_->named_param_map) {
        const bool number = name.find_first_not_of("0123456789") == std::string::npos;
        if (!number || name.size() > 4 || std::stoul(name) == 0) {
            return Error{.code = ErrorCode::not_supported,
                         .message = "a parameter cannot have the name " + in_quotes(name),
                         .hint = "parameters are $1, $2, and so on"};
        }
        const std::size_t index = std::stoul(name) - 1;
        if (parameters.size() <= index) {
            parameters.resize(index + 1, {.kind = SqlType::Kind::other});
        }
        const auto type = types.find(name);
        if (type != types.end() && !is_open(type->second)) {
            parameters[index] = sql_type_of(type->second);
        }
    }
    return parameters;
}

Result<QuestionEngine::Description> Question::prepare(Slot& slot, Goal goal) {
    return guarded([&]() -> Result<QuestionEngine::Description> {
        TRY(begin(slot, ""));
        TRY_ASSIGN(statement, statement_of(task_.tree));
        TRY(bind(std::move(statement)));
        QuestionEngine::Description description;
        TRY_ASSIGN(parameters, parameter_types());
        description.parameters = std::move(parameters);
        auto types = prepared_->GetTypes();
        auto names = prepared_->GetNames();
        if (!description.parameters.empty()) {
            TRY(set_parameters(goal));
            const auto expected = prepared_->GetExpectedParameterTypes();
            const bool known = expected.size() == prepared_->named_param_map.size() &&
                               std::none_of(expected.begin(), expected.end(),
                                            [](const auto& one) { return is_open(one.second); });
            if (!known) {
                const auto pending = prepared_->PendingQuery(values_, true);
                if (pending->HasError()) return failed(pending->GetErrorObject());
                types = pending->types;
                names = pending->names;
            }
        }
        for (std::size_t i = 0; i < types.size(); ++i) {
            description.columns.push_back({.name = names[i], .type = sql_type_of(types[i])});
        }
        return description;
    });
}

Result<Done> Question::execute() {
    auto pending = prepared_->PendingQuery(values_, true);
    for (;;) {
        if (cancelled_) return given_up();
        if (pending->HasError()) return failed(pending->GetErrorObject());
        const auto state = pending->ExecuteTask();
        if (state == duckdb::PendingExecutionResult::EXECUTION_ERROR) {
            return failed(pending->GetErrorObject());
        }
        if (duckdb::PendingQueryResult::IsResultReady(state)) break;
        const bool idle = state == duckdb::PendingExecutionResult::NO_TASKS_AVAILABLE ||
                          state == duckdb::PendingExecutionResult::BLOCKED;
        if (idle) pending->WaitForTask();
    }
    result_ = pending->Execute();
    if (result_->HasError()) return failed(result_->GetErrorObject());
    return Done{};
}

// None: there are no more.
Result<duckdb::unique_ptr<duckdb::DataChunk>> Question::next_chunk() {
    if (cancelled_) return given_up();
    auto chunk = result_->Fetch();
    if (result_->HasError()) return failed(result_->GetErrorObject());
    if (chunk != nullptr && chunk->size() == 0) chunk = nullptr;
    return chunk;
}

Result<AnswerBatch> Question::fetch() {
    return guarded([&]() -> Result<AnswerBatch> {
        if (result_ == nullptr) TRY(execute());
        AnswerBatch batch;
        while (batch.rows.size() < kRowsOfBatch && !batch.ended) {
            TRY_ASSIGN(chunk, next_chunk());
            batch.ended = chunk == nullptr;
            if (batch.ended) break;
            TRY(append_rows(batch.rows, *connection_->context, *chunk, result_->names));
        }
        if (cancelled_) return given_up();
        return batch;
    });
}

void Question::end(Slot& slot) {
    result_ = nullptr;
    values_.clear();
    prepared_ = nullptr;
    {
        const std::lock_guard lock(connection_mutex_);
        connection_ = nullptr;
    }
    if (broken_) slot.discard();
    if (Instance* instance = slot.opened()) instance->relations().clear();
}

}  // namespace baton::duckdb_engine
