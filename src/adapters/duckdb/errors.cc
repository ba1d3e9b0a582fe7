#include "adapters/duckdb/errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ports/sql_values.h"

// DuckDB's enumerations are an open set: most of their members concern no switch here.
#pragma GCC diagnostic ignored "-Wswitch-enum"

namespace baton::duckdb_engine {

namespace {

using duckdb::ExceptionType;

constexpr std::size_t kMessageMax = 400;

std::string extra(const duckdb::ErrorData& problem, const std::string& key) {
    const auto& extras = problem.ExtraInfo();
    const auto found = extras.find(key);
    return found == extras.end() ? "" : found->second;
}

// The first line of it, as a part of a sentence.
std::string first_line(const std::string& raw) {
    const std::size_t begin = raw.find_first_not_of("\n ");
    if (begin == std::string::npos) return "no reason given";
    std::string line = raw.substr(begin, raw.find('\n', begin) - begin);
    while (line.ends_with('!') || line.ends_with('.') || line.ends_with(' ')) line.pop_back();
    const bool word = line.size() > 1 && line[1] >= 'a' && line[1] <= 'z';
    if (word && line[0] >= 'A' && line[0] <= 'Z') line[0] = static_cast<char>(line[0] | 0x20);
    return storable_text(line, kMessageMax);
}

std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        std::string word = list.substr(at, end - at);
        std::erase_if(word, [](char c) { return c == '"' || c == ' '; });
        if (!word.empty()) words.push_back(std::move(word));
        at = end + 1;
    }
    return words;
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

// The word between the first pair of double quotes behind `from`.
std::string quoted(const std::string& text, std::size_t from = 0) {
    const std::size_t begin = text.find('"', from);
    if (begin == std::string::npos) return "";
    const std::size_t end = text.find('"', begin + 1);
    return end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
}

Error unknown_field(std::string name, const std::string& candidates) {
    const std::vector<std::string> known = words_of(candidates);
    std::string hint = did_you_mean(name, known);
    if (hint.empty() && !known.empty()) hint = "near by: " + enumerate(known, 5);
    return {.code = ErrorCode::unknown_field,
            .message = "unknown column " + in_quotes(name),
            .hint = std::move(hint)};
}

Error no_such_function(const duckdb::ErrorData& problem) {
    const std::string name = extra(problem, "name");
    return {.code = ErrorCode::unknown_function,
            .message = "unknown function " + in_quotes(name),
            .hint = did_you_mean(name, words_of(extra(problem, "candidates")))};
}

Error no_match(const duckdb::ErrorData& problem) {
    const std::string call = extra(problem, "call");
    return {.code = ErrorCode::type_mismatch,
            .message = "no function " + in_quotes(extra(problem, "name")) +
                       " takes these types: " + storable_text(call, kMessageMax),
            .hint = "add casts, such as x::BIGINT"};
}

Error binder_error(const duckdb::ErrorData& problem) {
    const std::string& raw = problem.RawMessage();
    const std::string subtype = extra(problem, "error_subtype");
    if (subtype == "COLUMN_NOT_FOUND") {
        return unknown_field(extra(problem, "name"), extra(problem, "candidates"));
    }
    if (subtype == "NO_MATCHING_FUNCTION") return no_match(problem);
    if (contains(raw, "does not have a column named")) {
        const std::size_t at = raw.find("column named");
        const std::size_t list = raw.find("bindings: :");
        return unknown_field(quoted(raw, at),
                             list == std::string::npos ? "" : raw.substr(list + 11));
    }
    if (contains(raw, "Referenced table")) {
        return {.code = ErrorCode::unknown_table,
                .message = "no table or alias " + in_quotes(quoted(raw)) + " in FROM"};
    }
    if (raw.starts_with("Ambiguous reference")) {
        return {.code = ErrorCode::ambiguous_name,
                .message = "the column " + in_quotes(quoted(raw)) +
                           " is in more than one of the relations",
                .hint = "write the relation before it, as in t." + quoted(raw)};
    }
    constexpr std::array<std::string_view, 7> kTypes = {"Could not choose a best candidate",
                                                        "Cannot compare",
                                                        "Cannot mix",
                                                        "cannot be applied to",
                                                        "can only be applied to",
                                                        "Cannot extract field",
                                                        "implicit cast"};
    const bool of_types = std::any_of(kTypes.begin(), kTypes.end(),
                                      [&](std::string_view words) { return contains(raw, words); });
    return {.code = of_types ? ErrorCode::type_mismatch : ErrorCode::invalid_question,
            .message = first_line(raw)};
}

Error catalog_error(const duckdb::ErrorData& problem) {
    const std::string type = extra(problem, "type");
    if (contains(type, "Function")) return no_such_function(problem);
    if (contains(type, "Type")) {
        return {.code = ErrorCode::type_mismatch,
                .message = "unknown type " + in_quotes(extra(problem, "name"))};
    }
    if (contains(type, "Table")) {
        return {.code = ErrorCode::unknown_table,
                .message = "unknown table " + in_quotes(extra(problem, "name"))};
    }
    return {.code = ErrorCode::invalid_question, .message = first_line(problem.RawMessage())};
}

// The objects that may be meant by an error of reading; empty: the error is about no file.
std::string files_named(const std::string& raw, const ErrorContext& context) {
    std::vector<std::string> all;
    for (const QuestionRelation& relation : context.relations) {
        const auto* files = std::get_if<RelationFiles>(&relation.content);
        if (files == nullptr) continue;
        for (const RelationFile& file : files->files) {
            if (contains(raw, file.path)) return in_quotes(file.path);
            all.push_back(in_quotes(file.path));
        }
    }
    return enumerate(all, 3);
}

bool names_a_file(const std::string& raw, const ErrorContext& context) {
    for (const QuestionRelation& relation : context.relations) {
        const auto* files = std::get_if<RelationFiles>(&relation.content);
        if (files == nullptr) continue;
        for (const RelationFile& file : files->files) {
            if (contains(raw, file.path)) return true;
        }
    }
    return false;
}

// Words with which the reader of Parquet complains about bytes.
bool is_about_parquet(const std::string& raw) {
    constexpr std::array<std::string_view, 12> kWords = {
        "arquet", "magic bytes", "TProtocol",  "Thrift",        "decompression", "Snappy",
        "ZSTD",   "page header", "definition", "Out of buffer", "dictionary",    "schema mismatch"};
    return std::any_of(kWords.begin(), kWords.end(),
                       [&](std::string_view words) { return contains(raw, words); });
}

Error reading_error(const std::string& raw, const ErrorContext& context) {
    if (!context.spill_folder.empty() && contains(raw, context.spill_folder)) {
        return {.code = ErrorCode::cannot_write,
                .message = "the question needs more memory than its limit, and cannot spill to " +
                           in_quotes(context.spill_folder) + ": " + first_line(raw)};
    }
    if (!context.written.empty() && contains(raw, context.written)) {
        return {.code = ErrorCode::cannot_write,
                .message = "cannot write " + in_quotes(context.written) + ": " + first_line(raw)};
    }
    const bool gone = contains(raw, "No such file") || contains(raw, "No files found") ||
                      contains(raw, "Cannot open file");
    const std::string files = files_named(raw, context);
    return {.code = gone ? ErrorCode::cannot_read : ErrorCode::damaged_table,
            .message = "cannot read " + (files.empty() ? std::string("a file") : files) + ": " +
                       (gone ? "the file is not there, or may not be read" : first_line(raw))};
}

Error memory_error(const std::string& raw, const ErrorContext& context) {
    if (contains(raw, "max_temp_directory_size") || contains(raw, "temp_directory")) {
        return {.code = ErrorCode::out_of_memory,
                .message = "the question needs more than its " +
                           std::to_string(context.memory_max >> 20U) +
                           " MiB of memory, and more room on disk than it may take",
                .hint = "ask for fewer rows or columns at once"};
    }
    return {.code = ErrorCode::out_of_memory,
            .message = "the question needs more than its " +
                       std::to_string(context.memory_max >> 20U) + " MiB of memory",
            .hint = "ask for fewer rows or columns at once, or raise the limit"};
}

Error input_error(const std::string& raw, const ErrorContext& context) {
    if (names_a_file(raw, context) || is_about_parquet(raw)) return reading_error(raw, context);
    if (contains(raw, "Values were not provided") || contains(raw, "count mismatch")) {
        return {.code = ErrorCode::arity,
                .message = "the parameters do not fit the question: " + first_line(raw)};
    }
    return {.code = ErrorCode::invalid_question, .message = first_line(raw)};
}

Error mapped(const duckdb::ErrorData& problem, const ErrorContext& context) {
    const std::string& raw = problem.RawMessage();
    const auto plain = [&](ErrorCode code) {
        return Error{.code = code, .message = first_line(raw)};
    };
    switch (problem.Type()) {
        case ExceptionType::PARSER:
        case ExceptionType::SYNTAX:
            return plain(ErrorCode::syntax);
        case ExceptionType::BINDER:
            return binder_error(problem);
        case ExceptionType::CATALOG:
            return catalog_error(problem);
        case ExceptionType::CONVERSION:
            if (names_a_file(raw, context)) return reading_error(raw, context);
            return plain(ErrorCode::cannot_convert);
        case ExceptionType::OUT_OF_RANGE:
        case ExceptionType::DIVIDE_BY_ZERO:
        case ExceptionType::DECIMAL:
            return plain(ErrorCode::arithmetic);
        case ExceptionType::MISMATCH_TYPE:
        case ExceptionType::INVALID_TYPE:
        case ExceptionType::EXPRESSION:
            return plain(ErrorCode::type_mismatch);
        case ExceptionType::PARAMETER_NOT_RESOLVED:
        case ExceptionType::PARAMETER_NOT_ALLOWED:
            return plain(ErrorCode::type_inference);
        case ExceptionType::OUT_OF_MEMORY:
            return memory_error(raw, context);
        case ExceptionType::INTERRUPT:
            return {.code = ErrorCode::cancelled, .message = "the question was cancelled"};
        case ExceptionType::IO:
            return reading_error(raw, context);
        case ExceptionType::INVALID_INPUT:
        case ExceptionType::INVALID_CONFIGURATION:
        case ExceptionType::CONSTRAINT:
        case ExceptionType::UNKNOWN_TYPE:
        case ExceptionType::INVALID:
            return input_error(raw, context);
        case ExceptionType::NOT_IMPLEMENTED:
            return plain(ErrorCode::not_supported);
        case ExceptionType::PERMISSION:
            return plain(ErrorCode::not_permitted);
        default:
            return {.code = ErrorCode::defect,
                    .message = "DuckDB failed: " + first_line(raw),
                    .hint = "other questions are not affected"};
    }
}

}  // namespace

