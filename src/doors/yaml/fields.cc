#include "doors/yaml/fields.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace baton::yaml {

namespace {

bool is_called(const KnownKey& known, const std::string& canonical) {
    if (to_upper(known.name) == canonical) return true;
    return std::any_of(known.older_names.begin(), known.older_names.end(),
                       [&](std::string_view name) { return to_upper(name) == canonical; });
}

Error unknown_key(const Entry& entry, std::string_view what, std::span<const KnownKey> known) {
    std::vector<std::string> names;
    for (const KnownKey& key : known) names.emplace_back(key.name);
    std::string hint = did_you_mean(entry.canonical, names);
    if (hint.empty()) hint = "known: " + join(names, ", ");
    return refusal(entry.at, std::string(what) + " has no key " + shown(entry.key), hint);
}

Result<Done> check_missing(const Node& node, std::string_view what, std::span<const KnownKey> known,
                           const std::map<std::string_view, const Node*>& values) {
    std::vector<std::string> missing;
    for (const KnownKey& key : known) {
        if (!key.required) continue;
        const auto value = values.find(key.name);
        const bool given =
            value != values.end() && !std::holds_alternative<Nothing>(value->second->content);
        if (!given) missing.push_back(in_quotes(key.name));
    }
    if (missing.empty()) return Done{};
    return Error{.code = ErrorCode::missing_configuration,
                 .message = std::string(what) + " needs " +
                            (missing.size() == 1 ? "the key " : "the keys ") + join(missing, ", "),
                 .at = node.at};
}

bool is_name_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

// The name between double quotes, in which a quote is doubled.
std::optional<std::string> unquoted(std::string_view text) {
    std::string name;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '"') {
            i += 1;
            if (i + 1 >= text.size() || text[i] != '"') return std::nullopt;
        }
        name += text[i];
    }
    return name;
}

std::optional<sql::Integer> integer_of(const std::string& text) {
    sql::Integer integer{.negative = text.starts_with('-')};
    const char* const first = text.data() + (integer.negative ? 1 : 0);
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, integer.magnitude);
    if (error != std::errc() || end != last) return std::nullopt;
    const std::string usual = (integer.negative ? "-" : "") + std::to_string(integer.magnitude);
    const bool too_small = integer.negative && integer.magnitude > std::uint64_t{1} << 63U;
    if (usual != text || text == "-0" || too_small) return std::nullopt;
    return integer;
}

}  // namespace

Error refusal(const Position& at, std::string message, std::string hint) {
    return {.code = ErrorCode::invalid_configuration,
            .message = std::move(message),
            .at = at,
            .hint = std::move(hint)};
}

Result<Fields> Fields::of(const Node& node, std::string_view what,
                          std::span<const KnownKey> known) {
    const auto* mapping = std::get_if<Mapping>(&node.content);
    if (mapping == nullptr) {
        return refusal(node.at, std::string(what) + " must be a mapping of keys to values");
    }
    Fields fields;
    for (const Entry& entry : *mapping) {
        const auto key = std::find_if(known.begin(), known.end(), [&](const KnownKey& k) {
            return is_called(k, entry.canonical);
        });
        if (key == known.end()) return unknown_key(entry, what, known);
        if (!fields.values_.emplace(key->name, &entry.value).second) {
            return refusal(entry.at, "key " + shown(entry.key) + " is an older name of " +
                                         in_quotes(key->name) + ", which is there as well");
        }
    }
    TRY(check_missing(node, what, known, fields.values_));
    return fields;
}

const Node* Fields::find(std::string_view name) const {
    const auto value = values_.find(name);
    if (value == values_.end()) return nullptr;
    return std::holds_alternative<Nothing>(value->second->content) ? nullptr : value->second;
}

const Node& Fields::at(std::string_view name) const {
    const Node* const value = find(name);
    CHECK(value != nullptr);
    return *value;
}

Result<std::string> text_of(const Node& node, std::string_view what) {
    const auto* scalar = std::get_if<Scalar>(&node.content);
    if (scalar == nullptr) return refusal(node.at, std::string(what) + " must be a single value");
    return scalar->text;
}

Result<std::string> filled_text_of(const Node& node, std::string_view what) {
    TRY_ASSIGN(text, text_of(node, what));
    if (text.empty()) return refusal(node.at, std::string(what) + " must not be empty");
    return text;
}

Result<std::span<const Node>> items_of(const Node* node, std::string_view what) {
    if (node == nullptr) return std::span<const Node>();
    if (const auto* items = std::get_if<Sequence>(&node->content)) {
        return std::span<const Node>(*items);
    }
    return refusal(node->at, std::string(what) + " must be a list");
}

Result<std::span<const Entry>> entries_of(const Node* node, std::string_view what) {
    if (node == nullptr) return std::span<const Entry>();
    if (const auto* entries = std::get_if<Mapping>(&node->content)) {
        return std::span<const Entry>(*entries);
    }
    return refusal(node->at, std::string(what) + " must be a mapping of keys to values");
}

Result<std::vector<std::string>> texts_of(const Node* node, std::string_view what) {
    std::vector<std::string> texts;
    TRY_ASSIGN(items, items_of(node, what));
    for (const Node& item : items) {
        TRY_ASSIGN(text, text_of(item, "each item of " + std::string(what)));
        texts.push_back(std::move(text));
    }
    return texts;
}

Result<std::string> name_of(const Node& node, std::string_view what) {
    TRY_ASSIGN(text, text_of(node, what));
    if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
        auto name = unquoted(text);
        if (name) return *std::move(name);
    } else if (!text.empty() && std::all_of(text.begin(), text.end(), is_name_letter)) {
        return to_upper(text);
    }
    return refusal(node.at, std::string(what) + " cannot be " + shown(text),
                   "a name has letters, digits, _ and $; put any other between double quotes, as "
                   "in '\"a name\"'");
}

Result<sql::Literal> literal_of(const Node& node, std::string_view what) {
    TRY_ASSIGN(text, text_of(node, what));
    if (!std::get<Scalar>(node.content).plain) return sql::Literal(std::move(text));
    if (text == "true" || text == "True" || text == "TRUE") return sql::Literal(true);
    if (text == "false" || text == "False" || text == "FALSE") return sql::Literal(false);
    if (const auto integer = integer_of(text)) return sql::Literal(*integer);
    return sql::Literal(std::move(text));
}

}  // namespace baton::yaml
