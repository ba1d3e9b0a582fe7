#include "adapters/s3/s3_settings.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace baton::s3 {

namespace {

Error invalid_store(std::string message, std::string hint) {
    return {.code = ErrorCode::invalid_configuration,
            .message = std::move(message),
            .hint = std::move(hint)};
}

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// As S3 has them, and the older ones with capitals and underscores that other stores still have.
bool is_bucket(std::string_view name) {
    return name.size() >= 3 && name.size() <= 255 && is_letter_or_digit(name.front()) &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
           });
}

std::string_view authority_of(std::string_view endpoint) {
    const std::size_t begin = endpoint.find("://");
    return begin == std::string_view::npos ? std::string_view() : endpoint.substr(begin + 3);
}

bool is_authority(std::string_view text) {
    return !text.empty() && text.size() <= 300 && std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == ':' || c == '[' ||
               c == ']';
    });
}

// A certificate for *.s3.region.amazonaws.com does not cover a name with dots, nor does DNS have
// capitals and underscores.
bool is_host_label(std::string_view bucket) {
    return bucket.size() <= 63 && std::all_of(bucket.begin(), bucket.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
           });
}

}  // namespace

Result<Done> check_settings(const S3Settings& settings) {
    if (!is_bucket(settings.bucket)) {
        return invalid_store(in_quotes(settings.bucket) + " is no name of a bucket",
                             "a bucket has 3 to 63 small letters, digits, dots and hyphens");
    }
    if (!settings.region.empty() && !is_region(settings.region)) {
        return invalid_store("the region of the URL is no name of a region",
                             "a region is a word such as eu-west-1");
    }
    if (settings.endpoint.empty()) return Done{};
    const bool known =
        settings.endpoint.starts_with("https://") || settings.endpoint.starts_with("http://");
    if (!known || !is_authority(authority_of(settings.endpoint))) {
        return invalid_store("the endpoint is no URL of a host",
                             "an endpoint is like https://minio.example:9000, without a path");
    }
    return Done{};
}

S3Place place_of(const S3Settings& settings, const std::string& region) {
    if (!settings.endpoint.empty()) {
        S3Place place{.scheme = settings.endpoint.starts_with("http://") ? "http" : "https",
                      .host = std::string(authority_of(settings.endpoint)),
                      .path = "/" + settings.bucket};
        const std::string_view own = place.scheme == "http" ? ":80" : ":443";
        if (place.host.ends_with(own)) place.host.resize(place.host.size() - own.size());
        return place;
    }
    const std::string suffix = region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com";
    const std::string host = "s3." + region + suffix;
    if (is_host_label(settings.bucket)) {
        return {.scheme = "https", .host = settings.bucket + "." + host, .path = ""};
    }
    return {.scheme = "https", .host = host, .path = "/" + settings.bucket};
}

}  // namespace baton::s3
