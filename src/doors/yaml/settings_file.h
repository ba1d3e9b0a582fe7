// Reads the daemon's settings from YAML: mappings are joined to keys by dots, and `users` and
// `tokens` are lists of clients with access.
//
//     http: {listen: '0.0.0.0:8080'}
//     files: [/srv/rows, /srv/more]
//     users:  [{name: ann, role: admin, verifier: 'SCRAM-SHA-256$4096:..'}]
//     tokens: [{name: ci, role: writer, files: true, sha256: '..'}]
//
// A list of texts is one value, with commas between them.
// Which keys there are is not known here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton::yaml {

struct SettingsFile {
    struct Entry {
        std::string key;  // "http.listen"
        std::string value;
        Position at;
        bool is_list = false;
    };
    struct Account {
        std::string name;
        std::string role;
        bool files = false;  // the right to files of workers
        std::string secret;  // a user's verifier, a token's digest
        Position at;
    };
    std::vector<Entry> entries;
    std::vector<Account> users;
    std::vector<Account> tokens;
};

// Fails with unreadable_configuration, invalid_configuration or missing_configuration, with the
// place.
[[nodiscard]] Result<SettingsFile> read_settings(std::string_view yaml_text);

}  // namespace baton::yaml
