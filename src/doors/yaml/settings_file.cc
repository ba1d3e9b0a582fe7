#include "doors/yaml/settings_file.h"

#include <algorithm>
#include <array>

#include "base/overload.h"
#include "base/text.h"
#include "doors/yaml/fields.h"
#include "doors/yaml/tree.h"

namespace baton::yaml {

namespace {

Result<std::vector<SettingsFile::Account>> accounts_of(const Node& list, std::string_view what,
                                                       std::string_view secret) {
    const std::array known = {KnownKey{.name = "name", .required = true},
                              KnownKey{.name = "role", .required = true}, KnownKey{.name = "files"},
                              KnownKey{.name = secret, .required = true}};
    std::vector<SettingsFile::Account> accounts;
    TRY_ASSIGN(items, items_of(&list, what));
    for (const Node& item : items) {
        TRY_ASSIGN(fields, Fields::of(item, what, known));
        SettingsFile::Account account{.at = item.at};
        TRY_ASSIGN(name, text_of(fields.at("name"), "name"));
        account.name = std::move(name);
        TRY_ASSIGN(role, text_of(fields.at("role"), "role"));
        account.role = std::move(role);
        if (const Node* files = fields.find("files")) {
            TRY_ASSIGN(may, text_of(*files, "files"));
            if (may != "true" && may != "false") {
                return refusal(files->at, "files is true or false");
            }
            account.files = may == "true";
        }
        TRY_ASSIGN(hidden, text_of(fields.at(secret), secret));
        account.secret = std::move(hidden);
        accounts.push_back(std::move(account));
    }
    return accounts;
}

// Nothing but space and comments.
bool is_blank(std::string_view text) {
    bool comment = false;
    return std::all_of(text.begin(), text.end(), [&](char c) {
        if (c == '#') comment = true;
        if (c == '\n') comment = false;
        return comment || c == ' ' || c == '\t' || c == '\r' || c == '\n';
    });
}

Result<std::string> joined(const Node& list, const std::string& key) {
    TRY_ASSIGN(texts, texts_of(&list, key));
    for (const std::string& text : texts) {
        if (text.find(',') != std::string::npos) {
            return refusal(list.at, "an item of " + key + " cannot have a comma");
        }
    }
    return join(texts, ",");
}

Result<Done> flatten(const Mapping& mapping, const std::string& prefix, SettingsFile& file) {
    for (const Entry& entry : mapping) {
        const std::string key = prefix + entry.key;
        if (key == "users") {
            TRY_ASSIGN(users, accounts_of(entry.value, "a user", "verifier"));
            file.users = std::move(users);
        } else if (key == "tokens") {
            TRY_ASSIGN(tokens, accounts_of(entry.value, "a token", "sha256"));
            file.tokens = std::move(tokens);
        } else if (const auto* inner = std::get_if<Mapping>(&entry.value.content)) {
            TRY(flatten(*inner, key + ".", file));
        } else if (std::holds_alternative<Sequence>(entry.value.content)) {
            TRY_ASSIGN(value, joined(entry.value, key));
            file.entries.push_back(
                {.key = key, .value = std::move(value), .at = entry.at, .is_list = true});
        } else if (std::holds_alternative<Nothing>(entry.value.content)) {
            file.entries.push_back({.key = key, .value = "", .at = entry.at});
        } else {
            TRY_ASSIGN(value, text_of(entry.value, key));
            file.entries.push_back({.key = key, .value = std::move(value), .at = entry.at});
        }
    }
    return Done{};
}

}  // namespace

Result<SettingsFile> read_settings(std::string_view yaml_text) {
    SettingsFile file;
    if (is_blank(yaml_text)) return file;
    TRY_ASSIGN(tree, read_tree(yaml_text));
    if (std::holds_alternative<Nothing>(tree.content)) return file;
    const auto* mapping = std::get_if<Mapping>(&tree.content);
    if (mapping == nullptr) return refusal(tree.at, "settings are written as key: value");
    TRY(flatten(*mapping, "", file));
    return file;
}

}  // namespace baton::yaml
