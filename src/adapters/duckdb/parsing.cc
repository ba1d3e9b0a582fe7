#include "adapters/duckdb/parsing.h"

#include <charconv>
#include <exception>
#include <utility>

#include "adapters/duckdb/errors.h"
#include "adapters/duckdb/tree_reader.h"
#include "base/text.h"
#include "core/json/json.h"
#include "ports/sql_values.h"

namespace baton::duckdb_engine {

namespace {

constexpr std::uint64_t kParserMemory = 256U << 20U;
constexpr std::size_t kIdleMax = 16;
constexpr std::size_t kTextMax = std::size_t{1} << 20U;
constexpr std::size_t kComplaintMax = 400;

std::string text_field(const json::Value& object, std::string_view key) {
    const json::Value* value = json::find(object, key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
    return text == nullptr ? "" : *text;
}

// DuckDB's complaint about a text, which it gives as a value.
Error complaint(const json::Value& document, std::string_view text) {
    std::string message = text_field(document, "error_message");
    message = storable_text(message.substr(0, message.find('\n')), kComplaintMax);
    if (text_field(document, "error_type") == "not implemented") {
        if (message.find("Only SELECT") != std::string::npos) {
            return {.code = ErrorCode::not_supported, .message = "a question is one SELECT"};
        }
        return {.code = ErrorCode::not_supported, .message = std::move(message)};
    }
    Error error{.code = ErrorCode::syntax, .message = std::move(message)};
    const std::string position = text_field(document, "position");
    std::uint64_t offset = 0;
    const auto [end, problem] =
        std::from_chars(position.data(), position.data() + position.size(), offset);
    if (problem == std::errc() && !position.empty()) error.at = position_in(text, offset);
    return error;
}

Result<std::string> only_statement(const std::string& serialized, std::string_view text) {
    auto document = json::parse(
        serialized,
        {.bytes = kTreeBytesMax, .depth = kTreeDepthMax, .damaged = ErrorCode::not_supported});
    if (!document) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "the question has a number, or a nesting, that is too large"};
    }
    const json::Value* failed = json::find(*document, "error");
    if (failed == nullptr || failed->value != json::Value{false}.value) {
        return complaint(*document, text);
    }
    json::Value* statements = json::find(*document, "statements");
    auto* all = statements == nullptr ? nullptr : std::get_if<json::Array>(&statements->value);
    if (all == nullptr || all->empty()) {
        return Error{.code = ErrorCode::syntax, .message = "there is no question"};
    }
    if (all->size() > 1) {
        return Error{
            .code = ErrorCode::not_supported,
            .message = "a question is one statement, and these are " + std::to_string(all->size())};
    }
    return json::to_text(all->front());
}

}  // namespace

Result<Done> Parsing::start() {
    TRY_ASSIGN(opened, Instance::open({.memory_max = kParserMemory}));
    instance_ = std::move(opened);
    return Done{};
}

Result<std::unique_ptr<Parsing::Parser>> Parsing::take() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            auto parser = std::move(idle_.back());
            idle_.pop_back();
            return parser;
        }
    }
    auto parser = std::make_unique<Parser>();
    parser->connection = instance_->connect();
    parser->statement = parser->connection->Prepare("SELECT json_serialize_sql($1::VARCHAR)");
    if (parser->statement->HasError()) {
        return Error{.code = ErrorCode::defect,
                     .message = "DuckDB cannot parse: " + parser->statement->GetError()};
    }
    return parser;
}

Result<std::string> Parsing::serialized(const std::string& text) {
    try {
        TRY_ASSIGN(parser, take());
        duckdb::vector<duckdb::Value> values{duckdb::Value(text)};
        auto result = parser->statement->Execute(values, false);
        if (result->HasError()) return error_of(result->GetErrorObject(), {.text = text});
        auto chunk = result->Fetch();
        if (chunk == nullptr || chunk->size() != 1) {
            return Error{.code = ErrorCode::defect, .message = "DuckDB gave no tree"};
        }
        std::string tree = chunk->GetValue(0, 0).GetValue<std::string>();
        const std::lock_guard lock(mutex_);
        if (idle_.size() < kIdleMax) idle_.push_back(std::move(parser));
        return tree;
    } catch (const std::exception& problem) {
        return error_of(problem, {.text = text});
    }
}

Result<std::string> Parsing::parsed(const std::string& text) {
    TRY_ASSIGN(tree, serialized(text));
    return only_statement(tree, text);
}

void Parsing::remember(std::string_view text, const std::string& tree) {
    const std::lock_guard lock(mutex_);
    if (by_text_.contains(text) || text.size() + tree.size() > bytes_max_ / 4) return;
    recent_.push_front({.text = std::string(text), .tree = tree});
    by_text_.emplace(recent_.front().text, recent_.begin());
    bytes_ += text.size() + tree.size();
    while (recent_.size() > trees_max_ || bytes_ > bytes_max_) {
        const Remembered& oldest = recent_.back();
        bytes_ -= oldest.text.size() + oldest.tree.size();
        by_text_.erase(oldest.text);
        recent_.pop_back();
    }
}

Result<std::string> Parsing::parse(std::string_view text) {
    if (text.size() > kTextMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "the question has " + std::to_string(text.size()) +
                                " bytes, at most " + std::to_string(kTextMax) + " are parsed"};
    }
    if (!is_plain_text(text)) {
        return Error{.code = ErrorCode::syntax,
                     .message = "the question is not UTF-8 without the character NUL"};
    }
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = by_text_.find(text); found != by_text_.end()) {
            recent_.splice(recent_.begin(), recent_, found->second);
            return found->second->tree;
        }
    }
    TRY_ASSIGN(tree, parsed(std::string(text)));
    remember(text, tree);
    return tree;
}

}  // namespace baton::duckdb_engine
