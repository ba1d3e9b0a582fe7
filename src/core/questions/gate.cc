#include "core/questions/gate.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "core/questions/functions.h"
#include "core/questions/nodes.h"
#include "core/questions/tree.h"
#include "core/questions/walk.h"

namespace baton::questions {

namespace {

constexpr std::size_t kPatternWidthMax = 4;  // digits of a width in a pattern of printf and format

// Words that are functions without parentheses, and no columns, in PostgreSQL. `user` is left to
// the engine: columns of that name are frequent, and theirs is the name there.
constexpr std::array<std::string_view, 5> kBareWords = {
    "current_catalog", "current_schema", "current_user", "current_role", "session_user"};

Error place(Error error, const json::Value& node, std::string_view text) {
    if (const auto offset = offset_of(node)) error.at = position_at(text, *offset);
    return error;
}

// Without recursion: the depth is not known yet.
Result<Done> check_size(const json::Value& tree) {
    std::vector<std::pair<const json::Value*, std::size_t>> open = {{&tree, 1}};
    std::size_t nodes = 0;
    while (!open.empty()) {
        const auto [value, depth] = open.back();
        open.pop_back();
        nodes += 1;
        if (depth > kTreeNestingMax || nodes > kTreeNodesMax) {
            return Error{.code = ErrorCode::too_large,
                         .message = depth > kTreeNestingMax ? "the question is nested too deep"
                                                            : "the question has too many parts",
                         .hint = "split it, or join a table instead of a long list"};
        }
        if (const auto* items = std::get_if<json::Array>(&value->value)) {
            for (const json::Value& item : *items) open.emplace_back(&item, depth + 1);
        } else if (const auto* fields = std::get_if<json::Object>(&value->value)) {
            for (const json::Field& field : *fields) open.emplace_back(&field.value, depth + 1);
        }
    }
    return Done{};
}

// A number that stands in the text, without its sign.
std::optional<std::uint64_t> literal_size(const json::Value& node) {
    if (text_of(node, "class") == "FUNCTION") {
        const std::string_view name = text_of(node, "function_name");
        const json::Array* children = list_of(node, "children");
        const bool sign =
            (name == "-" || name == "+") && children != nullptr && children->size() == 1;
        return sign ? literal_size(children->front()) : std::nullopt;
    }
    if (text_of(node, "class") != "CONSTANT") return std::nullopt;
    const json::Value* constant = json::find(node, "value");
    const json::Value* value = constant == nullptr ? nullptr : json::find(*constant, "value");
    if (constant != nullptr && is_true(*constant, "is_null")) return 0;
    if (value == nullptr) return std::nullopt;
    if (const auto* number = std::get_if<std::uint64_t>(&value->value)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&value->value)) {
        return 0 - static_cast<std::uint64_t>(*number);
    }
    return std::nullopt;
}

const std::string* literal_text(const json::Value& node) {
    if (text_of(node, "class") != "CONSTANT") return nullptr;
    const json::Value* constant = json::find(node, "value");
    const json::Value* value = constant == nullptr ? nullptr : json::find(*constant, "value");
    return value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
}

// Widths in the pattern are written out, and short.
bool is_modest_pattern(const std::string& pattern) {
    if (pattern.find('*') != std::string::npos) return false;
    std::size_t digits = 0;
    std::size_t braces = 0;
    for (const char c : pattern) {
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        if (c == '{') braces += 1;
        if (c == '}' && braces > 0) braces -= 1;
        if (digits >= kPatternWidthMax || braces > 1) return false;
    }
    return true;
}

class Gate final : public Visitor {
public:
    Gate(const Constants& constants, std::string_view text) : constants_(constants), text_(text) {}

    Result<Done> expression(json::Value& node) override {
        const std::string_view kind = text_of(node, "class");
        if (kind == "FUNCTION" || kind == "WINDOW") return function(node);
        if (kind == "COLUMN_REF") return column(node);
        if (kind == "COLLATE") return collation(node);
        return Done{};
    }

