// Reads the text of a YAML file into a plain tree, and refuses what a configuration has no need of.
//
// Refused, with line and column: text that is not YAML, more than one document, anchors, aliases,
// merge keys, tags, keys that are not words, a key written twice, and whatever exceeds the limits.
// Aliases are never followed, so no small file becomes a large tree.
//
// The border to the library: its exceptions and types stop here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace baton::yaml {

struct Entry;

struct Nothing {};  // `key:` without a value, `~`, `null`

struct Scalar {
    std::string text;
    bool plain = false;  // not quoted, not a block: `5` may be a number, `"5"` may not
};

using Sequence = std::vector<struct Node>;
using Mapping = std::vector<Entry>;

struct Node {
    std::variant<Nothing, Scalar, Sequence, Mapping> content;
    Position at;
};

struct Entry {
    std::string key;  // as written
    std::string
        canonical;  // The text between double quotes for a message, cut short if it is long.
    [[nodiscard]] std::string shown(std::string_view text);

    // FILE_PATH for file_path, filePath and FILE_PATH; unique in its mapping
    Position at;
    Node value;
};

constexpr std::size_t kBytesMax = std::size_t{1} << 20U;
constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kNodesMax = 200000;

// Fails with unreadable_configuration, too_large, or invalid_configuration for a key written twice.
[[nodiscard]] Result<Node> read_tree(std::string_view text);

// The text between double quotes for a message, cut short if it is long.
[[nodiscard]] std::string shown(std::string_view text);

// FILE_PATH for file_path, filePath and FilePath; SERVER_URI for serverURI.
[[nodiscard]] std::string canonical_key(std::string_view key);

}  // namespace baton::yaml
