#include "doors/yaml/tree.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/check.h"
#include "base/text.h"
#include "sql/utf8.h"

namespace baton::yaml {

namespace {

constexpr std::size_t kShownMax = 100;  // bytes of a foreign text in a message

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

Position position_of(const YAML::Mark& mark) {
    const auto at_least_zero = [](int n) { return static_cast<std::uint32_t>(std::max(n, 0)); };
    return {.offset = at_least_zero(mark.pos),
            .line = at_least_zero(mark.line) + 1,
            .column = at_least_zero(mark.column) + 1};
}

// Thrown through the library to leave it early; never leaves this file.
struct Refusal {
    Error error;
};

[[noreturn]] void refuse(const Position& at, ErrorCode code, std::string message,
                         std::string hint = {}) {
    throw Refusal{
        Error{.code = code, .message = std::move(message), .at = at, .hint = std::move(hint)}};
}

[[noreturn]] void refuse_feature(const YAML::Mark& mark, const std::string& what,
                                 std::string hint) {
    refuse(position_of(mark), ErrorCode::unreadable_configuration,
           what + " cannot be used in a deployment file", std::move(hint));
}

class TreeBuilder : public YAML::EventHandler {
public:
    // Empty for a document without content.
    std::optional<Node> take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
    void OnDocumentEnd() override {}

    void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
        refuse_feature(mark, "an anchor (" + shown("&" + name) + ")", "write the value out");
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
        refuse_feature(mark, "an alias", "write the value out");
    }

    void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
        add({.content = Nothing{}, .at = position_of(mark)});
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  const std::string& value) override {
        check_tag(mark, tag);
        const Position at = position_of(mark);
        if (value.find('\0') != std::string::npos) {
            refuse(at, ErrorCode::unreadable_configuration, "a text must not hold a zero byte",
                   "write the delimiter '\\0' in single quotes");
        }
        if (expects_key()) {
            add_key(at, value);
        } else {
            add({.content = Scalar{.text = value, .plain = tag == "?"}, .at = at});
        }
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                         YAML::EmitterStyle::value /*style*/) override {
        open(mark, tag, {.content = Sequence{}, .at = position_of(mark)});
    }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                    YAML::EmitterStyle::value /*style*/) override {
        open(mark, tag, {.content = Mapping{}, .at = position_of(mark)});
    }

    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

private:
    // A sequence or mapping whose end was not yet seen.
    struct Open {
        Node node;
        std::optional<Entry> entry;  // of a mapping: its key was seen, its value was not
        std::set<std::string> keys;  // canonical
    };

    // "?" stands for a plain value without a tag, "!" for a quoted one.
    static void check_tag(const YAML::Mark& mark, const std::string& tag) {
        if (tag.empty() || tag == "?" || tag == "!") return;
        refuse_feature(mark, "a tag (" + shown(tag) + ")", "write the value without it");
    }

    [[nodiscard]] bool expects_key() const {
        return !open_.empty() && std::holds_alternative<Mapping>(open_.back().node.content) &&
               !open_.back().entry;
    }

    void count(const Position& at) {
        nodes_ += 1;
        if (nodes_ <= kNodesMax) return;
        refuse(at, ErrorCode::too_large,
               "the file has more than " + std::to_string(kNodesMax) + " values");
    }

    void add_key(const Position& at, const std::string& key) {
        count(at);
        if (key == "<<") {
            refuse(at, ErrorCode::unreadable_configuration,
                   "a merge key (\"<<\") cannot be used in a deployment file",
                   "write the values out");
        }
        Open& mapping = open_.back();
        std::string canonical = canonical_key(key);
        if (!mapping.keys.insert(canonical).second) {
            refuse(at, ErrorCode::invalid_configuration, "key " + shown(key) + " is written twice");
        }
        mapping.entry = Entry{.key = key, .canonical = std::move(canonical), .at = at, .value = {}};
    }

    void open(const YAML::Mark& mark, const std::string& tag, Node node) {
        check_tag(mark, tag);
        count(node.at);
        check_is_no_key(node.at);
        if (open_.size() >= kDepthMax) {
            refuse(node.at, ErrorCode::too_large,
                   "the file nests deeper than " + std::to_string(kDepthMax) + " levels");
        }
        open_.push_back({.node = std::move(node), .entry = {}, .keys = {}});
    }

    void close() {
        Node node = std::move(open_.back().node);
        open_.pop_back();
        put(std::move(node));
    }

    void add(Node node) {
        count(node.at);
        check_is_no_key(node.at);
        put(std::move(node));
    }

    void check_is_no_key(const Position& at) const {
        if (!expects_key()) return;
        refuse(at, ErrorCode::unreadable_configuration, "a key must be a word",
               "a bracket that is not closed may also be the reason");
    }

    void put(Node node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (auto* items = std::get_if<Sequence>(&parent.node.content)) {
            items->push_back(std::move(node));
            return;
        }
        parent.entry->value = std::move(node);
        std::get<Mapping>(parent.node.content).push_back(*std::move(parent.entry));
        parent.entry.reset();
    }

    std::vector<Open> open_;
    std::optional<Node> root_;
    std::size_t nodes_ = 0;
};

