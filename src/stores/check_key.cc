#include "stores/check_key.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "base/utf8.h"

namespace baton::stores {

namespace {

Error refused_key(std::string_view key, const std::string& why) {
    return {.code = ErrorCode::store_refused,
            .message = "cannot use " + shown_key(key) + " as a key: " + why,
            .hint = "a key is printable UTF-8 of at most " + std::to_string(kKeyBytesMax) +
                    " bytes, such as \"a/b.parquet\""};
}

// Empty: nothing is wrong.
std::string fault_of_text(std::string_view text) {
    if (text.size() > kKeyBytesMax) return "it has " + std::to_string(text.size()) + " bytes";
    if (!is_valid_utf8(text)) return "it is not valid UTF-8";
    const bool is_printable = std::all_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x20 && byte != 0x7f;
    });
    if (!is_printable) return "it has a control character";
    return "";
}

std::string fault_of_parts(std::string_view text, bool is_prefix) {
    if (text.starts_with('/')) return "it begins with a slash";
    std::size_t start = 0;
    while (start <= text.size()) {
        const std::size_t slash = std::min(text.find('/', start), text.size());
        const std::string_view part = text.substr(start, slash - start);
        const bool is_last = slash == text.size();
        if (part.empty() && !is_last) return "it has two slashes in a row";
        if (part.empty() && !is_prefix) return "it ends with a slash";
        // The last part of a prefix may go on: ".." is the start of "..a".
        if ((part == "." || part == "..") && !(is_prefix && is_last)) {
            return "it has " + in_quotes(part) + " as a part";
        }
        start = slash + 1;
    }
    return "";
}

}  // namespace

std::string shown_key(std::string_view key) {
    constexpr std::size_t kShown = 200;
    std::string shown;
    for (const char c : key.substr(0, kShown)) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte < 0x20 || byte == 0x7f ? '?' : c;
    }
    while (!shown.empty() && !is_valid_utf8(shown)) shown.pop_back();
    return in_quotes(key.size() > kShown ? shown + ".." : shown);
}

Result<Done> check_key(std::string_view key) {
    if (key.empty()) return refused_key(key, "it is empty");
    std::string fault = fault_of_text(key);
    if (fault.empty()) fault = fault_of_parts(key, false);
    if (!fault.empty()) return refused_key(key, fault);
    return Done{};
}

Result<Done> check_prefix(std::string_view prefix) {
    if (prefix.empty()) return Done{};
    std::string fault = fault_of_text(prefix);
    if (fault.empty()) fault = fault_of_parts(prefix, true);
    if (!fault.empty()) return refused_key(prefix, fault);
    return Done{};
}

}  // namespace baton::stores
