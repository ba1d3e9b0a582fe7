#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <duckdb/parser/expression/case_expression.hpp>
#include <duckdb/parser/expression/cast_expression.hpp>
#include <duckdb/parser/expression/columnref_expression.hpp>
#include <duckdb/parser/expression/constant_expression.hpp>
#include <duckdb/parser/expression/function_expression.hpp>
#include <duckdb/parser/expression/operator_expression.hpp>
#include <duckdb/parser/query_node/select_node.hpp>
#include <duckdb/parser/statement/copy_statement.hpp>
#include <duckdb/parser/tableref/subqueryref.hpp>
#include <xxhash.h>

#include "adapters/duckdb/question.h"
#include "adapters/duckdb/tree_reader.h"
#include "adapters/duckdb/types.h"
#include "base/text.h"

namespace baton::duckdb_engine {

namespace {

using duckdb::Value;
using Kind = SqlType::Kind;

constexpr std::int64_t kRowsOfGroup = 122'880;
constexpr std::size_t kCharactersMax = 32;
constexpr std::size_t kPart = std::size_t{1} << 20U;
constexpr std::string_view kNullMark = "baton: NULL in column ";

std::string column_name(std::size_t i) {
    return "baton_c" + std::to_string(i);
}

duckdb::unique_ptr<duckdb::ParsedExpression> constant(Value value) {
    return duckdb::make_uniq<duckdb::ConstantExpression>(std::move(value));
}

// The column as the table has it: of its type, and not NULL if it may not be.
duckdb::unique_ptr<duckdb::ParsedExpression> checked(const SqlField& field, std::size_t i) {
    duckdb::unique_ptr<duckdb::ParsedExpression> value = duckdb::make_uniq<duckdb::CastExpression>(
        logical_type_of(field.type),
        duckdb::make_uniq<duckdb::ColumnRefExpression>(column_name(i)));
    if (!field.nullable) {
        duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> words;
        words.push_back(constant(Value(std::string(kNullMark) + std::to_string(i))));
        duckdb::CaseCheck check;
        check.when_expr = duckdb::make_uniq<duckdb::OperatorExpression>(
            duckdb::ExpressionType::OPERATOR_IS_NULL, value->Copy());
        check.then_expr = duckdb::make_uniq<duckdb::FunctionExpression>("error", std::move(words));
        auto choice = duckdb::make_uniq<duckdb::CaseExpression>();
        choice->case_checks.push_back(std::move(check));
        choice->else_expr = std::move(value);
        value = std::move(choice);
    }
    value->alias = field.name;
    return value;
}

duckdb::unique_ptr<duckdb::CopyStatement> copy_of(
    duckdb::unique_ptr<duckdb::SelectStatement> question, const SqlColumns& columns,
    const std::string& path) {
    auto from = duckdb::make_uniq<duckdb::SubqueryRef>(std::move(question), "baton_rows");
    auto select = duckdb::make_uniq<duckdb::SelectNode>();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        from->column_name_alias.push_back(column_name(i));
        select->select_list.push_back(checked(columns[i], i));
    }
    select->from_table = std::move(from);
    auto copy = duckdb::make_uniq<duckdb::CopyStatement>();
    auto info = duckdb::make_uniq<duckdb::CopyInfo>();
    info->is_from = false;
    info->format = "parquet";
    info->is_format_auto_detected = false;
    info->file_path = path;
    info->select_statement = std::move(select);
    info->options["compression"] = {Value("zstd")};
    info->options["row_group_size"] = {Value::BIGINT(kRowsOfGroup)};
    info->options["return_stats"] = {Value::BOOLEAN(true)};
    info->options["use_tmp_file"] = {Value::BOOLEAN(false)};
    copy->info = std::move(info);
    return copy;
}

Result<std::string> checksum_of(const std::string& path) {
    const auto failed = [&] {
        return Error{.code = ErrorCode::cannot_read,
                     .message = "cannot read " + in_quotes(path) + ": " +
                                std::generic_category().message(errno)};
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                               std::fclose);
    if (file == nullptr) return failed();
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                                XXH3_freeState);
    XXH3_64bits_reset(state.get());
    std::vector<char> part(kPart);
    for (;;) {
        const std::size_t count = std::fread(part.data(), 1, part.size(), file.get());
        XXH3_64bits_update(state.get(), part.data(), count);
        if (count == part.size()) continue;
        if (std::ferror(file.get()) != 0) return failed();
        break;
    }
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx",
                  static_cast<unsigned long long>(XXH3_64bits_digest(state.get())));
    return std::string(digits.data());
}

// The beginning of a text, in characters.
std::string shortened(const std::string& text) {
    std::size_t characters = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
        if (begins && ++characters > kCharactersMax) return text.substr(0, at);
    }
    return text;
}

// "2020-01-01 00:00:00.5+00" as the log has it: 2020-01-01T00:00:00.500000Z. None: it has no such
// form.
std::optional<std::string> timestamp_text(std::string text) {
    constexpr std::size_t kSeconds = 19;
    constexpr std::size_t kDigits = 6;
    if (text.ends_with("+00")) text.resize(text.size() - 3);
    if (text.size() < kSeconds || text[10] != ' ' || text.ends_with(')')) return std::nullopt;
    text[10] = 'T';
    if (text.size() == kSeconds) text += '.';
    if (text.size() > kSeconds + 1 + kDigits) return std::nullopt;
    text.append(kSeconds + 1 + kDigits - text.size(), '0');
    return text + 'Z';
}

