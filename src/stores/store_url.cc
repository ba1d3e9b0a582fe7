#include "stores/store_url.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/overload.h"
#include "base/text.h"
#include "base/utf8.h"
#include "stores/check_key.h"

namespace baton::stores {

namespace {

constexpr std::string_view kFile = "file://";
constexpr std::string_view kS3 = "s3://";
constexpr const char* kForms =
    "a store is ./folder, /folder, file:///folder, or s3://bucket/prefix?endpoint=..&region=..";

Error invalid_url(const std::string& why, const std::string& hint = kForms) {
    return {.code = ErrorCode::invalid_configuration,
            .message = "cannot use this as the URL of a store: " + why,
            .hint = hint};
}

bool is_printable(std::string_view text) {
    return is_valid_utf8(text) && std::all_of(text.begin(), text.end(), [](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return byte >= 0x20 && byte != 0x7f;
           });
}

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

// None: a percent sign without two digits, or bytes that are no printable text.
std::optional<std::string> decoded(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            bytes += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const auto high = hex_digit(text[i + 1]);
        const auto low = hex_digit(text[i + 2]);
        if (!high || !low) return std::nullopt;
        bytes += static_cast<char>(*high * 16 + *low);
        i += 2;
    }
    if (!is_printable(bytes)) return std::nullopt;
    return bytes;
}

// `plain`: kept beside letters, digits and -._~
void append_encoded(std::string& to, std::string_view text, std::string_view plain) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (const char c : text) {
        const bool is_alphanumeric =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_alphanumeric || std::string_view("-._~").find(c) != std::string_view::npos ||
            plain.find(c) != std::string_view::npos) {
            to += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        to += '%';
        to += kDigits[byte / 16U];
        to += kDigits[byte % 16U];
    }
}

struct Parameter {
    std::string_view name;
    std::string S3Url::*field;
    bool is_secret = false;
};
constexpr std::array kParameters = {
    Parameter{"endpoint", &S3Url::endpoint},
    Parameter{"region", &S3Url::region},
    Parameter{"access_key_id", &S3Url::access_key_id, true},
    Parameter{"secret_access_key", &S3Url::secret_access_key, true},
    Parameter{"session_token", &S3Url::session_token, true},
};

Result<Done> read_parameter(std::string_view text, S3Url& url) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const auto* const known =
        std::find_if(kParameters.begin(), kParameters.end(),
                     [&](const Parameter& each) { return each.name == name; });
    if (known == kParameters.end()) {
        std::vector<std::string> names;
        for (const Parameter& each : kParameters) names.emplace_back(each.name);
        // The name is not shown: with a slip of the keyboard it may be a secret.
        return invalid_url("it has a parameter that is not known",
                           "known are " + join(names, ", "));
    }
    const std::string shown_name(known->name);
    if (equals == std::string_view::npos || equals + 1 == text.size()) {
        return invalid_url("its parameter " + shown_name + " has no value");
    }
    std::string& field = url.*(known->field);
    if (!field.empty()) return invalid_url("it has its parameter " + shown_name + " twice");
    const auto value = decoded(text.substr(equals + 1));
    if (!value) return invalid_url("its parameter " + shown_name + " is no printable text");
    field = *value;
    return Done{};
}

Result<Done> require_sense(const S3Url& url) {
    const bool is_http =
        url.endpoint.starts_with("http://") || url.endpoint.starts_with("https://");
    if (!url.endpoint.empty() && !is_http) {
        return invalid_url("its endpoint begins with neither https:// nor http://",
                           "an endpoint is like https://minio.example:9000");
    }
    if (url.endpoint.find('@') != std::string::npos) {
        return invalid_url("its endpoint has a user or a password",
                           "keys are access_key_id and secret_access_key");
    }
    if (url.access_key_id.empty() != url.secret_access_key.empty()) {
        return invalid_url("it has one of access_key_id and secret_access_key without the other");
    }
    if (!url.session_token.empty() && url.access_key_id.empty()) {
        return invalid_url("it has a session_token without an access_key_id");
    }
    return Done{};
}