Position position_in(std::string_view text, std::uint64_t offset) {
    const std::string_view before = text.substr(0, std::min<std::size_t>(offset, text.size()));
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto lines = std::count(before.begin(), before.end(), '\n');
    return {.offset = static_cast<std::uint32_t>(before.size()),
            .line = static_cast<std::uint32_t>(lines + 1),
            .column = static_cast<std::uint32_t>(before.size() - line_begin + 1)};
}

Error error_of(const duckdb::ErrorData& problem, const ErrorContext& context) {
    Error error = mapped(problem, context);
    const std::string position = extra(problem, "position");
    std::uint64_t offset = 0;
    const auto [end, trouble] =
        std::from_chars(position.data(), position.data() + position.size(), offset);
    const bool known = trouble == std::errc() && !position.empty();
    if (known && offset < context.text.size()) error.at = position_in(context.text, offset);
    return error;
}

Error error_of(const std::exception& problem, const ErrorContext& context) {
    if (dynamic_cast<const std::bad_alloc*>(&problem) != nullptr) return memory_error("", context);
    return error_of(duckdb::ErrorData(problem), context);
}

bool is_broken(const duckdb::ErrorData& problem) {
    return problem.Type() == ExceptionType::INTERNAL || problem.Type() == ExceptionType::FATAL;
}

}  // namespace baton::duckdb_engine