    Result<Done> table(json::Value& node) override {
        const std::string_view kind = text_of(node, "type");
        if (kind == "JOIN") return join(node);
        if (kind != "TABLE_FUNCTION") return Done{};
        const json::Value* function = json::find(node, "function");
        if (function == nullptr) return Done{};
        const std::string name = to_lower(text_of(*function, "function_name"));
        const bool plain = is_nothing(*function, "catalog") && is_nothing(*function, "schema");
        if (is_allowed_table_function(name) && plain) {
            in_from_ = name;  // its function comes next
            return Done{};
        }
        Error error{.code = ErrorCode::function_refused,
                    .message = "questions do not read from the function " + in_quotes(name)};
        error.hint = name.starts_with("read_") || name.ends_with("_scan")
                         ? "make a table of the files: CREATE TABLE .. TYPE Files"
                         : "FROM takes tables, views, unnest, range and generate_series";
        return place(std::move(error), *function, text_);
    }

    Result<Done> cte(const std::string& name) override { return identifier(name); }

    Result<Done> relation(json::Value& node) override {
        return identifier(std::string(text_of(node, "table_name")));
    }

private:
    static Result<Done> identifier(const std::string& name) {
        if (!to_lower(name).starts_with(kTaskPrefix)) return Done{};
        return Error{.code = ErrorCode::unknown_table,
                     .message = "a name cannot begin with " + in_quotes(kTaskPrefix) + ": " +
                                in_quotes(name)};
    }

    Result<Done> join(const json::Value& node) {
        const std::string_view kind = text_of(node, "ref_type");
        if (kind != "POSITIONAL") return Done{};
        // Two files of one table have no order that would give a row its partner.
        return place({.code = ErrorCode::not_supported,
                      .message = "questions do not support POSITIONAL JOIN",
                      .hint = "join by a column, or by row_number() OVER (ORDER BY ..)"},
                     node, text_);
    }

    Result<Done> function(json::Value& node) {
        const std::string name = to_lower(text_of(node, "function_name"));
        const std::string schema = to_lower(text_of(node, "schema"));
        if (const std::string from = std::exchange(in_from_, ""); from == name) return Done{};
        if (schema == "pg_catalog") {
            set(node, "schema", {std::string()});
        } else if (!schema.empty() && schema != "main") {
            return place({.code = ErrorCode::unknown_function,
                          .message = "unknown function " + in_quotes(schema + "." + name)},
                         node, text_);
        }
        if (is_clock(name)) return clock(node, name);
        switch (verdict_on(name)) {
            case Verdict::allowed:
                return Done{};
            case Verdict::bounded:
                return bounded(node, name);
            case Verdict::constant:
                return constant(node, name);
            case Verdict::refused:
                return place({.code = ErrorCode::function_refused,
                              .message = "questions do not call the function " + in_quotes(name)},
                             node, text_);
            case Verdict::unknown:
                break;
        }
        const bool table = std::binary_search(refused_table_functions().begin(),
                                              refused_table_functions().end(), name);
        if (table) {
            return place({.code = ErrorCode::function_refused,
                          .message = "questions do not call the function " + in_quotes(name)},
                         node, text_);
        }
        return place({.code = ErrorCode::unknown_function,
                      .message = "unknown function " + in_quotes(name),
                      .hint = did_you_mean(name, allowed_functions())},
                     node, text_);
    }

    // The memory of a value is not limited by the engine.
    Result<Done> bounded(const json::Value& node, const std::string& name) {
        const json::Array* children = list_of(node, "children");
        if (children == nullptr || children->empty()) return Done{};  // the engine complains
        if (name == "format" || name == "printf") {
            const std::string* pattern = literal_text(children->front());
            if (pattern != nullptr && is_modest_pattern(*pattern)) return Done{};
            return place({.code = ErrorCode::function_refused,
                          .message = "the first argument of " + in_quotes(name) +
                                     " has to be a text whose widths have up to " +
                                     std::to_string(kPatternWidthMax - 1) + " digits"},
                         node, text_);
        }
        const bool range = name == "range" || name == "generate_series";
        std::uint64_t size = 1;
        for (std::size_t i = range ? 0 : 1; i < children->size(); ++i) {
            const bool padding =
                (name == "lpad" || name == "rpad" || name.ends_with("resize")) && i == 2;
            if (padding) continue;
            const auto literal = literal_size((*children)[i]);
            if (!literal) return not_literal(node, name);
            size = std::max(size, *literal);
        }
        if (size > kRepeatMax || total_ * size > kRepeatTotalMax) {
            return place({.code = ErrorCode::too_large,
                          .message = "the value of " + in_quotes(name) + " is too large"},
                         node, text_);
        }
        total_ *= size;
        return Done{};
    }

