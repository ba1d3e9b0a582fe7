// Fields gives the values of one mapping of a deployment file by name, once it is sure that every
// key in it is known.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doors/yaml/tree.h"
#include "sql/ast.h"

namespace baton::yaml {

struct KnownKey {
    std::string_view name;  // "data_address"
    bool required = false;
    std::vector<std::string_view> older_names = {};
};

class Fields {
public:
    // `what` names the mapping in messages: "a worker".
    // Fails with invalid_configuration (not a mapping, a key unknown or under two names) or
    // missing_configuration, which names every missing key.
    static Result<Fields> of(const Node& node, std::string_view what,
                             std::span<const KnownKey> known);

    // The value, or null if the key is absent or has none. `name` is a KnownKey's.
    [[nodiscard]] const Node* find(std::string_view name) const;
    // The value of a key that is required.
    [[nodiscard]] const Node& at(std::string_view name) const;

private:
    std::map<std::string_view, const Node*> values_;  // by the name of the KnownKey
};

// The text of a scalar, however it is written; `what` names it in messages.
[[nodiscard]] Result<std::string> text_of(const Node& node, std::string_view what);

// The same, and refused if it is empty: an address, a name.
[[nodiscard]] Result<std::string> filled_text_of(const Node& node, std::string_view what);

// The items of a list; nothing is an empty list. `node` may be null.
[[nodiscard]] Result<std::span<const Node>> items_of(const Node* node, std::string_view what);
// The entries of a mapping; nothing is an empty mapping. `node` may be null.
[[nodiscard]] Result<std::span<const Entry>> entries_of(const Node* node, std::string_view what);

// A list of texts.
[[nodiscard]] Result<std::vector<std::string>> texts_of(const Node* node, std::string_view what);

// A name as SQL has it: without double quotes in upper case and made of letters, digits, _ and $.
[[nodiscard]] Result<std::string> name_of(const Node& node, std::string_view what);

// The value as SQL would read it: a plain number or truth value is one, the rest is text. A number
// that is not in its one usual spelling stays text, so that nothing of it is lost.
[[nodiscard]] Result<sql::Literal> literal_of(const Node& node, std::string_view what);

[[nodiscard]] Error refusal(const Position& at, std::string message, std::string hint = {});

}  // namespace baton::yaml