Result<StoreUrl> read_s3(std::string_view text) {
    S3Url url;
    const std::size_t question = text.find('?');
    const std::string_view place = text.substr(0, question);
    const std::size_t slash = place.find('/');
    const std::string_view bucket = place.substr(0, slash);
    if (bucket.find('@') != std::string_view::npos || bucket.find(':') != std::string_view::npos) {
        return invalid_url("it has a user, a password or a port before the bucket",
                           "keys are ?access_key_id=..&secret_access_key=.., and a host is "
                           "?endpoint=https://host:9000");
    }
    const bool is_name = !bucket.empty() && bucket.size() <= 255 &&
                         std::all_of(bucket.begin(), bucket.end(), [](char c) {
                             return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                    (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
                         });
    if (!is_name) return invalid_url("it has no valid name of a bucket");
    url.bucket = bucket;
    if (slash != std::string_view::npos) {
        auto prefix = decoded(place.substr(slash + 1));
        if (!prefix) return invalid_url("its prefix is no printable text");
        while (prefix->ends_with('/')) prefix->pop_back();
        if (!prefix->empty() && !check_key(*prefix)) {
            return invalid_url("its prefix " + shown_key(*prefix) + " cannot begin a key",
                               "a prefix is like a/b, without empty parts, `.` and `..`");
        }
        url.prefix = *std::move(prefix);
    }
    std::string_view rest =
        question == std::string_view::npos ? std::string_view() : text.substr(question + 1);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('&'), rest.size());
        TRY(read_parameter(rest.substr(0, end), url));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    TRY(require_sense(url));
    return StoreUrl(std::move(url));
}

std::string text_of_s3(const S3Url& url, bool with_secrets) {
    std::string text = std::string(kS3) + url.bucket;
    if (!url.prefix.empty()) {
        text += '/';
        append_encoded(text, url.prefix, "/");
    }
    char separator = '?';
    for (const Parameter& each : kParameters) {
        const std::string& value = url.*(each.field);
        if (value.empty() || (each.is_secret && !with_secrets)) continue;
        text += separator;
        text += std::string(each.name) + "=";
        append_encoded(text, value, "/:");
        separator = '&';
    }
    return text;
}

}  // namespace

Result<StoreUrl> parse_store_url(std::string_view text) {
    if (text.empty()) return invalid_url("it is empty");
    if (text.size() > kUrlBytesMax) {
        return invalid_url("it has more than " + std::to_string(kUrlBytesMax) + " bytes");
    }
    if (!is_printable(text)) return invalid_url("it is no printable UTF-8");
    if (text.starts_with(kS3)) return read_s3(text.substr(kS3.size()));
    if (text.starts_with(kFile)) {
        const auto path = decoded(text.substr(kFile.size()));
        if (!path || !path->starts_with('/')) {
            return invalid_url("file:// has to be followed by the path of a folder from / on");
        }
        return StoreUrl(FolderUrl{.path = *path});
    }
    // A name alone would hide a mistyped scheme.
    const bool is_path = text.starts_with('/') || text == "." || text.starts_with("./") ||
                         text == ".." || text.starts_with("../");
    if (!is_path) return invalid_url("it begins with none of ./, /, file:// and s3://");
    return StoreUrl(FolderUrl{.path = std::string(text)});
}

std::string url_of_path(std::string_view path) {
    std::string text(kFile);
    append_encoded(text, path, "/:@+=,");
    return text;
}

std::string shown(const StoreUrl& url) {
    return std::visit(Overload{[](const FolderUrl& folder) { return folder.path; },
                               [](const S3Url& s3) { return text_of_s3(s3, false); }},
                      url);
}

std::string whole_text(const StoreUrl& url) {
    return std::visit(Overload{[](const FolderUrl& folder) { return folder.path; },
                               [](const S3Url& s3) { return text_of_s3(s3, true); }},
                      url);
}

}  // namespace baton::stores