    Result<Done> not_literal(const json::Value& node, const std::string& name) {
        const bool range = name == "range" || name == "generate_series";
        return place(
            {.code = ErrorCode::function_refused,
             .message = "the size in " + in_quotes(name) + " has to be a number in the text",
             .hint = range ? "write FROM " + name + "(..) instead, which takes any" : ""},
            node, text_);
    }

    [[nodiscard]] const std::string& value_of(std::string_view name) const {
        if (name == "version") return constants_.version;
        if (name == "current_schema") return constants_.schema;
        const bool database = name == "current_database" || name == "current_catalog";
        return database ? constants_.database : constants_.user;
    }

    Result<Done> constant(json::Value& node, const std::string& name) {
        std::string alias(text_of(node, "alias"));
        node = text_constant(value_of(name), alias.empty() ? name : std::move(alias), &node);
        return Done{};
    }

    [[nodiscard]] bool is_clock(std::string_view name) const {
        constexpr std::array<std::string_view, 6> kClocks = {
            "now",   "get_current_timestamp", "transaction_timestamp", "current_timestamp",
            "today", "current_date"};
        return !constants_.now.empty() &&
               std::find(kClocks.begin(), kClocks.end(), name) != kClocks.end();
    }

    Result<Done> clock(json::Value& node, const std::string& name) {
        constexpr std::size_t kDateSize = 10;
        const bool date = name == "today" || name == "current_date";
        std::string alias(text_of(node, "alias"));
        json::Value moment = cast_node(
            text_constant(date ? constants_.now.substr(0, kDateSize) : constants_.now, "", &node),
            date ? "DATE" : "TIMESTAMP WITH TIME ZONE");
        set(moment, "alias", {alias.empty() ? name : std::move(alias)});
        node = std::move(moment);
        return Done{};
    }

    Result<Done> column(json::Value& node) {
        const json::Array* names = list_of(node, "column_names");
        if (names == nullptr || names->size() != 1) return Done{};
        const auto* name = std::get_if<std::string>(&names->front().value);
        if (name == nullptr) return Done{};
        const auto* const bare = std::find(kBareWords.begin(), kBareWords.end(), to_lower(*name));
        const auto offset = offset_of(node);
        const bool quoted = offset && *offset < text_.size() && text_[*offset] == '"';
        if (quoted) return Done{};
        const std::string lower = to_lower(*name);
        if ((lower == "current_date" || lower == "current_timestamp") && is_clock(lower)) {
            return clock(node, lower);
        }
        if (bare == kBareWords.end()) return Done{};
        return constant(node, std::string(*bare));
    }

    Result<Done> collation(const json::Value& node) {
        constexpr std::array<std::string_view, 8> kKnown = {
            "c", "posix", "binary", "nocase", "noaccent", "nfc", "nocase.noaccent", "default"};
        const std::string name = to_lower(text_of(node, "collation"));
        const bool known = std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
        if (known) return Done{};
        return place({.code = ErrorCode::not_supported,
                      .message = "questions do not know the collation " + in_quotes(name),
                      .hint = "there are C, NOCASE, NOACCENT and NFC"},
                     node, text_);
    }

    const Constants& constants_;
    std::string_view text_;
    std::string in_from_;
    std::uint64_t total_ = 1;
};

std::string literal_word(const json::Value& node) {
    const json::Value* inner = text_of(node, "class") == "CAST" ? json::find(node, "child") : &node;
    if (inner == nullptr) return "";
    if (const std::string* text = literal_text(*inner)) return *text;
    const auto number = literal_size(*inner);
    return number ? std::to_string(*number) : "";
}

class Mentions final : public Visitor {
public:
    explicit Mentions(std::string_view text) : text_(text) {}