// The place of the first byte that is not UTF-8, if there is one.
std::optional<Position> first_bad_byte(std::string_view text) {
    Position at;
    while (at.offset < text.size()) {
        const std::size_t length = sql::character_length(text, at.offset);
        if (length == 0) return at;
        const bool ends_line = text[at.offset] == '\n';
        at.line += ends_line ? 1 : 0;
        at.column = ends_line ? 1 : at.column + static_cast<std::uint32_t>(length);
        at.offset += static_cast<std::uint32_t>(length);
    }
    return std::nullopt;
}

Error not_yaml(const std::string& why, const YAML::Mark& mark) {
    return {.code = ErrorCode::unreadable_configuration,
            .message = "not valid YAML: " + why,
            .at = mark.is_null() ? std::nullopt : std::optional(position_of(mark))};
}

Result<Node> parse(std::string_view text) {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    if (!parser.HandleNextDocument(builder)) {
        return Error{.code = ErrorCode::unreadable_configuration, .message = "the file is empty"};
    }
    auto root = builder.take();
    CHECK(root.has_value());
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
        const auto more = second.take();
        return Error{.code = ErrorCode::unreadable_configuration,
                     .message = "the file holds more than one document",
                     .at = more ? std::optional(more->at) : std::nullopt,
                     .hint = "use one file for each"};
    }
    return *std::move(root);
}

}  // namespace

std::string shown(std::string_view text) {
    if (text.size() <= kShownMax) return in_quotes(text);
    std::size_t end = kShownMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) end -= 1;
    return in_quotes(text.substr(0, end)) + "...";
}

std::string canonical_key(std::string_view key) {
    std::string canonical;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const bool after_small = i > 0 && (is_lower(key[i - 1]) || is_digit(key[i - 1]));
        const bool starts_word =
            i > 0 && is_upper(key[i - 1]) && i + 1 < key.size() && is_lower(key[i + 1]);
        if (is_upper(key[i]) && (after_small || starts_word)) canonical += '_';
        canonical += key[i];
    }
    return to_upper(canonical);
}

Result<Node> read_tree(std::string_view text) {
    if (text.size() > kBytesMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "the file is larger than " + std::to_string(kBytesMax) + " bytes"};
    }
    if (const auto at = first_bad_byte(text)) {
        return Error{.code = ErrorCode::unreadable_configuration,
                     .message = "the file is not text in UTF-8",
                     .at = at};
    }
    try {
        return parse(text);
    } catch (const Refusal& refusal) {
        return refusal.error;
    } catch (const YAML::Exception& e) {
        return not_yaml(e.msg, e.mark);
    }
}

}  // namespace baton::yaml