std::optional<std::string> bound_text(const SqlType& type, const std::string& text, bool max) {
    switch (type.kind) {
        case Kind::tinyint:
        case Kind::smallint:
        case Kind::integer:
        case Kind::bigint:
        case Kind::real:
        case Kind::double_precision:
        case Kind::decimal:
        case Kind::boolean:
        case Kind::date:
            if (text.ends_with(')') || text.find("inf") != std::string::npos) return std::nullopt;
            return text;
        case Kind::timestamp:
        case Kind::timestamptz:
            return timestamp_text(text);
        case Kind::varchar: {
            std::string beginning = shortened(text);
            // Larger than each text with this beginning.
            if (max && beginning.size() < text.size()) beginning += "\xf4\x8f\xbf\xbf";
            return beginning;
        }
        case Kind::blob:
        case Kind::list:
        case Kind::structure:
        case Kind::utinyint:
        case Kind::usmallint:
        case Kind::uinteger:
        case Kind::ubigint:
        case Kind::hugeint:
        case Kind::uhugeint:
        case Kind::time:
        case Kind::interval:
        case Kind::uuid:
        case Kind::json:
        case Kind::map:
        case Kind::other:
            return std::nullopt;
    }
    CHECK(false);
}

std::map<std::string, std::string> entries_of(const Value& map) {
    std::map<std::string, std::string> entries;
    for (const Value& entry : duckdb::MapValue::GetChildren(map)) {
        const auto& parts = duckdb::StructValue::GetChildren(entry);
        if (!parts[1].IsNull()) {
            entries.emplace(duckdb::StringValue::Get(parts[0]), duckdb::StringValue::Get(parts[1]));
        }
    }
    return entries;
}

TableObject::Range range_of(const SqlType& type, const std::map<std::string, std::string>& stats) {
    TableObject::Range range;
    if (const auto nulls = stats.find("null_count"); nulls != stats.end()) {
        range.nulls = std::stoull(nulls->second);
    }
    const auto nan = stats.find("has_nan");
    if (nan != stats.end() && nan->second != "false") return range;
    const auto min = stats.find("min");
    const auto max = stats.find("max");
    if (min != stats.end()) range.min = bound_text(type, min->second, false);
    if (max != stats.end()) range.max = bound_text(type, max->second, true);
    return range;
}

// The row that COPY with return_stats gives.
TableObject object_of(duckdb::DataChunk& row, const SqlColumns& columns) {
    constexpr duckdb::idx_t kCount = 1;
    constexpr duckdb::idx_t kBytes = 2;
    constexpr duckdb::idx_t kStatistics = 4;
    TableObject object;
    object.rows = row.GetValue(kCount, 0).GetValue<std::uint64_t>();
    object.bytes = row.GetValue(kBytes, 0).GetValue<std::uint64_t>();
    const Value statistics = row.GetValue(kStatistics, 0);
    if (statistics.IsNull()) return object;
    for (const Value& entry : duckdb::MapValue::GetChildren(statistics)) {
        const auto& parts = duckdb::StructValue::GetChildren(entry);
        const std::string name = duckdb::StringValue::Get(parts[0]);
        for (const SqlField& column : columns) {
            if (name != in_quotes(column.name)) continue;
            object.ranges.emplace(column.name, range_of(column.type, entries_of(parts[1])));
        }
    }
    return object;
}

// A failure of the check for NULL, or one that has the name of a column which is no one's.
Error named(Error error, const SqlColumns& columns) {
    for (std::size_t i = columns.size(); i-- > 0;) {
        if (error.message == std::string(kNullMark) + std::to_string(i)) {
            return {.code = ErrorCode::not_null_violation,
                    .message = "column " + in_quotes(columns[i].name) +
                               " is NOT NULL, and a row "
                               "has no value for it"};
        }
        const std::string inner = column_name(i);
        if (const std::size_t at = error.message.find(inner); at != std::string::npos) {
            error.message.replace(at, inner.size(), in_quotes(columns[i].name));
        }
    }
    return error;
}

}  // namespace

Result<Done> Question::copy(Slot& slot, const SqlColumns& columns, const std::string& path) {
    TRY(begin(slot, path));
    TRY_ASSIGN(statement, statement_of(task_.tree));
    auto again =
        duckdb::unique_ptr_cast<duckdb::SQLStatement, duckdb::SelectStatement>(statement->Copy());
    TRY(bind(std::move(statement)));
    TRY(parameter_types());
    TRY(set_parameters(Goal::rows));
    const std::size_t count = prepared_->GetTypes().size();
    if (count != columns.size()) {
        return Error{.code = ErrorCode::arity,
                     .message = "the question gives " + std::to_string(count) + " columns, and " +
                                std::to_string(columns.size()) + " are to be written"};
    }
    auto copying = copy_of(std::move(again), columns, path);
    copying->named_param_map = prepared_->named_param_map;
    TRY(bind(std::move(copying)));
    return execute();
}

Result<WrittenFile> Question::write(Slot& slot, const SqlColumns& columns,
                                    const std::string& path) {
    auto written = guarded([&]() -> Result<WrittenFile> {
        TRY(copy(slot, columns, path));
        TRY_ASSIGN(row, next_chunk());
        if (row == nullptr) return Error{.message = "DuckDB wrote nothing"};
        WrittenFile file{.object = object_of(*row, columns)};
        TRY_ASSIGN(checksum, checksum_of(path));
        file.object.checksum = std::move(checksum);
        return file;
    });
    if (written && !cancelled_) return written;
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    if (cancelled_)
        return Error{.code = ErrorCode::cancelled, .message = "the question was cancelled"};
    return named(written.error(), columns);
}

}  // namespace baton::duckdb_engine