    Result<Done> relation(json::Value& node) override {
        Mention mention{.catalog = std::string(text_of(node, "catalog_name")),
                        .schema = std::string(text_of(node, "schema_name")),
                        .name = std::string(text_of(node, "table_name")),
                        .alias = std::string(text_of(node, "alias"))};
        if (const auto offset = offset_of(node)) mention.at = position_at(text_, *offset);
        const json::Value* at = json::find(node, "at_clause");
        if (at != nullptr && !is_nothing(*at)) {
            const json::Value* value = json::find(*at, "expr");
            std::string word = value == nullptr ? "" : literal_word(*value);
            if (word.empty()) {
                return Error{.code = ErrorCode::not_supported,
                             .message = "AT takes a literal",
                             .at = mention.at,
                             .hint = "write AT (VERSION => 12)"};
            }
            using Unit = Mention::Moment::Unit;
            const bool version = text_of(*at, "unit") == "VERSION";
            mention.moment = Mention::Moment{.unit = version ? Unit::version : Unit::timestamp,
                                             .value = std::move(word)};
        }
        all_.push_back(std::move(mention));
        return Done{};
    }

    std::vector<Mention> take() { return std::move(all_); }

private:
    std::string_view text_;
    std::vector<Mention> all_;
};

class Naming final : public Visitor {
public:
    explicit Naming(const std::vector<std::string>& names) : names_(names) {}

    Result<Done> relation(json::Value& node) override {
        CHECK(next_ < names_.size());
        const std::string schema(text_of(node, "schema_name"));
        const std::string table(text_of(node, "table_name"));
        if (text_of(node, "alias").empty()) {
            set(node, "alias", {table});
            if (!schema.empty()) qualified_.emplace_back(to_lower(schema), to_lower(table));
        }
        set(node, "catalog_name", {std::string()});
        set(node, "schema_name", {std::string()});
        set(node, "table_name", {names_[next_++]});
        set(node, "at_clause", {});
        return Done{};
    }

    [[nodiscard]] bool used_all() const { return next_ == names_.size(); }
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& qualified() const {
        return qualified_;
    }

private:
    const std::vector<std::string>& names_;
    std::size_t next_ = 0;
    std::vector<std::pair<std::string, std::string>> qualified_;  // schema and table
};

// schema.table.column becomes table.column, and database.schema.table.column too.
class Unqualified final : public Visitor {
public:
    explicit Unqualified(const std::vector<std::pair<std::string, std::string>>& tables)
        : tables_(tables) {}

    Result<Done> expression(json::Value& node) override {
        if (text_of(node, "class") != "COLUMN_REF") return Done{};
        json::Array* names = list_of(node, "column_names");
        if (names == nullptr) return Done{};
        for (std::size_t i = 0; i < 2 && names->size() > i + 2; ++i) {
            const auto* schema = std::get_if<std::string>(&(*names)[i].value);
            const auto* table = std::get_if<std::string>(&(*names)[i + 1].value);
            if (schema == nullptr || table == nullptr) return Done{};
            const std::pair qualified(to_lower(*schema), to_lower(*table));
            if (std::find(tables_.begin(), tables_.end(), qualified) == tables_.end()) continue;
            names->erase(names->begin(), names->begin() + static_cast<std::ptrdiff_t>(i + 1));
            return Done{};
        }
        return Done{};
    }

private:
    const std::vector<std::pair<std::string, std::string>>& tables_;
};

Error placed(Error error, std::string_view text) {
    if (error.at) error.at = position_at(text, error.at->offset);
    return error;
}

}  // namespace

Result<Done> gate(json::Value& tree, const Constants& constants, std::string_view text) {
    TRY(check_size(tree));
    Gate visitor(constants, text);
    auto outcome = walk(tree, visitor);
    if (!outcome) return placed(outcome.error(), text);
    return outcome;
}

Result<std::vector<Mention>> mentioned(const json::Value& tree, std::string_view text) {
    TRY(check_size(tree));
    json::Value copy = tree;
    Mentions visitor(text);
    if (auto outcome = walk(copy, visitor); !outcome) return placed(outcome.error(), text);
    return visitor.take();
}

Result<Done> bind_relations(json::Value& tree, const std::vector<std::string>& names) {
    Naming naming(names);
    TRY(walk(tree, naming));
    CHECK(naming.used_all());
    if (naming.qualified().empty()) return Done{};
    Unqualified unqualified(naming.qualified());
    return walk(tree, unqualified);
}

}  // namespace baton::questions
